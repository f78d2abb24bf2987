"""Directories that hold something half done: deleted at the end, or by a sweep if the end was a kill.

Such a directory is locked while its maker lives. The lock is on the directory itself and goes with the
process, so no file of ours stands among what is unpacked there.
"""

import contextlib
import fcntl
import os
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from pgverdict.errors import WorldError
from pgverdict.servers.interruption import shield
from pgverdict.servers.marked import remove_tree

AGE_S_MIN = 60.0
"""Between the making and the locking of one it looks forsaken: only older ones are."""


@contextlib.contextmanager
def scratch(prefix: str, parent: Path) -> Iterator[Path]:
    """A new directory in `parent`, private, which may be gone (renamed, say) at the end of the block."""
    path = Path(tempfile.mkdtemp(prefix=prefix, dir=parent))
    try:
        with locked(path):
            yield path
    finally:
        remove_tree(path)


@contextlib.contextmanager
def locked(directory: Path) -> Iterator[None]:
    """Nobody else is in such a block on the same directory; who comes later waits."""
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def remove_at_once(path: Path) -> None:
    """Delete a directory of ours: nothing is half there under its name, and what a kill leaves elsewhere is swept."""
    try:
        with scratch(".removing-", path.parent) as place:
            path.rename(place / path.name)
    except OSError as error:
        raise WorldError(f"cannot delete {path}: {error.strerror}") from error


def remove_forsaken(pattern: str, parent: Path) -> int:
    """Delete what processes that were killed left in `parent`; the bytes that were freed."""
    freed = 0
    for path in sorted(parent.glob(pattern)):
        with shield(), contextlib.suppress(FileNotFoundError):
            if time.time() - path.lstat().st_mtime >= AGE_S_MIN and not path.is_symlink():
                freed += _remove_unless_locked(path)
    return freed


def _remove_unless_locked(path: Path) -> int:
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if path.is_dir():
            return remove_tree(path)
        size = path.lstat().st_blocks * 512
        path.unlink()
        return size
    except BlockingIOError:
        return 0
    finally:
        os.close(descriptor)
