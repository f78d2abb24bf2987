"""Stores are found, made, brought up to date, and refused where they are not ours."""

import dataclasses
import shutil
import sqlite3
import threading
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import create_engine, text

from pgverdict.errors import UserError, WorldError
from pgverdict.store.opening import SCHEMA, open_store
from pgverdict.store.tables import VERSION, VERSION_TABLE, metadata

from . import made


def test_a_store_is_made_with_its_directories(tmp_path: Path) -> None:
    open_store(tmp_path / "new" / "place" / "runs.db").close()
    assert (tmp_path / "new" / "place" / "runs.db").exists()


def test_a_store_is_found_by_path_and_by_url(tmp_path: Path) -> None:
    with open_store(tmp_path / "runs.db") as store:
        store.begin_run(made.a_run())
    with open_store(f"sqlite:///{tmp_path}/runs.db") as store:
        assert store.load_run() == made.a_run()


def test_opening_a_store_twice_changes_nothing(url: str) -> None:
    with open_store(url) as first, open_store(url) as second:
        first.begin_run(made.a_run())
        assert second.load_run() == made.a_run()


def test_a_store_that_another_process_is_about_to_make_is_waited_for(tmp_path: Path) -> None:
    other = sqlite3.connect(tmp_path / "runs.db", isolation_level=None, check_same_thread=False)
    other.execute("BEGIN IMMEDIATE")
    ends = threading.Timer(0.2, lambda: other.execute("ROLLBACK"))
    ends.start()
    with open_store(tmp_path / "runs.db") as store:
        assert not store.list_runs()
    ends.join()
    other.close()


def test_the_migrations_lead_to_the_tables(url: str) -> None:
    open_store(url).close()
    if url.startswith("postgresql"):
        engine = create_engine(url.replace("postgresql:", "postgresql+psycopg:", 1))
    else:
        engine = create_engine(f"sqlite:///{url}")
    with engine.connect() as connection:
        if url.startswith("postgresql"):
            connection.execute(text(f"SET search_path TO {SCHEMA}"))
            connection.dialect.default_schema_name = SCHEMA
        context = MigrationContext.configure(connection, opts={"version_table": VERSION_TABLE})
        differences = compare_metadata(context, metadata)
    engine.dispose()
    assert differences == []


BROUGHT = {"0016": ("round_arms huge_pages",),
           "0015": ("runs event_loop",),
           "0007": ("runs file", "runs left_out", "cells settings", "cells trouble"),
           "0006": ("cells parameters", "cells own_work", "statements server_rows", "statements server_buffers_hit",
                    "statements server_buffers_read", "statements server_wal_bytes"),
           "0005": ("cells cache", "runs memory_bytes", "runs cores", "runs engine_cores",
                    "round_arms memory_bytes_max", "round_arms turnover_s"),
           "0004": ("runs defaults", "runs tuning", "runs debug_builds", "arms origins", "arms data_directory",
                    "arms wal_directory", "arms defaults"),
           "0003": ("runs diagnoses", "rounds watched_ns", "rounds own_cpu_ns", "rounds memory_stalled_ns",
                    "rounds io_stalled_ns", "rounds throttles"),
           "0002": ("cells pairs",)}  # fmt: skip
"""What each version since the first added, table and column; the newest first."""


BROUGHT_TABLES = {
    "0014": ("slice_seconds",),
    "0013": ("round_logs", "preliminaries"),
    "0011": ("steps",),
    "0009": ("round_tasks",),
    "0008": ("kinds",),
}


@pytest.mark.parametrize(
    "version",
    [f"{number:04}" for number in range(1, int(VERSION))],
)
def test_a_store_of_an_earlier_version_opens_with_all_its_runs(version: str, url: str) -> None:
    with open_store(url) as store:
        store.begin_run(made.a_run(rounds=(made.a_round(0),)))
        with store._engine.begin() as connection:
            if version < "0006":
                connection.execute(text("ALTER TABLE cells ADD COLUMN partitions INTEGER NOT NULL DEFAULT 0"))
                connection.execute(text("UPDATE cells SET partitions = 8 WHERE workload = 'simple-update'"))
            if version < "0012":
                connection.execute(text("DROP INDEX rounds_cell_state_idx"))
            for table in [
                one for later, brought in BROUGHT_TABLES.items() if later > version for one in brought
            ]:
                connection.execute(text(f"DROP TABLE {table}"))
            for column in [one for later, brought in BROUGHT.items() if later > version for one in brought]:
                table, name = column.split()
                connection.execute(text(f"ALTER TABLE {table} DROP COLUMN {name}"))
            connection.execute(text(f"UPDATE {VERSION_TABLE} SET version_num = '{version}'"))

    with open_store(url) as store:
        arms = made.a_round(0).arms
        if version < "0008":
            arms = tuple(dataclasses.replace(arm, kinds=()) for arm in arms)
        if version < "0011":
            arms = tuple(dataclasses.replace(arm, steps=()) for arm in arms)
        if version < "0013":
            arms = tuple(dataclasses.replace(arm, preliminaries=()) for arm in arms)
        if version < "0016":
            arms = tuple(dataclasses.replace(arm, huge_pages=None) for arm in arms)
        slices = made.a_round(0).slices
        if version < "0014":
            slices = tuple(dataclasses.replace(one, seconds=()) for one in slices)
        of_scripts = dataclasses.replace(made.a_round(0), arms=arms, slices=slices)
        expected = made.a_run(rounds=(of_scripts,))
        if version < "0003":
            unseen = dataclasses.replace(of_scripts, surroundings=None)
            expected = dataclasses.replace(made.a_run(rounds=(unseen,)), diagnoses=())
        assert store.load_run() == expected
        with store._engine.connect() as connection:
            assert connection.scalar(text(f"SELECT version_num FROM {VERSION_TABLE}")) == VERSION


