"""Where reports go: files, or standard output."""

import sys
from pathlib import Path

from pgverdict.errors import UserError, WorldError

STANDARD_OUTPUT = Path("-")


def check_outputs(*paths: Path | None) -> None:
    """Fail before anything is measured if a report cannot be written where it is asked for."""
    if sum(path == STANDARD_OUTPUT for path in paths) > 1:
        raise UserError(
            "standard output takes one format only: - is given twice", hint="name a file for the other"
        )
    for path in paths:
        if path is None or path == STANDARD_OUTPUT:
            continue
        new = not path.exists()
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            # Permissions alone do not tell: root has them all, and /proc takes no files.
            path.open("a").close()
            if new:
                path.unlink()
        except OSError as error:
            raise UserError(
                f"cannot write a report there: {path}: {error.strerror}",
                hint="name a file in a directory of yours",
            ) from None


def write_report(path: Path, text: str) -> None:
    """Written whole, or removed: half a report on a full disk would open, and mislead.

    Names of files need not be UTF-8, and a report names some: what is not is spelt as Python does.
    """
    text = text.encode("utf-8", "backslashreplace").decode("utf-8")
    if path == STANDARD_OUTPUT:
        sys.stdout.write(text)
        return
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("w", encoding="utf-8") as file:
            try:
                file.write(text)
                file.flush()
            except OSError:
                _remove_half(path)
                raise
    except OSError as error:
        raise WorldError(
            f"cannot write the report {path}: {error.strerror}",
            hint="the run is in the store: `pgverdict report`",
        ) from None


def _remove_half(path: Path) -> None:
    if path.is_file() and not path.is_symlink():
        path.unlink()
