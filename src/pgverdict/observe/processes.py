"""What the kernel counted for a server's processes: exact at once, cheap enough for every slice boundary."""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from pgverdict.servers.processes import as_owner

_PROC = Path("/proc")


def cpu_ns(pids: Iterable[int]) -> dict[int, int]:
    """Processor time of each process so far, from the scheduler's own statistics; ended processes are left out."""
    return {pid: int(text.split(maxsplit=1)[0]) for pid, text in _read(pids, "schedstat")}


def cpu_ns_with_ended(parent: int, pids: Iterable[int]) -> int:
    """Processor time of the processes so far, and of the children of `parent` that ended: what an autovacuum worker
    used counts after its end too, to the kernel's tick of 10 ms."""
    ((_, text),) = _read([parent], "stat") or [(parent, "() " + "0 " * 50)]
    # The name, in parentheses, may hold blanks; field 3 follows it, and 16 and 17 are of ended children.
    fields = text.rpartition(")")[2].split()
    ended_ns = (int(fields[13]) + int(fields[14])) * 1_000_000_000 // os.sysconf("SC_CLK_TCK")
    return ended_ns + sum(cpu_ns(pids).values())


def storage_read_bytes(pids: Iterable[int]) -> dict[int, int]:
    """Bytes each process had fetched from storage so far, reads served by the page cache not counted."""
    found = {}
    for pid, text in _read(pids, "io"):
        fields = dict(line.split(": ") for line in text.splitlines())
        found[pid] = int(fields["read_bytes"])
    return found


def grown(before: Mapping[int, int], after: Mapping[int, int]) -> int:
    """How much the counters of the processes alive at the end grew; one that started in between counts whole.

    >>> grown({1: 10, 2: 5}, {1: 15, 3: 2})
    7
    """
    return sum(count - before.get(pid, 0) for pid, count in after.items())


def _read(pids: Iterable[int], name: str) -> list[tuple[int, str]]:
    texts = []
    for pid in pids:
        path = _PROC / str(pid) / name
        try:
            try:
                text = path.read_text()
            except PermissionError:
                with as_owner(pid):
                    text = path.read_text()
        except (FileNotFoundError, ProcessLookupError):
            continue  # it ended between the listing and the reading
        texts.append((pid, text))
    return texts
