"""What a container may use: limits of the control groups we are in, of version 1 or 2, the tightest that apply."""

from dataclasses import dataclass
from pathlib import PurePosixPath

from pgverdict.host.advice import Advice, fine, not_known, note, warning
from pgverdict.host.memory import meminfo
from pgverdict.host.tree import Tree, whole
from pgverdict.servers.space import show_bytes

MEMORY_USED_MAX = 0.9
"""Of a memory limit: above, the kernel takes pages back to stay below it."""


_NO_LIMIT = 1 << 62


@dataclass(frozen=True)
class CpuLimit:
    """At most so many cores' time in every period; `throttled` is how often it was used up so far."""

    cores: float
    period_ms: float
    throttled: int | None
    path: str
    """The file that says it."""


@dataclass(frozen=True)
class MemoryLimit:
    bytes: int
    used_bytes: int | None
    path: str


@dataclass(frozen=True)
class Limits:
    """`cpu_shown`, `memory_shown`: whether a control group says anything of it, if only that there is no limit."""

    cpu: CpuLimit | None
    memory: MemoryLimit | None
    cpu_shown: bool
    memory_shown: bool


def read_limits(tree: Tree) -> Limits:
    cpu_groups, memory_groups = _groups(tree, "cpu"), _groups(tree, "memory")
    cpu = [found for group in cpu_groups if (found := _cpu_limit(tree, group))]
    # Version 1 says "no limit" by a number beyond all memory.
    physical = meminfo(tree).get("MemTotal", _NO_LIMIT)
    memory = [
        limit for group in memory_groups if (limit := _memory_limit(tree, group)) and limit.bytes < physical
    ]
    return Limits(
        cpu=min(cpu, key=lambda limit: limit.cores, default=None),
        memory=min(memory, key=lambda limit: limit.bytes, default=None),
        cpu_shown=_any_exists(tree, cpu_groups, "cpu.max", "cpu.cfs_quota_us", "cpu.stat"),
        memory_shown=_any_exists(tree, memory_groups, "memory.max", "memory.limit_in_bytes", "memory.stat"),
    )


def check_cpu_limit(facts: Limits) -> Advice:
    """Whether everybody is stopped when a share of the cores' time is used up."""
    check = "cpu limit"
    if not facts.cpu_shown:
        return not_known(check, "no control group for processors is shown")
    limit = facts.cpu
    if limit is None:
        return fine(check, "none is shown")
    found = f"{limit.cores:g} cores' time in every {limit.period_ms:g} ms"
    if limit.throttled is not None:
        found += f", used up {limit.throttled} times so far"
    why = (
        "once the time of a period is used up, everything in the container stands still until the next one, for"
        " longer than a slice may last: whoever works just then pays, and an arm that uses more cores pays more"
        " often. Neither cancels. Give the container cores of its own instead of a share of all (--cpus)"
    )
    return warning(check, found, why, "docker run --cpuset-cpus=0,1 ...")


def check_memory_limit(facts: Limits) -> Advice:
    """Whether the page cache of the data has to fit into a limit."""
    check = "memory limit"
    if not facts.memory_shown:
        return not_known(check, "no control group for memory is shown")
    limit = facts.memory
    if limit is None:
        return fine(check, "none is shown below what the host has")
    found = show_bytes(limit.bytes)
    if limit.used_bytes is not None:
        found += f", {show_bytes(limit.used_bytes)} of it in use"
    why = (
        "files that were read or written count as used until the kernel takes them back, which it does in the middle"
        " of slices once the limit is near; whose pages go is not ours to say. All arms, and the copies of their"
        " data, have to fit at once: choose a smaller scale, or a higher limit"
    )
    full = limit.used_bytes is not None and limit.used_bytes > MEMORY_USED_MAX * limit.bytes
    return (warning if full else note)(check, found, why, f"docker run --memory={2 * limit.bytes} ...")


def _groups(tree: Tree, controller: str) -> list[str]:
    """The directories of our groups that may have a say about it, the innermost first."""
    found = []
    for line in (tree.text("/proc/self/cgroup") or "").splitlines():
        _, controllers, path = line.split(":", 2)
        if controllers and controller not in controllers.split(","):
            continue
        for mount, root in _mounts(tree, controller if controllers else None):
            # In a container the path may be the host's, and what is mounted is its own group.
            inside = PurePosixPath(path)
            inside = inside.relative_to(root) if inside.is_relative_to(root) else PurePosixPath()
            own = PurePosixPath(mount) / str(inside).lstrip("/")
            if not tree.exists(str(own)):
                own = PurePosixPath(mount)
            steps = [own, *own.parents]
            found += [str(step) for step in steps[: steps.index(PurePosixPath(mount)) + 1]]
    return found


def _any_exists(tree: Tree, groups: list[str], *names: str) -> bool:
    return any(tree.exists(f"{group}/{name}") for group in groups for name in names)


def _mounts(tree: Tree, controller: str | None) -> list[tuple[str, str]]:
    """Where a controller of version 1, or the whole of version 2, is mounted, and which group is the root there."""
    found = []
    for line in (tree.text("/proc/self/mountinfo") or "").splitlines():
        before, _, after = line.partition(" - ")
        kind, _, *options = after.split()
        fields = before.split()
        named = controller is not None and kind == "cgroup" and controller in ",".join(options).split(",")
        if named or (controller is None and kind == "cgroup2"):
            found.append((fields[4], fields[3]))
    return found


def _cpu_limit(tree: Tree, group: str) -> CpuLimit | None:
    if tree.exists(f"{group}/cpu.max"):
        path = f"{group}/cpu.max"
        quota, period = (whole(word) for word in (*(tree.text(path) or "").split(), "", "")[:2])
    else:
        path = f"{group}/cpu.cfs_quota_us"
        quota, period = tree.number(path), tree.number(f"{group}/cpu.cfs_period_us")
    if quota is None or quota < 0 or not period:
        return None
    throttled = None
    for line in (tree.text(f"{group}/cpu.stat") or "").splitlines():
        name, _, value = line.partition(" ")
        if name == "nr_throttled":
            throttled = whole(value)
    return CpuLimit(quota / period, period / 1000, throttled, path)


def _memory_limit(tree: Tree, group: str) -> MemoryLimit | None:
    for limit, used in (("memory.max", "memory.current"), ("memory.limit_in_bytes", "memory.usage_in_bytes")):
        if (most := tree.number(f"{group}/{limit}")) is not None:
            return MemoryLimit(most, tree.number(f"{group}/{used}"), f"{group}/{limit}")
    return None
