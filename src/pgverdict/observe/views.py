"""What the server itself counted, asked once per round.

pg_stat_statements is exact at the end of every statement; the pg_stat_* views are flushed by backends at
most once a second, which is as long as a whole round, so nothing here is taken from them.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

import psycopg

from pgverdict.errors import UserError, WorldError
from pgverdict.servers.outside import AnyServer

Connection = psycopg.Connection[Any]
_SQL = files("pgverdict.observe").joinpath("sql")
_STEPS = ((13, "statements-13.sql"), (9, "statements-9.6.sql"))


@dataclass(frozen=True)
class StatementCounts:
    """What pg_stat_statements counted of one statement since the last reset."""

    calls: int
    ms_mean: float
    ms_stddev: float
    rows: int
    buffers_hit: int
    buffers_read: int
    wal_bytes: int | None
    """None before release 13."""


@contextmanager
def session(server: AnyServer, database: str = "postgres") -> Iterator[Connection]:
    """A connection for questions and chores; what goes wrong on it is a WorldError in the server's words."""
    try:
        with server.connect(database) as connection:
            yield connection
    except psycopg.Error as error:
        said = " ".join(str(error).split())
        raise WorldError(f"PostgreSQL {server.version} failed when asked: {said}") from error


EXTENSIONS = {
    "pg_stat_statements": "no times inside the server",
    "pg_prewarm": "data is warmed by the workload alone",
}
"""The extensions measuring uses, and what is lost without them."""


_RESETS_ONE_DATABASE = 120000
"""From this release on counts can be reset for one database alone."""


def create_extensions(connection: Connection, *, shared: bool = False) -> None:
    """Create those of EXTENSIONS that this build has in the connected database.

    `shared`: the server is somebody else's. There only those are created that we may create, that work, and that leave
    alone what the server counted for others.
    """
    for name in EXTENSIONS:
        if shared and not _works(connection, name):
            continue
        row = connection.execute(
            "SELECT 1 FROM pg_catalog.pg_available_extensions WHERE name = %s", (name,)
        ).fetchone()
        if row is not None:
            connection.execute(f"CREATE EXTENSION IF NOT EXISTS {name}".encode())


def _works(connection: Connection, name: str) -> bool:
    """Whether an extension can be created here and used; nothing is created."""
    if name == "pg_stat_statements" and connection.info.server_version < _RESETS_ONE_DATABASE:
        return False
    try:
        with connection.transaction(force_rollback=True):
            connection.execute(f"CREATE EXTENSION IF NOT EXISTS {name}".encode())
            if name == "pg_stat_statements":
                connection.execute("SELECT 1 FROM pg_stat_statements LIMIT 1")
                reset_statements(connection)
            else:
                connection.execute("SELECT pg_prewarm('pg_catalog.pg_class'::regclass, 'read')")
    except psycopg.Error:
        return False
    return True


def checkpoint(connection: Connection) -> bool:
    """Have what was written brought to storage; False where this user may not ask for it."""
    try:
        connection.execute("CHECKPOINT")
    except psycopg.errors.InsufficientPrivilege:
        return False
    return True


def has_extension(connection: Connection, name: str) -> bool:
    """Whether the extension was created in the connected database."""
    row = connection.execute("SELECT 1 FROM pg_catalog.pg_extension WHERE extname = %s", (name,)).fetchone()
    return row is not None


def reset_statements(connection: Connection) -> None:
    """Begin counting anew, for the connected database alone where that can be."""
    if connection.info.server_version < _RESETS_ONE_DATABASE:
        connection.execute("SELECT pg_stat_statements_reset()")
        return
    connection.execute(
        "SELECT pg_stat_statements_reset(0, (SELECT d.oid FROM pg_catalog.pg_database AS d"
        " WHERE d.datname = pg_catalog.current_database()), 0)"
    )


def statement_counts(connection: Connection) -> list[tuple[str, StatementCounts]]:
    """What was counted under each text; `statements.assign_counts` says which text is whose."""
    major = connection.info.server_version // 10000
    name = next(name for since, name in _STEPS if major >= since)
    rows = connection.execute(_SQL.joinpath(name).read_bytes()).fetchall()
    return [(text, StatementCounts(*counts)) for text, *counts in rows]


def execute_script(connection: Connection, sql: str, what: str) -> None:
    """Any number of statements, in one transaction; UserError with line and the server's words if one is refused."""
    if not sql.strip():
        return
    try:
        connection.execute(sql.encode())
    except psycopg.Error as error:
        at = error.diag.statement_position
        line = f" in line {sql[: int(at) - 1].count(chr(10)) + 1}" if at else ""
        version = connection.info.parameter_status("server_version")
        said = error.diag.message_primary or " ".join(str(error).split())
        raise UserError(f"PostgreSQL {version} does not take {what}{line}: {said}") from None


def database_bytes(connection: Connection) -> int:
    """Size of the connected database on disk."""
    row = connection.execute("SELECT pg_catalog.pg_database_size(pg_catalog.current_database())").fetchone()
    assert row is not None
    return int(row[0])


def setting_bytes(connection: Connection, name: str) -> int:
    """A memory setting in bytes, whatever unit the server keeps it in."""
    row = connection.execute(
        "SELECT pg_catalog.pg_size_bytes(pg_catalog.current_setting(%s))", (name,)
    ).fetchone()
    assert row is not None
    return int(row[0])


def setting_s(connection: Connection, name: str) -> float:
    """A setting that is a time in seconds, whatever unit the server keeps it in."""
    row = connection.execute(
        "SELECT extract(epoch FROM (s.setting || ' ' || replace(s.unit, 'min', 'minutes'))::interval)::float8"
        " FROM pg_catalog.pg_settings AS s WHERE s.name = %s",
        (name,),
    ).fetchone()
    assert row is not None
    return float(row[0])


def free_connections(connection: Connection) -> int:
    """How many more connections this superuser could open, as the settings have it."""
    row = connection.execute(
        "SELECT pg_catalog.current_setting('max_connections')::int -"
        " (SELECT count(*)::int FROM pg_catalog.pg_stat_activity AS a WHERE a.client_port IS NOT NULL)"
    ).fetchone()
    assert row is not None
    return int(row[0])


def changed_settings(connection: Connection) -> tuple[tuple[str, str], ...]:
    """Settings that differ from the server's built-in defaults, by name, as the server shows them."""
    rows = connection.execute(
        "SELECT s.name, pg_catalog.current_setting(s.name) FROM pg_catalog.pg_settings AS s"
        ' WHERE s.setting IS DISTINCT FROM s.boot_val ORDER BY s.name COLLATE "C"'
    ).fetchall()
    return tuple((name, value) for name, value in rows)
