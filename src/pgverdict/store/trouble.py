"""What a database could not do, in our words."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy.exc import DBAPIError

from pgverdict.errors import WorldError

# What to do about it, by a word of what the database says.
_OF_A_FILE = {
    "readonly": "the file or its directory may not be written by this user",
    "unable to open": "the file or its directory may not be written by this user, or is something else",
    "not a database": "name another file, or one that does not exist yet",
    "locked": "another process has held it for half a minute; try again",
    "full": "make room on its file system",
    "disk i/o": "the file system reports an error; look at the kernel's log",
    "malformed": "the file is damaged; use another copy of it",
    "utf-8": "the file is damaged; use another copy of it",
    "constraint": "its rows contradict each other; use another copy of the file they came from",
    "already exists": "its tables are not as pgverdict makes them; name another store",
    "no such": "its tables are not as pgverdict makes them; name another store",
    "": "what was in the file before is there still; try again, or use another copy of it",
}

_OF_A_SERVER = {
    "permission denied": "the user needs the right to make, or to use, the schema pgverdict in that database",
    "already exists": "its tables are not as pgverdict makes them; name another database",
    "relation": "its tables are not as pgverdict makes them; name another database",
    "column": "its tables are not as pgverdict makes them; name another database",
    "no space": "make room where the server keeps its data",
    "": "see that the server runs and lets this user in; `psql` takes the same URL",
}


@contextmanager
def told(deed: str) -> Iterator[None]:
    """What the database could not do, told in our words with its own behind them."""
    try:
        yield
    except DBAPIError as error:
        said = str(error.orig).strip().splitlines()[0]
        hints = _OF_A_FILE if isinstance(error.orig, sqlite3.Error) else _OF_A_SERVER
        hint = next(hint for word, hint in hints.items() if word in said.lower())
        raise WorldError(f"cannot {deed}: {said}", hint=hint) from error
