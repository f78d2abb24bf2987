"""Files of a user's own work, read: what options and campaign files name, relative to a folder."""

import re
from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path

from pgverdict.datasets.restore import read_dump
from pgverdict.errors import UserError
from pgverdict.spec.own import OwnDump, OwnScript, OwnText

TEXT_BYTES_MAX = 4 << 20
"""Texts are kept with every run; more is a dump."""


def read_script(text: str, folder: Path) -> OwnScript:
    """FILE or FILE@WEIGHT, as pgbench has it. UserError for what cannot be read."""
    path, at, weight = text.rpartition("@")
    if not at:
        path, weight = text, "1"
    elif not re.fullmatch(r"\d{1,6}", weight):
        raise UserError(f"not a weight: {text}", hint="write FILE@WEIGHT with a whole number")
    read = read_sql(path, "the script", folder)
    return OwnScript(read.path, read.text, int(weight))


def read_sql(name: str, what: str, folder: Path) -> OwnText:
    """A text of SQL; `what` it is, in messages."""
    path = _path(name, folder)
    try:
        content = path.read_bytes()
    except OSError as error:
        raise _unreadable(what, path, error) from None
    if len(content) > TEXT_BYTES_MAX:
        raise UserError(
            f"{what} has more than {TEXT_BYTES_MAX >> 20} MB: {path}", hint="data may come by a dump"
        )
    try:
        return OwnText(str(path), content.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise UserError(f"{what} is not UTF-8 at byte {error.start}: {path}") from None


def read_dump_at(name: str, folder: Path) -> OwnDump:
    """A dump's path, digest and size."""
    path = _path(name, folder)
    if not path.exists():
        raise _unreadable("the dump", path, FileNotFoundError(2, "No such file or directory"))
    return read_dump(path)


def _path(name: str, folder: Path) -> Path:
    return (folder / Path(name).expanduser()).absolute()


def _unreadable(what: str, path: Path, error: OSError) -> UserError:
    near = (
        get_close_matches(path.name, _names_beside(path), n=1) if isinstance(error, FileNotFoundError) else []
    )
    hint = f"did you mean {near[0]}?" if near else None
    return UserError(f"cannot read {what} {path}: {error.strerror}", hint=hint)


def _names_beside(path: Path) -> Sequence[str]:
    try:
        return [one.name for one in path.parent.iterdir()]
    except OSError:
        return []
