"""Servers stand still while they are frozen, and come to no harm, by every means that this host has."""

import os
import re
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from psycopg import Connection

from pgverdict.datasets.load import DATABASE, load, where
from pgverdict.engine.process import EPOLL, IO_URING, Engine
from pgverdict.errors import WorldError
from pgverdict.observe.processes import scheduled_ns
from pgverdict.servers import cgroups, processes
from pgverdict.servers.freeze import ByCgroup, Freezer, Means, make_freezer
from pgverdict.servers.install import Install
from pgverdict.servers.server import Server
from pgverdict.workloads import catalogue

from .conftest import MakeServer

CYCLES = int(os.environ.get("PGVERDICT_TEST_FREEZES", "60"))
"""With each means, of which there are three. METHODOLOGY.md#freezing tells what thousands of them did."""

_VERSIONS = {Means.CGROUP_V1: 1, Means.CGROUP_V2: 2}


@pytest.fixture(params=Means, ids=lambda means: means.value)
def means(request: pytest.FixtureRequest) -> Means:
    wanted: Means = request.param
    if wanted in _VERSIONS and (reason := cgroups.obstacle(_VERSIONS[wanted])):
        pytest.skip(reason)
    return wanted


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


def start(stack: ExitStack, means: Means, server: Server) -> Freezer:
    freezer = stack.enter_context(make_freezer(means, server))
    stack.enter_context(server)
    freezer.begin()
    return freezer


def is_still(server: Server, means: Means) -> bool:
    """What the kernel says: stopped (or ended, with nobody awake to notice), or in a cgroup that is frozen."""
    pids = server.pids()
    if means is Means.SIGNAL:
        return all(processes.state(pid) in "TZ" for pid in pids)
    (tree,) = (t for t in cgroups.hierarchies() if t.version == _VERSIONS[means] and t.can_freeze)
    groups = {tree.cgroup_of(pid) for pid in pids}
    return all(group is not None and group.is_ours and group.is_frozen for group in groups)


def test_a_frozen_server_stands_still_and_a_thawed_one_answers(
    install: Install, borrow_server: MakeServer, means: Means, stack: ExitStack
) -> None:
    server = borrow_server(install)
    freezer = start(stack, means, server)
    connection = stack.enter_context(server.connect())

    assert freezer.freeze() > 0
    used, _ = scheduled_ns(server.pids())
    connection.pgconn.send_query(b"SELECT 1")
    assert is_still(server, means)
    assert connection.info.backend_pid in server.pids()
    assert scheduled_ns(server.pids())[0] == used

    assert freezer.thaw() > 0
    result = connection.pgconn.get_result()
    assert result is not None
    assert result.get_value(0, 0) == b"1"
    assert connection.pgconn.get_result() is None
    assert not is_still(server, means)


def test_a_backend_that_starts_later_is_frozen_too(
    install: Install, borrow_server: MakeServer, means: Means, stack: ExitStack
) -> None:
    server = borrow_server(install)
    freezer = start(stack, means, server)
    later = stack.enter_context(server.connect())

    freezer.freeze()

    assert later.info.backend_pid in server.pids()
    assert is_still(server, means)
    freezer.thaw()


def test_freezing_twice_and_thawing_twice_is_nothing_new(
    install: Install, borrow_server: MakeServer, means: Means, stack: ExitStack
) -> None:
    server = borrow_server(install)
    freezer = start(stack, means, server)

    freezer.freeze()
    freezer.freeze()
    assert is_still(server, means)
    freezer.thaw()
    freezer.thaw()

    server.connect().close()


@pytest.mark.parametrize("mode", ["fast", "immediate", "kill"])
def test_a_server_is_stopped_out_of_a_freeze_and_its_cgroup_goes(
    install: Install, make_server: MakeServer, means: Means, mode: str
) -> None:
    server = make_server(install)
    with make_freezer(means, server) as freezer:
        server.start()
        freezer.begin()
        freezer.freeze()

        assert server.stop(mode) == mode  # type: ignore[arg-type]

        if isinstance(freezer, ByCgroup):
            assert freezer.cgroup.path.exists()
    assert processes.running_in(server.data) == []
    if isinstance(freezer, ByCgroup):
        assert not freezer.cgroup.path.exists()


