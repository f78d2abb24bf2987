"""What the kernel counts for processes, read from real ones."""

import contextlib
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgverdict.observe import processes
from pgverdict.observe.processes import (
    cpu_ns_with_ended,
    grown,
    has_huge_pages,
    scheduled_ns,
    storage_read_bytes,
    switches,
    threads_of,
)

counters = st.dictionaries(st.integers(1, 9), st.integers(0, 1000))


def test_work_done_shows_in_the_processor_time() -> None:
    before, _ = scheduled_ns([os.getpid()])
    sum(range(2_000_000))
    after, _ = scheduled_ns([os.getpid()])

    assert grown(before, after) > 1_000_000


def test_waiting_for_a_processor_that_another_uses_shows_as_delay() -> None:
    """Two processes that begin to count together, on one core, must wait for each other."""
    core = min(os.sched_getaffinity(0))
    count = "import sys; sys.stdin.readline(); sum(range(10_000_000)); print(flush=True); sys.stdin.read()"
    counting = ["taskset", "-c", str(core), sys.executable, "-c", count]
    with contextlib.ExitStack() as stack:
        both = [
            stack.enter_context(subprocess.Popen(counting, stdin=subprocess.PIPE, stdout=subprocess.PIPE))
            for _ in range(2)
        ]
        for one in both:
            assert one.stdin is not None
            one.stdin.write(b"\n")
            one.stdin.flush()
        for one in both:
            assert one.stdout is not None
            one.stdout.readline()
        pids = [one.pid for one in both]
        cpu, run_delay = scheduled_ns(pids)
        _, involuntary = switches(pids)
        for one in both:
            one.communicate()

    assert max(run_delay.values()) > min(cpu.values()) / 4
    assert max(involuntary.values()) > 0


def test_a_process_that_sleeps_gives_up_its_processor() -> None:
    naps = "import time, sys; [time.sleep(0.001) for _ in range(20)]; print(); sys.stdin.read()"
    with subprocess.Popen(
        [sys.executable, "-c", naps], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as child:
        assert child.stdout is not None
        child.stdout.readline()
        voluntary, _ = switches([child.pid])
        child.communicate()

    assert voluntary[child.pid] >= 20


def test_every_thread_is_counted() -> None:
    end = threading.Event()
    threads = [threading.Thread(target=end.wait) for _ in range(3)]
    before = threads_of(os.getpid())
    for thread in threads:
        thread.start()
    during = threads_of(os.getpid())
    end.set()
    for thread in threads:
        thread.join()

    assert set(during) - set(before) == {thread.native_id for thread in threads}
    assert threads_of(2**22 + 1) == ()


def test_an_ended_process_is_left_out() -> None:
    child = subprocess.Popen(["true"])
    child.wait()

    assert scheduled_ns([child.pid]) == ({}, {})
    assert switches([child.pid]) == ({}, {})
    assert storage_read_bytes([child.pid]) == {}


def test_huge_pages_are_those_of_the_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not has_huge_pages(os.getpid())

    lines = {
        1: "VmSwap:\t 0 kB\nHugetlbPages:\t  563200 kB\n",
        2: "HugetlbPages:\t       0 kB\n",
        3: "VmSwap:\t 0 kB\n",
    }
    for pid, text in lines.items():
        (tmp_path / str(pid)).mkdir()
        (tmp_path / str(pid) / "status").write_text(text)
    monkeypatch.setattr(processes, "_PROC", tmp_path)
    assert [has_huge_pages(pid) for pid in (1, 2, 3, 4)] == [True, False, False, False]


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