def test_what_was_committed_survives_a_host_that_goes_down(tmp_path: Path) -> None:
    """Without the host: SQLite promises it for these two settings together."""
    with open_store(tmp_path / "runs.db") as store, store._engine.connect() as connection:
        modes = [connection.scalar(text(f"PRAGMA {name}")) for name in ("journal_mode", "synchronous")]
    assert modes == ["wal", 2]


def test_a_postgresql_store_leaves_the_rest_of_the_database_alone(empty_postgresql_url: str) -> None:
    open_store(empty_postgresql_url).close()
    engine = create_engine(empty_postgresql_url.replace("postgresql:", "postgresql+psycopg:", 1))
    with engine.connect() as connection:
        schemas = connection.scalars(
            text(
                "SELECT DISTINCT schemaname FROM pg_catalog.pg_tables"
                " WHERE schemaname NOT IN ('pg_catalog', 'information_schema')"
            )
        ).all()
    engine.dispose()
    assert schemas == [SCHEMA]


def test_a_store_of_a_newer_version_is_refused(url: str) -> None:
    with open_store(url) as store, store._engine.begin() as connection:
        connection.execute(text(f"UPDATE {VERSION_TABLE} SET version_num = '9999'"))
    with pytest.raises(WorldError, match=r"written by a newer pgverdict: .* has version 9999") as caught:
        open_store(url)
    assert caught.value.hint == "update pgverdict, or name another store"


def test_a_file_that_is_no_database_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("not a database, and longer than the header of one" * 40)
    with pytest.raises(WorldError, match=r"cannot open the store .*: file is not a database") as caught:
        open_store(file)
    assert caught.value.hint == "name another file, or one that does not exist yet"
    assert file.read_text().startswith("not a database")


def test_somebody_elses_database_is_refused(tmp_path: Path) -> None:
    connection = sqlite3.connect(tmp_path / "other.db")
    connection.execute("CREATE TABLE bookmarks (url TEXT)")
    connection.close()
    with pytest.raises(WorldError, match=r"not a pgverdict store: .* holds other tables \(bookmarks\)"):
        open_store(tmp_path / "other.db")


def test_a_directory_is_no_store(tmp_path: Path) -> None:
    with pytest.raises(WorldError, match=r"cannot open the store .*: unable to open database file") as caught:
        open_store(tmp_path)
    assert caught.value.hint is not None


def test_a_place_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(WorldError, match=r"cannot make the directory of the store .*runs\.db"):
        open_store(tmp_path / "file" / "runs.db")


def test_a_store_that_may_not_be_written_says_so(tmp_path: Path) -> None:
    with open_store(tmp_path / "runs.db") as store:
        with store._engine.connect() as connection:
            connection.execute(text("PRAGMA query_only = ON"))
        with pytest.raises(
            WorldError, match=r"cannot write to the store .*: attempt to write a readonly"
        ) as caught:
            store.begin_run(made.a_run())
    assert caught.value.hint == "the file or its directory may not be written by this user"


def test_a_server_that_is_not_there_is_named_without_the_password(tmp_path: Path) -> None:
    shutil.rmtree(tmp_path)
    with pytest.raises(WorldError, match=r"cannot open the store postgresql://me:") as caught:
        open_store(f"postgresql://me:secret@/bench?host={tmp_path}")
    assert "secret" not in caught.value.message


@pytest.mark.parametrize("url", ["mysql://bench", "sqlite://", "http://[", "://"])
def test_what_is_no_store_is_the_users_error(url: str) -> None:
    with pytest.raises(UserError) as caught:
        open_store(url)
    assert caught.value.hint == "name a file, or postgresql://user@host/database"


@pytest.mark.parametrize("said", [[], ["0003b"], ["0000"], ["3"], ["0014", "0015"]])
def test_a_store_that_says_no_version_of_ours_is_refused(tmp_path: Path, said: list[str]) -> None:
    open_store(tmp_path / "runs.db").close()
    connection = sqlite3.connect(tmp_path / "runs.db")
    connection.execute(f"DELETE FROM {VERSION_TABLE}")
    connection.executemany(f"INSERT INTO {VERSION_TABLE} VALUES (?)", [(one,) for one in said])
    connection.commit()
    connection.close()
    with pytest.raises(WorldError, match=r"runs\.db says of its version|newer pgverdict"):
        open_store(tmp_path / "runs.db")


def test_a_port_that_is_no_number_is_the_users_mistake() -> None:
    with pytest.raises(UserError, match=r"not a store: postgresql://u@127\.0\.0\.1:many/x"):
        open_store("postgresql://u@127.0.0.1:many/x")


def test_a_server_that_is_not_there_comes_with_a_hint() -> None:
    with pytest.raises(WorldError, match="cannot open the store") as refused:
        open_store("postgresql://u@/x?host=/nowhere")
    assert refused.value.hint
    assert "psql" in refused.value.hint
