"""Which core a client and its backend share."""

import dataclasses
import os
import subprocess

import pytest

from pgverdict.conduct.placement import (
    Placement,
    choose_event_loop,
    choose_pinning,
    keep_engine,
    pin_backends,
    place,
    require_cores,
)
from pgverdict.errors import UserError
from pgverdict.spec.campaign import EventLoop, Pinning
from pgverdict.workloads import catalogue


def test_there_are_never_more_threads_than_clients_or_cores() -> None:
    assert place(1).threads == 1
    assert place(1000).threads == len(place(1000).cpus)


def test_a_client_its_thread_and_its_backend_share_a_core() -> None:
    placement = Placement(threads=2, cpus=(4, 6))

    assert [placement.cpu_of(client) for client in range(4)] == [4, 6, 4, 6]


def test_placed_freely_the_engine_pins_nothing_and_may_use_every_core() -> None:
    free = place(1, Pinning.FREE)

    assert free.engine_cpus is None
    assert set(free.cpus) == os.sched_getaffinity(0)
    assert free.threads == place(1).threads
    assert place(1).engine_cpus == place(1).cpus


def test_a_backend_that_is_placed_freely_keeps_its_cores() -> None:
    before = os.sched_getaffinity(0)

    pin_backends(place(1, Pinning.FREE), [os.getpid()])

    assert os.sched_getaffinity(0) == before


def test_a_workload_that_other_processes_may_work_for_is_never_pinned() -> None:
    plain = catalogue.workload("select-only")
    parallel = dataclasses.replace(plain, has_workers=True)

    assert choose_pinning(Pinning.PINNED, parallel) is Pinning.FREE
    assert choose_pinning(Pinning.PINNED, plain) is Pinning.PINNED
    assert choose_pinning(Pinning.FREE, plain) is Pinning.FREE


def test_only_long_work_of_the_catalogue_has_workers() -> None:
    workloads = [catalogue.workload(name) for name in catalogue.names()]

    assert [one.name for one in workloads if one.has_workers and not one.is_long] == []


def test_servers_confined_to_cores_share_them_with_the_engine() -> None:
    placement = place(1000, cores=(2, 5))

    assert placement == Placement(2, (2, 5))
    assert placement.engine_cpus == placement.all_cpus == (2, 5)
    assert place(1, cores=(2, 5)).cpus == (2,)


def test_an_engine_with_cores_of_its_own_leaves_those_of_the_servers_alone() -> None:
    placement = place(3, cores=(0, 1), engine_cores=(4,))

    assert (placement.threads, placement.engine_cpus, placement.all_cpus) == (1, (4,), (0, 1, 4))
    assert [placement.cpu_of(client) for client in range(3)] == [0, 1, 0]
    assert dict(placement.facts()) == {
        "placement": "pinned",
        "threads": "1",
        "cpus": "0,1",
        "engine_cpus": "4",
    }


def test_an_engine_that_pins_nothing_is_kept_on_its_own_cores_as_a_whole() -> None:
    core = min(os.sched_getaffinity(0))
    placement = place(1, Pinning.FREE, cores=(core + 1,), engine_cores=(core,))
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE) as engine:
        keep_engine(placement, engine.pid)

        assert placement.engine_cpus is None
        assert os.sched_getaffinity(engine.pid) == {core}


def test_cores_that_the_host_does_not_have_are_named_with_those_it_has() -> None:
    require_cores(tuple(sorted(os.sched_getaffinity(0))), "--cores")
    require_cores(None, "--cores")

    with pytest.raises(
        UserError, match="no such cores here, or none that we may use: --cores 8000-8001"
    ) as caught:
        require_cores((8000, 8001), "--cores")
    assert (caught.value.hint or "").startswith("these there are: ")


def test_the_engine_waits_as_wished_unless_a_server_is_somebody_elses() -> None:
    for wish in EventLoop:
        assert choose_event_loop(wish, outside=False) is wish
        assert choose_event_loop(wish, outside=True) is EventLoop.EPOLL
