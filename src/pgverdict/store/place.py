"""Where a store is, as a user says it: a file, or a URL."""

from pathlib import Path


def file_of(spelt: str | Path) -> Path | None:
    """The file of a store that is named by its path; None of a URL.

    >>> file_of("/data/runs.sqlite"), file_of("postgresql://bench@results.example/bench")
    (PosixPath('/data/runs.sqlite'), None)
    """
    return None if "://" in str(spelt) else Path(spelt).expanduser().absolute()
