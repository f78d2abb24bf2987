"""What a database could not do, in our words."""

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy.exc import DBAPIError

from pgverdict.errors import WorldError

# What to do about it, by a word of what the database says.
_HINTS = {
    "readonly": "the file or its directory may not be written by this user",
    "unable to open": "the file or its directory may not be written by this user, or is something else",
    "not a database": "name another file, or one that does not exist yet",
    "locked": "another process has held it for half a minute; try again",
    "full": "make room on its file system",
    "disk i/o": "the file system reports an error; look at the kernel's log",
}


@contextmanager
def told(deed: str) -> Iterator[None]:
    """What the database could not do, told in our words with its own behind them."""
    try:
        yield
    except DBAPIError as error:
        said = str(error.orig).strip().splitlines()[0]
        hint = next((hint for word, hint in _HINTS.items() if word in said.lower()), None)
        raise WorldError(f"cannot {deed}: {said}", hint=hint) from error
