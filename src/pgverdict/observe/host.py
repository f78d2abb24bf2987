"""What the host is, as it says itself."""

import os
import platform
from pathlib import Path


def host_facts() -> tuple[tuple[str, str], ...]:
    """Name to value; stored with every run."""
    system = platform.uname()
    return (
        ("name", system.node),
        ("system", f"{system.system} {system.release}"),
        ("machine", system.machine),
        ("processor", _processor()),
        ("cores", str(len(os.sched_getaffinity(0)))),
        ("memory_bytes", str(memory_bytes("MemTotal"))),
        ("python", platform.python_version()),
    )


def memory_bytes(field: str) -> int:
    """A line of /proc/meminfo in bytes: MemTotal, MemAvailable, Dirty, Writeback ..."""
    for line in Path("/proc/meminfo").read_text().splitlines():
        name, _, rest = line.partition(":")
        if name == field:
            return int(rest.split()[0]) * 1024
    raise KeyError(field)


def _processor() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        name, _, value = line.partition(":")
        if name.strip() == "model name":
            return value.strip()
    return "unknown"
