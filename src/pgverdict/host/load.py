"""What else the host does: who else works, what the hypervisor takes, who waits for what.

Two looks, some time apart, make a load:

    first = look(tree)
    ...
    load = load_between(first, look(tree))
"""

import os
import re
import time
from dataclasses import dataclass

from pgverdict.host.advice import Advice, fine, not_known, note, warning
from pgverdict.host.tree import Tree

_TICKS = os.sysconf("SC_CLK_TCK")

PROCESS_SHARE = 0.05
"""Of one core: a process that takes more is named. A round scatters by 1 % where all is quiet; so much of a core's
time, if it falls on one arm, is more than that."""

OTHERS_SHARE_MAX = 0.05
"""Of all cores: with more, others are there in most of the slices of a round."""

STEAL_SHARE_MAX = 0.01
"""Of all cores: a usual margin."""

PRESSURE_MAX = {"cpu": 0.10, "memory": 0.01, "io": 0.10}
"""Of the last ten seconds, in which somebody waited for it. For memory nobody should ever wait."""

_WAITS_FOR = {"cpu": "a core", "memory": "memory", "io": "a disk"}


@dataclass(frozen=True)
class Process:
    """A process and its processor time so far. `unit`: the service it belongs to; empty if to none."""

    pid: int
    name: str
    cpu_s: float
    unit: str


@dataclass(frozen=True)
class Look:
    """Sums since the host started, in seconds; of all cores."""

    at_s: float
    cores: int
    busy_s: float
    """At work for anybody, interrupts included: also for processes that are not shown, as in containers."""
    steal_s: float | None
    processes: dict[int, Process]
    pressure: dict[str, float]
    """Of cpu, memory, io: the share of the last ten seconds. Empty where the kernel does not count it."""


@dataclass(frozen=True)
class Load:
    """Between two looks; shares of the time of one core (`processes`), or of all (`others`, `steal`)."""

    processes: tuple[tuple[Process, float], ...]
    """Those that are shown, the largest first."""
    others: float
    steal: float | None
    pressure: dict[str, float]


def look(tree: Tree) -> Look:
    """Once. A process that ends meanwhile is left out."""
    lines = [line.split() for line in (tree.text("/proc/stat") or "").splitlines() if line.startswith("cpu")]
    # user, nice, system, idle, iowait, irq, softirq, and steal since Linux 2.6.11: in ticks, of all cores.
    ticks = [int(field) for field in lines[0][1:9]] if lines else []
    processes = (_process(tree, int(name)) for name in tree.names("/proc", "[0-9]*"))
    return Look(
        at_s=time.monotonic(),
        cores=max(1, len(lines) - 1),
        busy_s=(sum(ticks[:3]) + sum(ticks[5:7])) / _TICKS,
        steal_s=ticks[7] / _TICKS if len(ticks) > 7 else None,
        processes={process.pid: process for process in processes if process is not None},
        pressure={kind: share for kind in PRESSURE_MAX if (share := _pressure(tree, kind)) is not None},
    )


def load_between(before: Look, after: Look, own: int | None = None) -> Load:
    """What the others did; the process `own` does not count. One that started in between counts whole."""
    seconds = after.at_s - before.at_s
    shares = []
    for pid, process in after.processes.items():
        earlier = before.processes.get(pid)
        shares.append((process, max(0.0, process.cpu_s - (earlier.cpu_s if earlier else 0.0)) / seconds))
    ours = sum(share for process, share in shares if process.pid == own)
    busy = (after.busy_s - before.busy_s) / seconds
    steal = None
    if before.steal_s is not None and after.steal_s is not None:
        steal = (after.steal_s - before.steal_s) / seconds / after.cores
    return Load(
        processes=tuple(sorted((s for s in shares if s[0].pid != own), key=lambda s: -s[1])),
        others=max(0.0, busy - ours) / after.cores,
        steal=steal,
        pressure=after.pressure,
    )


