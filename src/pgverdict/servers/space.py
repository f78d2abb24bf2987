"""Is there room for it? Asked before a large copy, not found out in its middle."""

import os
from pathlib import Path

from pgverdict.errors import WorldError

_UNITS = ("B", "kB", "MB", "GB", "TB")


def require_space(
    path: Path, bytes_needed: int, what: str, *, advice: str = "choose a smaller scale"
) -> None:
    """WorldError unless the file system of `path` (which need not exist yet) has room for `what`."""
    bytes_free = free_bytes(path)
    if bytes_free < bytes_needed:
        raise WorldError(
            f"not enough room for {what} in {path}: needs {show_bytes(bytes_needed)}, "
            f"free are {show_bytes(bytes_free)}",
            hint=f"{advice}, or set PGVERDICT_HOME to a larger file system",
        )


def free_bytes(path: Path) -> int:
    """Of the file system of `path`, which need not exist yet."""
    status = os.statvfs(next(step for step in (path, *path.parents) if step.exists()))
    # f_bavail, not f_bfree: servers are not root and cannot use root's reserve.
    return status.f_bavail * status.f_frsize


def show_bytes(count: int) -> str:
    """
    >>> show_bytes(340_000_000), show_bytes(999), show_bytes(1_500)
    ('340 MB', '999 B', '1.5 kB')
    """
    amount = float(count)
    for unit in _UNITS:
        if amount < 999.5 or unit == _UNITS[-1]:
            break
        amount /= 1000
    return f"{amount:.1f} {unit}" if unit != "B" and amount < 10 else f"{amount:.0f} {unit}"
