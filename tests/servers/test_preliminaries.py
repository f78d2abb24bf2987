"""What sessions of real servers say of their planning and locks."""

from collections.abc import Callable

import pytest

from pgverdict.observe import views
from pgverdict.observe.preliminaries import (
    COUNT_LOCKS,
    TRACK_PLANNING,
    can_track_planning,
    planning,
    relations_locked,
)
from pgverdict.servers.install import Install

from .conftest import MakeServer

pytestmark = pytest.mark.slow

PARTITIONS = 20
FAST_PATH_MOST = 16
"""Slots of a backend, before release 18."""


@pytest.mark.parametrize("release", ["15", "16"])
def test_a_session_tells_others_what_it_locked_and_planned(
    release: str, obtained: Callable[[str], Install], make_server: MakeServer
) -> None:
    with (
        make_server(obtained(release)) as server,
        views.session(server) as watching,
        views.session(server) as working,
    ):
        watching.execute("CREATE EXTENSION pg_stat_statements")
        watching.execute("CREATE TABLE many (n int) PARTITION BY LIST (n)")
        for number in range(PARTITIONS):
            watching.execute(
                f"CREATE TABLE many_{number} PARTITION OF many FOR VALUES IN ({number})".encode()
            )
        assert can_track_planning(watching)
        views.reset_statements(watching)

        working.execute(TRACK_PLANNING.encode())
        for query, locked in (("SELECT n FROM many", 1 + PARTITIONS), ("SELECT n FROM many WHERE n = 3", 2)):
            with working.transaction():
                working.execute(query.encode())
                working.execute(COUNT_LOCKS.encode())
            found = relations_locked(watching, working.info.backend_pid)
            assert found == (locked, min(locked, FAST_PATH_MOST))

        plans, took_us = planning(watching)
        assert plans == 2, "those that count locks are none of the workload's"
        assert 0 < took_us < 60e6
