"""Opening a store: find the database, bring its tables up to date, set it up for what we do.

SQLite by default, PostgreSQL by URL:

    open_store("runs.db")
    open_store("postgresql://bench@results.example/bench")

In PostgreSQL everything lives in the schema `pgverdict`, so that a database can be shared; a SQLite file
that holds somebody else's tables is refused.
"""

import re
import sqlite3
import time
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine, event, inspect, make_url, text
from sqlalchemy.exc import ArgumentError

from pgverdict.errors import UserError, WorldError
from pgverdict.store.json_text import to_json_text
from pgverdict.store.place import file_of
from pgverdict.store.runs import Store
from pgverdict.store.trouble import told
from pgverdict.store.version import VERSION, VERSION_TABLE

SCHEMA = "pgverdict"

BUSY_MS = 30_000
"""How long a writer waits for another process's transaction; ours take milliseconds."""

_MIGRATION_LOCK = 20261121
"""The advisory lock that lets one process at a time change the tables; any number would do."""


def open_store(url_or_path: str | Path, *, called: str | None = None) -> Store:
    """The store at a path or URL, made if it is not there yet. `called`: what messages call it, else by its place."""
    url = _url(url_or_path)
    if url.get_backend_name() == "sqlite":
        engine, place = _sqlite(url), str(url.database)
    else:
        engine, place = _postgresql(url), url.set(drivername="postgresql").render_as_string()
    place = called or place
    try:
        with told(f"open the store {place}"):
            _bring_up_to_date(engine, place)
    except BaseException:
        engine.dispose()
        raise
    return Store(engine, place)


def _url(url_or_path: str | Path) -> URL:
    if (file := file_of(url_or_path)) is not None:
        return URL.create("sqlite", database=str(file))
    spelt = str(url_or_path)
    try:
        url = make_url(spelt)
    except (ArgumentError, ValueError):  # ValueError: a port that is no number
        raise UserError(
            f"not a store: {spelt}", hint="name a file, or postgresql://user@host/database"
        ) from None
    match url.drivername.partition("+")[0]:
        case "postgresql" | "postgres":
            return url.set(drivername="postgresql+psycopg")
        case "sqlite" if url.database and url.database != ":memory:":
            return _url(url.database)
        case kind:
            raise UserError(
                f"unknown kind of store: {kind}", hint="name a file, or postgresql://user@host/database"
            )


def _sqlite(url: URL) -> Engine:
    assert url.database
    try:
        Path(url.database).parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise WorldError(
            f"cannot make the directory of the store {url.database}: {error.strerror}",
            hint="name a file in a directory this user may write",
        ) from error
    engine = create_engine(url, json_serializer=to_json_text)

    @event.listens_for(engine, "connect")
    def set_up(connection: sqlite3.Connection, _record: Any) -> None:
        # Python's driver would begin transactions when it thinks fit; we begin them, below.
        connection.isolation_level = None
        connection.execute(f"PRAGMA busy_timeout = {BUSY_MS}")
        connection.execute("PRAGMA foreign_keys = ON")
        _write_ahead(connection)
        # A commit that NORMAL keeps survives kill -9, but not a host that goes down, and hosts under test do.
        # FULL costs half a millisecond more per round, between rounds.
        connection.execute("PRAGMA synchronous = FULL")

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        # A transaction that reads first and then writes fails at once, without waiting, if another wrote in
        # between; so writers say what they are.
        writes = connection.get_execution_options().get("writes")
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    return engine


def _write_ahead(connection: sqlite3.Connection) -> None:
    """Readers see the last commit while a writer works, from the first opening of a file on.

    For this change SQLite does not wait as it does elsewhere: it fails at once while another connection is about
    to write, which two processes that make one store at the same time do.
    """
    patience_ends = time.monotonic() + BUSY_MS / 1000
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > patience_ends:
                raise
        time.sleep(0.01)


def _postgresql(url: URL) -> Engine:
    engine = create_engine(url, json_serializer=to_json_text, pool_pre_ping=True)

    @event.listens_for(engine, "connect", insert=True)
    def set_up(connection: Any, _record: Any) -> None:
        connection.autocommit = True
        connection.execute(f"SET search_path TO {SCHEMA}")
        # Before PostgreSQL 12, doubles lost their last digits on the way out without this.
        connection.execute("SET extra_float_digits = 3")
        connection.autocommit = False

    return engine


def _bring_up_to_date(engine: Engine, place: str) -> None:
    with engine.begin() as connection:
        found = _version(connection, place)
    if found == VERSION:
        return
    with engine.execution_options(writes=True).begin() as connection:
        if engine.dialect.name == "postgresql":
            connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _MIGRATION_LOCK})
            if found is None:
                connection.execute(text(f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}"))
        # Another process may have been faster.
        if _version(connection, place) != VERSION:
            from pgverdict.store.migrations import migrate

            migrate(connection)


def _version(connection: Connection, place: str) -> str | None:
    """The version of the store's tables; None where there are none yet."""
    names = inspect(connection).get_table_names()
    if VERSION_TABLE not in names:
        if names:
            raise WorldError(
                f"not a pgverdict store: {place} holds other tables ({', '.join(sorted(names)[:3])})",
                hint="name another file, or one that does not exist yet",
            )
        return None
    found = [str(one) for one in connection.scalars(text(f"SELECT version_num FROM {VERSION_TABLE}"))]
    if len(found) == 1 and found[0] > VERSION:
        raise WorldError(
            f"the store was written by a newer pgverdict: {place} has version {found[0]}, known is {VERSION}",
            hint="update pgverdict, or name another store",
        )
    if len(found) != 1 or not re.fullmatch(r"(?!0000)\d{4}", found[0], re.ASCII):
        raise WorldError(
            f"not a pgverdict store: {place} says of its version: {', '.join(found)[:40] or 'nothing'}",
            hint="use another copy of it, or name another file",
        )
    return found[0]
