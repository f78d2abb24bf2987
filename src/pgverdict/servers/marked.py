"""Which directories are ours, and the only way they are deleted.

Every directory tree the product makes carries a marker file at its top. `remove_tree` deletes nothing
that is not such a tree or inside one, whatever a setting, a typing error or a bug asks for.

Standard library only: the supervisor's process imports this.
"""

import errno
import os
import shutil
import stat
from pathlib import Path

from pgverdict.errors import WorldError
from pgverdict.servers.interruption import shield

MARKER = ".pgverdict"
_TRIES = 100  # what is deleted may still be in use by somebody who ends, and loses and gains files
_TEXT = "This directory was made by pgverdict, which deletes things inside it.\n"


def mark(directory: Path) -> None:
    """Mark an existing directory as ours. One that holds something already was made by somebody else."""
    if is_marked(directory):
        return
    if any(directory.iterdir()):
        raise WorldError(
            f"will not use a directory that pgverdict did not make and that is not empty: {directory}",
            hint=f"choose another, or, if all in it may be deleted, put an empty file {MARKER} into it",
        )
    marker = directory / MARKER
    marker.write_text(_TEXT)
    marker.chmod(0o644)


def is_marked(directory: Path) -> bool:
    """Whether this very directory carries a marker of ours.

    A marker made by another user says nothing: anybody could mark /tmp.
    """
    try:
        marker = os.lstat(directory / MARKER)
    except OSError:
        return False
    return stat.S_ISREG(marker.st_mode) and marker.st_uid == os.geteuid()


def remove_tree(path: Path) -> int:
    """Delete a directory of ours with all that is in it; the bytes it had on disk. Nothing there is fine.

    Symbolic links inside are deleted, never followed; a path that leads through one is refused.
    """
    path = Path(os.path.normpath(path.absolute()))
    if not os.path.lexists(path):
        return 0
    if os.path.realpath(path) != str(path):
        raise WorldError(f"will not delete through a symbolic link: {path}")
    if not any(is_marked(tree) for tree in (path, *path.parents)):
        raise WorldError(f"will not delete what is not marked as made by pgverdict: {path}")
    with shield():
        size = tree_bytes(path)
        try:
            _remove(path)
        except OSError as error:
            raise WorldError(f"cannot delete {path}: {error.strerror}: {error.filename}") from error
    return size


def _remove(path: Path) -> None:
    """The marker goes last: what a kill leaves of a tree is still known as ours."""
    if is_marked(path):
        for entry in path.iterdir():
            if entry.name != MARKER:
                _remove_entry(entry)
    _remove_entry(path)


def _remove_entry(path: Path) -> None:
    for tries_left in reversed(range(_TRIES)):
        try:
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink()
            return
        except OSError as error:
            if not os.path.lexists(path):
                return
            if error.errno not in (errno.ENOENT, errno.ENOTEMPTY) or not tries_left:
                raise


def tree_bytes(path: Path) -> int:
    """What a tree takes on disk (holes count for nothing, hard links count each)."""
    total = 0
    for folder, _, files in os.walk(path):
        for name in files:
            try:
                total += Path(folder, name).lstat().st_blocks * 512
            except FileNotFoundError:
                continue
    return total
