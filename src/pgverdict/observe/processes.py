"""What the kernel counted for a server's processes: exact at once, cheap enough for every slice boundary."""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from pgverdict.servers.processes import as_owner

_PROC = Path("/proc")
_BYTES_MAX = 1 << 16  # more than any of these files has


def scheduled_ns(pids: Iterable[int]) -> tuple[dict[int, int], dict[int, int]]:
    """Processor time of each process so far, and its time of waiting for a processor while it could have worked.

    From the scheduler's own statistics; ended processes are left out.
    """
    cpu, run_delay = {}, {}
    for pid, text in _read(pids, "schedstat"):
        cpu[pid], run_delay[pid] = map(int, text.split()[:2])
    return cpu, run_delay


def switches(tasks: Iterable[int]) -> tuple[dict[int, int], dict[int, int]]:
    """How often each process or thread gave up its processor so far, and how often the processor was taken from it."""
    voluntary, involuntary = {}, {}
    for task, text in _read(tasks, "status"):
        # One line after the other since 2.6.23; all 60 lines need not be taken apart for two.
        lines = text[text.index(b"\nvoluntary_ctxt_switches:") :].split(maxsplit=4)
        voluntary[task], involuntary[task] = int(lines[1]), int(lines[3])
    return voluntary, involuntary


def threads_of(pid: int) -> tuple[int, ...]:
    """The threads of a process as of now; none if it ended."""
    try:
        return tuple(sorted(int(task.name) for task in (_PROC / str(pid) / "task").iterdir()))
    except FileNotFoundError:
        return ()


def cpu_ns_with_ended(parent: int, pids: Iterable[int]) -> int:
    """Processor time of the processes so far, and of the children of `parent` that ended: what an autovacuum worker
    used counts after its end too, to the kernel's tick of 10 ms."""
    return ended_cpu_ns(parent) + sum(scheduled_ns(pids)[0].values())


def ended_cpu_ns(parent: int) -> int:
    """Processor time of the children of `parent` that ended, in ticks of 10 ms; 0 if it ended itself."""
    ((_, text),) = _read([parent], "stat") or [(parent, b"() " + b"0 " * 50)]
    # The name, in parentheses, may hold blanks; field 3 follows it, and 16 and 17 are of ended children.
    fields = text.rpartition(b")")[2].split()
    return (int(fields[13]) + int(fields[14])) * 1_000_000_000 // os.sysconf("SC_CLK_TCK")


def storage_read_bytes(pids: Iterable[int]) -> dict[int, int]:
    """Bytes each process had fetched from storage so far, reads served by the page cache not counted."""
    found = {}
    for pid, text in _read(pids, "io"):
        fields = dict(line.split(b": ") for line in text.splitlines())
        found[pid] = int(fields[b"read_bytes"])
    return found


def storage_bytes(pids: Iterable[int]) -> tuple[int, int]:
    """Bytes that a server's processes had storage read, and gave it to write, so far.

    The kernel adds an ended process's to those of its parent, so with the postmaster among them nothing is lost.
    """
    read = written = 0
    for _, text in _read(pids, "io"):
        fields = dict(line.split(b": ") for line in text.splitlines())
        read += int(fields[b"read_bytes"])
        written += int(fields[b"write_bytes"])
    return read, written


def has_huge_pages(pid: int) -> bool:
    """Whether any of its memory is in pages that were reserved as huge; False if it ended, too.

    Of a postmaster: whether its shared memory is, whatever release it is.
    """
    for _, text in _read([pid], "status"):
        for line in text.splitlines():
            if line.startswith(b"HugetlbPages:"):
                return int(line.split()[1]) > 0
    return False  # a kernel without them has no such line


def grown(before: Mapping[int, int], after: Mapping[int, int]) -> int:
    """How much the counters of the processes alive at the end grew; one that started in between counts whole.

    >>> grown({1: 10, 2: 5}, {1: 15, 3: 2})
    7
    """
    return sum(count - before.get(pid, 0) for pid, count in after.items())


def _read(pids: Iterable[int], name: str) -> list[tuple[int, bytes]]:
    texts = []
    for pid in pids:
        path = f"{_PROC}/{pid}/{name}"
        try:
            try:
                text = read_at_once(path)
            except PermissionError:
                with as_owner(pid):
                    text = read_at_once(path)
        except (FileNotFoundError, ProcessLookupError):
            continue  # it ended between the listing and the reading
        texts.append((pid, text))
    return texts


def read_at_once(path: str) -> bytes:
    """A small file of the kernel's, in a third of the time that Path.read_text takes."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        return os.read(descriptor, _BYTES_MAX)
    finally:
        os.close(descriptor)
