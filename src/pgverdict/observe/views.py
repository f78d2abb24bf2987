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

from pgverdict.errors import WorldError
from pgverdict.servers.server import Server

Connection = psycopg.Connection[Any]
_SQL = files("pgverdict.observe").joinpath("sql")
_STEPS = ((13, "statements-13.sql"), (9, "statements-9.6.sql"))


@dataclass(frozen=True)
class StatementCounts:
    """pg_stat_statements' account of one statement since the last reset."""

    calls: int
    ms_mean: float
    ms_stddev: float
    buffers_read: int


@contextmanager
def session(server: Server, database: str = "postgres") -> Iterator[Connection]:
    """A connection for questions and chores; what goes wrong on it is a WorldError in the server's words."""
    try:
        with server.connect(database) as connection:
            yield connection
    except psycopg.Error as error:
        said = " ".join(str(error).split())
        raise WorldError(f"PostgreSQL {server.install.version} failed when asked: {said}") from error


EXTENSIONS = {
    "pg_stat_statements": "no times inside the server",
    "pg_prewarm": "data is warmed by the workload alone",
}
"""The extensions measuring uses, and what is lost without them."""


def create_extensions(connection: Connection) -> None:
    """Create those of EXTENSIONS that this build has in the connected database."""
    for name in EXTENSIONS:
        row = connection.execute(
            "SELECT 1 FROM pg_catalog.pg_available_extensions WHERE name = %s", (name,)
        ).fetchone()
        if row is not None:
            connection.execute(f"CREATE EXTENSION IF NOT EXISTS {name}".encode())


def has_extension(connection: Connection, name: str) -> bool:
    """Whether the extension was created in the connected database."""
    row = connection.execute("SELECT 1 FROM pg_catalog.pg_extension WHERE extname = %s", (name,)).fetchone()
    return row is not None


def reset_statements(connection: Connection) -> None:
    """Begin counting anew."""
    connection.execute("SELECT pg_stat_statements_reset()")


def statement_counts(connection: Connection) -> dict[str, StatementCounts]:
    """Counts by statement text, as prepared: the client's text and the server's are compared letter by letter."""
    major = connection.info.server_version // 10000
    name = next(name for since, name in _STEPS if major >= since)
    rows = connection.execute(_SQL.joinpath(name).read_bytes()).fetchall()
    return {text: StatementCounts(calls, mean, stddev, read) for text, calls, mean, stddev, read in rows}


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


def build_facts(connection: Connection) -> tuple[tuple[str, str], ...]:
    """What the running server says of its own build and of the cluster it runs on."""
    row = connection.execute("SELECT pg_catalog.version()").fetchone()
    assert row is not None
    shown = connection.execute(
        "SELECT s.name, s.setting FROM pg_catalog.pg_settings AS s WHERE s.name IN"
        " ('block_size', 'wal_block_size', 'wal_segment_size', 'data_checksums', 'debug_assertions',"
        " 'server_encoding', 'lc_collate', 'lc_ctype', 'integer_datetimes')"
        ' ORDER BY s.name COLLATE "C"'
    ).fetchall()
    return (("version", row[0]), *((name, value) for name, value in shown))
