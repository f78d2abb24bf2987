"""One run as one file: a store that holds this run alone, so that its format is the store's and grows with it.

    export_run(store, "2026-11-21-1002-3f9a", Path("run.sqlite"))
    with open_exported(Path("run.sqlite")) as opened: ...

Why a store, and no format of its own: docs/stores.md.
"""

import os
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from pgverdict.errors import UserError, WorldError
from pgverdict.store.opening import open_store
from pgverdict.store.place import reading_uri
from pgverdict.store.runs import Store
from pgverdict.store.sound import check_sound
from pgverdict.store.transfer import take_run


def export_run(store: Store, run_id: str, file: Path) -> None:
    """Write a run to a new file, which appears whole or not at all. UserError if there is one of that name."""
    try:
        if file.exists():
            raise UserError(f"will not write over a file: {file}", hint="name another, or remove it")
        with tempfile.TemporaryDirectory(prefix=".pgverdict-", dir=file.parent) as folder:
            made = Path(folder, "run.sqlite")
            with open_store(made) as exported:
                take_run(store, run_id, exported)
            # One file, whatever reads it: no journal beside it that could be left behind.
            with closing(sqlite3.connect(made)) as connection:
                connection.execute("PRAGMA journal_mode = DELETE")
            made.rename(file)
    except OSError as error:
        raise WorldError(
            f"cannot write the run to {file}: {error.strerror}", hint="name a file in a directory of yours"
        ) from error


@contextmanager
def open_exported(file: Path) -> Iterator[Store]:
    """The store in a file, to be read: it is opened, and brought up to date, in a copy. The file stays as it is.

    UserError if there is none; WorldError if it is no store, of a newer version, or not what pgverdict writes.
    """
    if not os.path.isfile(file):  # noqa: PTH113 (that of a Path raises for names that are too long)
        raise UserError(f"no such file: {file}", hint="`pgverdict export RUN` writes one")
    with tempfile.TemporaryDirectory(prefix="pgverdict-") as folder:
        copy = Path(folder, "run.sqlite")
        try:
            # SQLite's own copy: it has what a run that still goes on has committed, journal and all.
            with (
                closing(sqlite3.connect(reading_uri(file), uri=True)) as original,
                closing(sqlite3.connect(copy)) as connection,
            ):
                original.backup(connection)
        except sqlite3.Error as error:
            if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_FULL:  # of the copy
                raise WorldError(
                    f"cannot read {file}: no room for a copy of it in {folder}",
                    hint="set TMPDIR to a directory with more room",
                ) from error
            raise WorldError(
                f"cannot read {file}: {error}", hint="`pgverdict export` writes files that can be imported"
            ) from error
        with open_store(copy, called=str(file)) as opened:
            check_sound(opened)
            yield opened
