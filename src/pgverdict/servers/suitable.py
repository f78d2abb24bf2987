"""Whether a server that somebody else runs can be measured on, and with which settings."""

import difflib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pgverdict.errors import UserError

if TYPE_CHECKING:
    import psycopg

    Connection = psycopg.Connection[tuple[Any, ...]]

OLDEST = 90600
"""The oldest release whose views and functions are known, as the protocol numbers it."""

_SET_BY_SESSIONS = ("user", "superuser")
"""The contexts of settings that a database of ours may have."""


def require_usable(connection: "Connection", dsn: str) -> None:
    """UserError for a server that is too old, on which nothing can be made, or where this user may not."""
    info = connection.info
    if info.server_version < OLDEST:
        version = str(info.parameter_status("server_version")).split(" ")[0]
        raise UserError(f"the server is too old: {dsn} is PostgreSQL {version}, and 9.6 is the oldest")
    if _ask(connection, "SELECT pg_catalog.pg_is_in_recovery()"):
        raise UserError(f"the server is a standby, on which nothing can be made: {dsn}")
    may_create = (
        "SELECT r.rolsuper OR r.rolcreatedb FROM pg_catalog.pg_roles AS r WHERE r.rolname = current_user"
    )
    if not _ask(connection, may_create):
        raise UserError(
            f"the user {info.user} may not create databases on {dsn}",
            hint=f"ALTER ROLE {info.user} CREATEDB; data is only ever put into databases that pgverdict made",
        )


def require_session_settings(
    connection: "Connection", arm: str, version: str, settings: Mapping[str, str]
) -> None:
    """UserError for one that a session cannot have, or that the server does not take."""
    import psycopg

    contexts: dict[str, str] = dict(
        connection.execute("SELECT s.name, s.context FROM pg_catalog.pg_settings AS s").fetchall()
    )
    for name, value in settings.items():
        if name not in contexts and "." not in name:
            near = difflib.get_close_matches(name, sorted(contexts), n=1)
            raise UserError(
                f"arm {arm}, PostgreSQL {version}, does not know the setting {name}",
                hint=f"did you mean {near[0]}?" if near else f"`--set '{name}?=...'` leaves it out there",
            )
        if name in contexts and contexts[name] not in _SET_BY_SESSIONS:
            raise UserError(
                f"the setting {name} of arm {arm} is not a session's, and the server is somebody else's: {value}",
                hint="set it there, and name it here no more; the report shows what the server has",
            )
        try:
            with connection.transaction(force_rollback=True):
                connection.execute("SELECT pg_catalog.set_config(%s, %s, true)", (name, value))
        except psycopg.Error as error:
            said = " ".join(str(error).split())
            raise UserError(f"arm {arm} refuses the setting {name} = {value}: {said}") from None


def _ask(connection: "Connection", query: str) -> bool:
    row = connection.execute(query.encode()).fetchone()
    assert row is not None
    return bool(row[0])
