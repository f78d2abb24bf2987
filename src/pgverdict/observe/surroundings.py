"""What goes on around the slices of a round, on the whole host: read once before them and once after them."""

import time
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path

from pgverdict.records.host import Surroundings

_ROOT = Path("/")


@dataclass(frozen=True)
class Around:
    """Counters so far; None where the host does not count."""

    at_ns: int
    own_cpu_ns: int
    memory_stalled_ns: int | None
    io_stalled_ns: int | None
    throttles: int | None


def around(cpus: Collection[int], root: Path = _ROOT) -> Around:
    """Now; `cpus` are the placement's. Two small files, and two more for each core that counts its heat."""
    return Around(
        at_ns=time.monotonic_ns(),
        own_cpu_ns=time.process_time_ns(),
        memory_stalled_ns=_stalled_ns(root / "proc/pressure/memory"),
        io_stalled_ns=_stalled_ns(root / "proc/pressure/io"),
        throttles=_throttles(cpus, root),
    )


def between(before: Around, after: Around) -> Surroundings:
    """What was counted from one to the other."""
    return Surroundings(
        watched_ns=after.at_ns - before.at_ns,
        own_cpu_ns=after.own_cpu_ns - before.own_cpu_ns,
        memory_stalled_ns=_grown(before.memory_stalled_ns, after.memory_stalled_ns),
        io_stalled_ns=_grown(before.io_stalled_ns, after.io_stalled_ns),
        throttles=_grown(before.throttles, after.throttles),
    )


def together(parts: Collection[Surroundings]) -> Surroundings:
    """Of a round whose arms worked one after the other."""
    return Surroundings(
        watched_ns=sum(part.watched_ns for part in parts),
        own_cpu_ns=sum(part.own_cpu_ns for part in parts),
        memory_stalled_ns=_sum(part.memory_stalled_ns for part in parts),
        io_stalled_ns=_sum(part.io_stalled_ns for part in parts),
        throttles=_sum(part.throttles for part in parts),
    )


def _sum(counts: Iterable[int | None]) -> int | None:
    """None if one of them is."""
    total = 0
    for count in counts:
        if count is None:
            return None
        total += count
    return total


def _grown(before: int | None, after: int | None) -> int | None:
    return None if before is None or after is None else after - before


def _stalled_ns(path: Path) -> int | None:
    """The total of the line "some", which the kernel has in microseconds."""
    try:
        text = path.read_text()
    except OSError:
        return None  # no pressure stall information: not compiled in, or off (psi=0)
    some = text.partition("\n")[0]
    assert some.startswith("some "), text
    return int(some.rpartition("total=")[2]) * 1000


def _throttles(cpus: Collection[int], root: Path) -> int | None:
    """Of these cores, and of what they share with others, which counts once for each of them."""
    found = []
    for cpu in cpus:
        directory = root / f"sys/devices/system/cpu/cpu{cpu}/thermal_throttle"
        for whose in ("core", "package"):
            try:
                found.append(int((directory / f"{whose}_throttle_count").read_text()))
            except OSError:
                continue  # only Intel's processors count, and virtual ones do not show it
    return sum(found) if found else None
