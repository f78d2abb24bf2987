"""Real servers in cgroups of ours: what they are charged, where their processes are, and what remains."""

import os
import shutil
from dataclasses import replace
from pathlib import Path

import psycopg
import pytest

from pgverdict.datasets.page_cache import bring_in, evict, resident_bytes
from pgverdict.observe import processes as counted
from pgverdict.servers import cgroups, processes
from pgverdict.servers.cgroups import Cgroup, made_for
from pgverdict.servers.confine import find_confiner
from pgverdict.servers.freeze import ByCgroup, Means, make_freezer
from pgverdict.servers.install import Install
from pgverdict.servers.server import Server
from pgverdict.spec.confinement import Limits

from .confining import why_unconfined
from .conftest import MakeServer
from .leaving import await_leaving

LIMIT_BYTES = 128 << 20
GONE = "XZ"
"""States of processes that have ended, and are in no cgroup any more."""
BATCH_BYTES = 64 * 4096
"""The kernel looks after the limit when it has charged a batch of pages."""
TABLE = "CREATE TABLE large AS SELECT n, repeat('x', 1000) AS filler FROM generate_series(1, 200000) AS n"
"""Some 230 MB: more than the memory of the server, far less than that of any host."""

unconfined = why_unconfined()
pytestmark = pytest.mark.skipif(unconfined is not None, reason=str(unconfined))


def confined(make_server: MakeServer, install: Install, limits: Limits, **settings: str) -> Server:
    server = make_server(install, **settings)
    server.confiner = find_confiner(limits)
    return server


def around(server: Server) -> set[Cgroup]:
    found = made_for(server.data.parent)
    assert found, "a confined server has cgroups"
    return found


def storage_read_bytes(server: Server) -> int:
    return sum(counted.storage_read_bytes(server.pids()).values())


def test_a_server_is_charged_its_page_cache_and_stays_below_its_memory(
    install: Install, make_server: MakeServer
) -> None:
    server = make_server(install, shared_buffers="16MB", autovacuum="off", max_wal_size="64MB")
    with server, server.connect() as connection:
        connection.execute(TABLE)
        connection.execute("VACUUM (FREEZE) large")
    assert resident_bytes(server.data) > LIMIT_BYTES
    evict(server.data)
    server.confiner = find_confiner(Limits(memory_bytes=LIMIT_BYTES))

    with server, server.connect() as connection:
        connection.execute("SET max_parallel_workers_per_gather = 0")
        before = storage_read_bytes(server)
        for _ in range(2):
            connection.execute("SELECT count(*) FROM large")
        read = storage_read_bytes(server) - before
        (size,) = connection.execute("SELECT pg_relation_size('large')").fetchone() or (0,)
        resident = resident_bytes(server.data)
        assert server.confines is not None
        used = server.confines.memory_bytes_max()
        killed = server.confines.killed()

    assert size > LIMIT_BYTES * 1.5
    assert used is not None
    assert 0.8 * LIMIT_BYTES < used <= LIMIT_BYTES + BATCH_BYTES, "it took what it may, and no more"
    assert resident < LIMIT_BYTES, "the host has room for all of it, the server has not"
    assert read > 1.2 * size, "what was displaced is read again"
    assert killed == 0


def test_a_server_is_not_charged_for_programs_that_were_brought_in_before(
    install: Install, make_server: MakeServer, scratch: Path
) -> None:
    # Of its own: servers of other tests have the pages of theirs mapped, which nobody can evict.
    install = replace(install, root=shutil.copytree(install.root, scratch / "install", symlinks=True))
    used = []
    for files in ((), install.program_files):
        server = confined(make_server, install, Limits(memory_bytes=LIMIT_BYTES))
        evict(install.root)
        bring_in(files)
        with server:
            assert server.confines is not None
            used.append(server.confines.memory_bytes_max() or 0)

    not_charged, program_bytes = used[0] - used[1], install.postgres.stat().st_size
    assert not_charged > program_bytes / 4, "what runs of the server alone is more than this"


def test_every_process_of_a_server_is_born_inside_and_the_cgroups_go_with_it(
    any_install: Install, make_server: MakeServer
) -> None:
    core = min(os.sched_getaffinity(0))
    limits = Limits(LIMIT_BYTES, (core,))
    if why := why_unconfined(limits):
        pytest.skip(why)
    # Workers of autovacuum come and go, and one that has gone is in no cgroup.
    server = confined(make_server, any_install, limits, shared_buffers="16MB", autovacuum="off")
    with server, server.connect() as connection:
        await_leaving(connection)
        groups = around(server)
        pids = server.pids()
        inside = [group.pids() for group in groups]
        pids = [pid for pid in pids if processes.state(pid) not in GONE]

        assert connection.info.backend_pid in pids
        for found in inside:
            assert set(pids) <= found
        assert {frozenset(os.sched_getaffinity(pid)) for pid in pids} == {frozenset({core})}
        assert Path(f"/proc/{server.pid}/cmdline").read_bytes().startswith(bytes(any_install.postgres))

    assert made_for(server.data.parent) == set()
    assert server.confines is None


def test_a_server_that_needs_more_loses_a_process_and_this_is_counted(
    install: Install, make_server: MakeServer
) -> None:
    server = confined(make_server, install, Limits(memory_bytes=LIMIT_BYTES), shared_buffers="16MB")
    with server:
        with pytest.raises(psycopg.OperationalError), server.connect() as connection:
            connection.execute("SELECT length(repeat('x', 400000000) || 'y')")
        assert server.confines is not None

        assert server.confines.killed() >= 1
        server.stop("immediate")


def test_a_server_that_does_not_start_leaves_no_cgroup(install: Install, make_server: MakeServer) -> None:
    server = confined(make_server, install, Limits(memory_bytes=LIMIT_BYTES), shared_buffers="16MB")
    (server.data / "PG_VERSION").write_text("1\n")

    with pytest.raises(Exception, match="did not start"):
        server.start()

    assert made_for(server.data.parent) == set()
    assert processes.running_in(server.data) == []


@pytest.mark.parametrize("means", [Means.CGROUP_V1, Means.CGROUP_V2])
def test_a_confined_server_is_frozen_where_it_is_confined_or_beside(
    install: Install, make_server: MakeServer, means: Means
) -> None:
    version = 1 if means is Means.CGROUP_V1 else 2
    if why := cgroups.obstacle(version):
        pytest.skip(why)
    server = confined(make_server, install, Limits(memory_bytes=LIMIT_BYTES), shared_buffers="16MB")
    with make_freezer(means, server) as freezer:
        assert isinstance(freezer, ByCgroup)
        with server:
            groups = around(server)
            freezer.begin()
            freezer.freeze()
            assert freezer.cgroup.is_frozen
            alive = {pid for pid in server.pids() if processes.state(pid) not in GONE}
            assert {frozenset(alive - group.pids()) for group in groups} == {frozenset()}, (
                "it is still confined"
            )
            freezer.thaw()
            server.connect().close()
    assert made_for(server.data.parent) == set()
