"""What the kernel counts for cores, from files as it writes them, and from the real one."""

import os
from pathlib import Path

import pytest

from pgverdict.observe.cores import TICK_NS, CoreTimes, core_times

STAT = """cpu  60 12 70 900 30 5 7 9 0 0
cpu0 10 2 20 400 10 1 3 4 0 0
cpu1 20 3 20 300 10 2 2 2 0 0
cpu10 30 7 30 200 10 2 2 3 9 9
intr 15108963 0 1
"""


@pytest.fixture
def stat(tmp_path: Path) -> str:
    path = tmp_path / "stat"
    path.write_text(STAT)
    return str(path)


def test_work_of_all_kinds_is_summed_over_the_cores_asked_for(stat: str) -> None:
    assert core_times([0], stat) == CoreTimes(36 * TICK_NS, 4 * TICK_NS)
    assert core_times([0, 10], stat) == CoreTimes((36 + 71) * TICK_NS, 7 * TICK_NS)


def test_a_core_that_is_not_there_counts_nothing(stat: str) -> None:
    assert core_times([2], stat) == CoreTimes(0, 0)


def test_the_kernel_of_this_host_counts_its_cores() -> None:
    cpus = os.sched_getaffinity(0)
    before = core_times(cpus)
    after = core_times(cpus)

    assert after.busy_ns >= before.busy_ns > 0
    assert before.busy_ns % TICK_NS == 0
