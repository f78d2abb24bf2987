"""Checkpoints and vacuums, watched on real servers of every step in what releases offer."""

import time

import pytest

from pgverdict.observe import views
from pgverdict.observe.cycles import Watch
from pgverdict.servers.install import Install

from .conftest import MakeServer

pytestmark = pytest.mark.slow

QUICK = {
    "autovacuum_naptime": "1s",
    "autovacuum_vacuum_threshold": "10",
    "autovacuum_vacuum_scale_factor": "0",
}
PATIENCE_S = 60.0


def test_a_watch_counts_finished_checkpoints_wal_and_vacuums(
    borrow_server: MakeServer, any_install: Install
) -> None:
    with borrow_server(any_install, **QUICK) as server, views.session(server) as connection:
        connection.execute("CREATE TABLE hot AS SELECT i, 0 AS n FROM generate_series(1, 1000) AS i")
        connection.execute("CREATE TABLE cold AS SELECT 1 AS i")
        try:
            watch = Watch(connection)
            connection.execute("UPDATE hot SET n = n + 1")
            connection.execute("CHECKPOINT")
            deadline = time.monotonic() + PATIENCE_S
            while not watch.covers(("hot",), checkpoints=1, vacuums=1) or watch.hot != {"hot"}:
                assert time.monotonic() < deadline, watch.last
                time.sleep(0.2)
                watch.look()
            assert watch.wal_bytes > 0
            assert watch.last.tables["hot"].bytes >= watch.first.tables["hot"].bytes > 0

            watch.begin()

            assert (watch.checkpoints, watch.vacuums("hot"), watch.wal_bytes) == (0, 0, 0)
            assert watch.hot == {"hot"}
        finally:
            connection.execute("DROP TABLE hot")
            connection.execute("DROP TABLE cold")


def test_a_setting_of_time_is_told_in_seconds_whatever_its_unit(
    borrow_server: MakeServer, any_install: Install
) -> None:
    settings = {"checkpoint_timeout": "2min", "autovacuum_naptime": "90s", "deadlock_timeout": "1500ms"}
    with borrow_server(any_install, **settings) as server, views.session(server) as connection:
        assert [views.setting_s(connection, name) for name in settings] == [120.0, 90.0, 1.5]
