"""Which core a client and its backend share."""

import dataclasses
import os

from pgverdict.conduct.placement import Placement, choose_pinning, pin_backends, place
from pgverdict.spec.campaign import Pinning
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


def test_no_workload_of_the_catalogue_has_workers() -> None:
    assert not any(catalogue.workload(name).has_workers for name in catalogue.names())
