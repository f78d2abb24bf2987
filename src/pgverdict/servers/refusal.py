"""What a server says when it refuses, told as a user would want to meet it."""

from collections.abc import Iterator
from contextlib import contextmanager

from pgverdict.errors import UserError, WorldError

_HINTS = (
    ("no password supplied", "give it as PGPASSWORD, or in the file that PGPASSFILE names (else ~/.pgpass)"),
    ("password authentication failed", "PGPASSWORD goes before the file that PGPASSFILE names (else ~/.pgpass)"),
    ("pg_hba.conf", "a line of the server's pg_hba.conf has to let this user in from here"),
    ("does not exist", "name a database and a user that exist there: pgverdict makes databases of its own beside it"),
    ("could not translate host name", "is the name of the host right?"),
    ("failed to resolve host", "is the name of the host right?"),
    ("connection refused", "is a server listening on that host and port?"),
    ("received invalid response to", "is that a PostgreSQL?"),
    ("expected authentication request", "is that a PostgreSQL?"),
    ("certificate", "sslmode and sslrootcert in the URI say what is asked of its certificate"),
    ("does not support ssl", "sslmode=prefer in the URI takes what there is"),
)  # fmt: skip
"""What servers and libpq say, in lower case, and what may help."""


@contextmanager
def refused(doing: str) -> Iterator[None]:
    """Whatever the server, or the way to it, refuses becomes a WorldError that begins with `doing`; what is asked of it
    wrongly has been a UserError before."""
    import psycopg

    try:
        yield
    except psycopg.errors.InsufficientPrivilege as error:
        raise UserError(f"{doing}: {_line(error)}", hint="this user lacks a right there") from None
    except psycopg.Error as error:
        said = _line(error)
        lowered = said.lower()
        hint = next((hint for part, hint in _HINTS if part in lowered), None)
        raise WorldError(f"{doing}: {said}", hint=hint) from None


def _line(error: Exception) -> str:
    return " ".join(str(error).split())