def check_others(facts: Load) -> Advice:
    """Whether other processes work on this host."""
    check = "other processes"
    found = f"{_percent(facts.others)} of all cores"
    busy = [(process, share) for process, share in facts.processes if share >= PROCESS_SHARE]
    if facts.others < OTHERS_SHARE_MAX and not busy:
        return fine(check, found)
    named = ", ".join(f"{one.name} ({one.pid}) {_percent(share)} of a core" for one, share in busy[:5])
    why = (
        "they take their time out of whichever slice they meet. In the long run that hits all arms alike, but rounds"
        " scatter by it; and a client and its server share one core, where somebody else costs them most"
    )
    say = warning if facts.others >= OTHERS_SHARE_MAX else note
    named = named or "nobody with much, or nobody who is shown"
    return say(check, f"{found}: {named}", why, _command_about([process for process, _ in busy]))


def _command_about(busy: list[Process]) -> str:
    """Services are stopped; of others it is not known what they are for, so they are only shown."""
    if units := sorted({process.unit for process in busy if process.unit}):
        return f"sudo systemctl stop {' '.join(units)}"
    if busy:
        return f"ps -o pid,user,pcpu,etime,args -p {','.join(str(process.pid) for process in busy)}"
    return "top -b -n 1 | head -20"


def check_steal(facts: Load) -> Advice:
    """Whether the hypervisor gives our cores to others."""
    check = "steal"
    if facts.steal is None:
        return not_known(check, "this kernel does not count it")
    found = f"{_percent(facts.steal)} of all cores"
    if facts.steal < STEAL_SHARE_MAX:
        return fine(check, found)
    why = (
        "another machine on the same hardware had the cores while ours had work for them: slices are hit as it"
        " comes, and rounds scatter. No command on this machine helps; one with cores of its own does, or another"
        " hour"
    )
    return warning(check, found, why)


def check_pressure(facts: Load) -> Advice:
    """Whether processes wait for what they all want."""
    check = "pressure"
    if not facts.pressure:
        why = "waits for cores, memory and disks are then not known in rounds either. Boot with psi=1"
        return not_known(check, "this kernel does not count who waits (no /proc/pressure)", why)
    found = ", ".join(f"{kind} {_percent(share)}" for kind, share in facts.pressure.items())
    found += " of the last ten seconds"
    over = [kind for kind, share in facts.pressure.items() if share > PRESSURE_MAX[kind]]
    if not over:
        return fine(check, found)
    waited = " and for ".join(_WAITS_FOR[kind] for kind in over)
    why = (
        f"processes on this host had to wait for {waited} without us: a server that needs the same waits with them,"
        " in the slices where it needs it, so it does not cancel pair by pair"
    )
    return warning(check, found, why, "grep . /proc/pressure/*")


def _process(tree: Tree, pid: int) -> Process | None:
    content = tree.text(f"/proc/{pid}/stat")
    if content is None:
        return None
    # The name, in brackets, may hold anything; field 3 follows it, 14 and 15 are user and system time.
    head, _, rest = content.rpartition(")")
    fields = rest.split()
    cpu_s = (int(fields[11]) + int(fields[12])) / _TICKS
    return Process(pid, head.partition("(")[2], cpu_s, _unit(tree, pid))


def _unit(tree: Tree, pid: int) -> str:
    units = re.findall(r"([^/\n]+\.service)(?:/|$)", tree.text(f"/proc/{pid}/cgroup") or "", re.MULTILINE)
    # A user's own services are below user@1000.service, which is not to be stopped for one of them.
    return units[-1] if units and not any(unit.startswith("user@") for unit in units) else ""


def _pressure(tree: Tree, kind: str) -> float | None:
    found = re.search(r"^some avg10=([\d.]+)", tree.text(f"/proc/pressure/{kind}") or "", re.MULTILINE)
    return float(found[1]) / 100 if found else None


def _percent(share: float) -> str:
    return f"{share * 100:.1f} %"
