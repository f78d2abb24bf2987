"""What the kernel counts for processes, read from real ones."""

import os
import subprocess
import sys
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from pgverdict.observe.processes import cpu_ns, cpu_ns_with_ended, grown, storage_read_bytes

counters = st.dictionaries(st.integers(1, 9), st.integers(0, 1000))


def test_work_done_shows_in_the_processor_time() -> None:
    before = cpu_ns([os.getpid()])
    sum(range(2_000_000))
    after = cpu_ns([os.getpid()])

    assert grown(before, after) > 1_000_000


def test_an_ended_process_is_left_out() -> None:
    child = subprocess.Popen(["true"])
    child.wait()

    assert cpu_ns([child.pid]) == {}
    assert storage_read_bytes([child.pid]) == {}


def test_what_a_child_used_counts_after_its_end() -> None:
    before = cpu_ns_with_ended(os.getpid(), [])
    subprocess.run([sys.executable, "-c", "sum(range(5_000_000))"], check=True)

    assert cpu_ns_with_ended(os.getpid(), []) - before > 20_000_000


def test_reads_from_memory_are_no_reads_from_storage() -> None:
    here = Path(__file__)
    here.read_bytes()
    before = storage_read_bytes([os.getpid()])
    here.read_bytes()

    assert grown(before, storage_read_bytes([os.getpid()])) == 0


@given(before=counters, more=counters)
def test_growth_is_the_sum_over_processes_that_are_there_at_the_end(
    before: dict[int, int], more: dict[int, int]
) -> None:
    after = {pid: before.get(pid, 0) + count for pid, count in more.items()}

    assert grown(before, after) == sum(more.values())
