"""What the kernel counted for the cores we work on, whoever worked there: in ticks, 10 ms each as a rule.

So coarse that it says little of one slice of 20 ms, and much of the hundreds of slices of a run.
"""

import os
from collections.abc import Collection
from dataclasses import dataclass

from pgverdict.observe.processes import read_at_once

TICK_NS = 1_000_000_000 // os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class CoreTimes:
    """Sums over some cores since the host started. `busy_ns`: at work for anybody, interrupts included.

    `steal_ns`: the core had work, and the hypervisor gave it to another machine.
    """

    busy_ns: int
    steal_ns: int


def core_times(cpus: Collection[int], path: str = "/proc/stat") -> CoreTimes:
    """Of the cores of these numbers; one that is not there (any more) counts nothing."""
    names = {b"cpu%d" % cpu for cpu in cpus}
    busy = steal = 0
    for line in read_at_once(path).splitlines():
        name, *fields = line.split(maxsplit=9)
        if not name.startswith(b"cpu"):
            break  # the cores come first, and the line of interrupts is long
        if name in names:
            user, nice, system, _idle, _iowait, irq, softirq, stolen = map(int, fields[:8])
            busy += user + nice + system + irq + softirq
            steal += stolen
    return CoreTimes(busy * TICK_NS, steal * TICK_NS)
