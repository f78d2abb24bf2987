"""What the host is, as it says itself."""

import os
import platform
from pathlib import Path


def host_facts() -> tuple[tuple[str, str], ...]:
    """Name to value; stored with every run."""
    system = platform.uname()
    return (
        ("name", host_name()),
        ("system", f"{system.system} {system.release}"),
        ("machine", system.machine),
        ("processor", _processor()),
        ("cores", str(len(os.sched_getaffinity(0)))),
        ("memory_bytes", str(memory_bytes("MemTotal"))),
        ("python", platform.python_version()),
    )


def host_name() -> str:
    """What the host calls itself."""
    return platform.node()


def memory_bytes(field: str) -> int:
    """A line of /proc/meminfo in bytes: MemTotal, MemAvailable, Dirty, Writeback ..."""
    for line in Path("/proc/meminfo").read_text().splitlines():
        name, _, rest = line.partition(":")
        if name == field:
            return int(rest.split()[0]) * 1024
    raise KeyError(field)


def memory_available_bytes() -> int:
    """What may still be used: of the host, or of the container this process is in, whichever is less."""
    return _limited(memory_bytes("MemAvailable"))


def memory_total_bytes() -> int:
    """What there is: of the host, or of the container this process is in, whichever is less."""
    return _limited(memory_bytes("MemTotal"))


def _limited(available: int) -> int:
    for limit in _CGROUP_LIMITS:
        try:
            text = limit.read_text().strip()
        except OSError:
            continue
        if text.isdigit():
            available = min(available, int(text))
    return available


# In a container these are its own; on a bare host version 2 has none at the root, and version 1 a huge number.
_CGROUP_LIMITS = (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"))


def _processor() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        name, _, value = line.partition(":")
        if name.strip() == "model name":
            return value.strip()
    return "unknown"