def test_servers_that_nobody_knows_are_ended_out_of_a_freeze(
    install: Install, make_server: MakeServer, means: Means
) -> None:
    server = make_server(install)
    with make_freezer(means, server) as freezer:
        server.start()
        freezer.begin()
        freezer.freeze()

        assert processes.end_all([server.data]) == 1

        assert processes.running_in(server.data) == []
        if isinstance(freezer, ByCgroup):
            assert not freezer.cgroup.path.exists()


def test_a_server_that_died_cannot_be_taken_in(
    install: Install, make_server: MakeServer, means: Means
) -> None:
    if means is Means.SIGNAL:
        pytest.skip("signals need no preparation")
    server = make_server(install)
    freezer = make_freezer(means, server)
    with freezer:
        server.start()
        processes.kill_all(server.data)

        with pytest.raises(WorldError, match="ended before it could be frozen"):
            freezer.begin()


def sums(connection: Connection[tuple[Any, ...]]) -> tuple[int, int, int]:
    """What all accounts hold, what all transactions added to them, and how many transactions there were."""
    row = connection.execute(
        "SELECT (SELECT sum(abalance) FROM pgbench_accounts), coalesce(sum(delta), 0), count(*) FROM pgbench_history"
    ).fetchone()
    assert row is not None
    return row[0], row[1], row[2]


@pytest.mark.parametrize("event_loop", [EPOLL, IO_URING])
def test_many_freezes_in_the_middle_of_transactions_lose_nothing(
    install: Install, make_server: MakeServer, means: Means, stack: ExitStack, event_loop: str
) -> None:
    """Checkpoints, vacuum and the WAL writer are kept as busy as settings can, and are frozen with the rest."""
    server = make_server(
        install, synchronous_commit="off", autovacuum_naptime="1s", checkpoint_timeout="30s", max_wal_size="32MB",
        checkpoint_completion_target="0.9", log_checkpoints="on",
    )  # fmt: skip
    freezer = start(stack, means, server)
    workload = catalogue.workload("simple-update")
    started = server.log.stat().st_size  # up to here, impatient clients were told to wait
    engine = stack.enter_context(Engine.start())
    load(engine, server, workload.dataset, 1, lambda _rows, _total: None)
    ready = engine.setup(
        clients=2,
        threads=1,
        cpus=None,
        scripts=workload.scripts,
        variables={"scale": 1},
        event_loop=event_loop,
    )
    if ready.event_loop != event_loop:
        pytest.skip(f"NOT TESTED: {event_loop}, which this kernel does not allow")
    engine.connect(0, where(server))
    watching = stack.enter_context(server.connect(DATABASE))
    enough = threading.Event()
    done: list[int] = []

    def work() -> None:
        while not enough.is_set():
            answer = engine.slice(
                0, seed=len(done), bound={"duration_us": 50_000}, discard={"duration_us": 0}
            )
            done.append(answer.transactions)
            assert answer.failed == 0

    worker = threading.Thread(target=work)
    worker.start()
    try:
        for _ in range(CYCLES):
            freezer.freeze()
            freezer.thaw()
            # A transaction is committed whole or not at all, also in the middle of freezes.
            accounts, deltas, _ = sums(watching)
            assert accounts == deltas
    finally:
        enough.set()
        worker.join()

    accounts, deltas, rows = sums(watching)
    assert accounts == deltas
    assert rows == sum(done) > CYCLES
    print(f"{means.value}: {CYCLES} freezes, {rows} transactions")
    assert not re.search(r"\b(ERROR|FATAL|PANIC|WARNING):", server.log.read_text()[started:])
    assert server.stop("fast") == "fast"
