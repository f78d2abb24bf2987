"""What goes on around slices, from files as kernels write them, and from the real ones."""

import os
from pathlib import Path

import pytest

from pgverdict.observe.surroundings import Around, around, between, together
from pgverdict.records.host import Surroundings


@pytest.fixture
def root(tmp_path: Path) -> Path:
    pressure = tmp_path / "proc" / "pressure"
    pressure.mkdir(parents=True)
    for kind, total in (("memory", 250), ("io", 1000)):
        (pressure / kind).write_text(
            f"some avg10=1.00 avg60=0.00 avg300=0.00 total={total}\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=7\n"
        )
    for cpu, core, package in ((0, 3, 1), (2, 4, 1)):
        throttle = tmp_path / f"sys/devices/system/cpu/cpu{cpu}/thermal_throttle"
        throttle.mkdir(parents=True)
        (throttle / "core_throttle_count").write_text(f"{core}\n")
        (throttle / "package_throttle_count").write_text(f"{package}\n")
    return tmp_path


def test_waits_are_those_of_anybody_in_ns(root: Path) -> None:
    seen = around([0], root)

    assert (seen.memory_stalled_ns, seen.io_stalled_ns) == (250_000, 1_000_000)


def test_heat_is_that_of_the_cores_asked_for(root: Path) -> None:
    assert around([0], root).throttles == 4
    assert around([0, 2], root).throttles == 9
    assert around([1], root).throttles is None


def test_what_a_host_does_not_count_is_not_nothing(tmp_path: Path) -> None:
    seen = around([0], tmp_path)

    assert (seen.memory_stalled_ns, seen.io_stalled_ns, seen.throttles) == (None, None, None)
    assert between(seen, seen).memory_stalled_ns is None


def test_a_round_is_what_was_counted_between() -> None:
    before, after = Around(100, 10, 5, None, 1), Around(400, 30, 6, 9, 1)

    assert between(before, after) == Surroundings(300, 20, 1, None, 0)


def test_arms_that_worked_one_after_the_other_are_added_up() -> None:
    parts = [Surroundings(300, 20, 1, None, 0), Surroundings(200, 10, 2, 4, None)]

    assert together(parts) == Surroundings(500, 30, 3, None, None)


def test_the_time_of_this_process_is_counted_on_this_host() -> None:
    cpus = os.sched_getaffinity(0)
    before = around(cpus)
    sum(range(100_000))
    after = between(before, around(cpus))

    assert after.own_cpu_ns > 0
    assert after.watched_ns > 0
