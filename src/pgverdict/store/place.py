"""Where a store is, as a user says it: a file, or a URL."""

import os
from pathlib import Path
from urllib.parse import quote


def file_of(spelt: str | Path) -> Path | None:
    """The file of a store that is named by its path; None of a URL.

    >>> file_of("/data/runs.sqlite"), file_of("postgresql://bench@results.example/bench")
    (PosixPath('/data/runs.sqlite'), None)
    """
    return None if "://" in str(spelt) else Path(spelt).expanduser().absolute()


def may_write(file: Path) -> bool:
    """Whether SQLite can keep its journal there: it needs the file and the directory that it is in."""
    return os.access(file, os.W_OK) and os.access(file.absolute().parent, os.W_OK)


def reading_uri(file: Path) -> str:
    """What `sqlite3` opens to look at a file and change nothing, whatever bytes its name has."""
    # A file that was written ahead wants its journal beside it even to be read. Where none can be, nobody writes.
    still = not may_write(file) and not os.path.lexists(f"{file.absolute()}-wal")
    return f"file:{quote(os.fsencode(file.absolute()))}?mode=ro{'&immutable=1' if still else ''}"
