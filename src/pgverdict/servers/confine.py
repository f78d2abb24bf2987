"""Confining a server: it and all it starts are born in cgroups that allow so much memory and these cores.

    confiner = find_confiner(Limits(memory_bytes=2 << 30, cores=(0, 1)))   # WorldError where that cannot be had
    confines = confiner.make(data)
    confines.take_in(pid)
    confines.memory_bytes_max()
    confines.remove()

What counts as memory is what the kernel charges: the pages of the processes, shared memory, and the page cache of
files they were the first to read. What somebody else has brought into the page cache stays charged to them, and
would be memory for nothing: `datasets.page_cache` evicts it first.

Version 1 has a tree for each controller, and a cgroup of ours in each that is needed, below the one we are in. In
version 2 a cgroup with processes hands no controllers down, so ours is made in the nearest cgroup around us that does.
"""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from pgverdict.errors import WorldError
from pgverdict.servers.cgroups import MARK, Cgroup, Hierarchy, cgroup_for, hierarchies
from pgverdict.spec.confinement import Limits, core_numbers, spell_cores, spell_size

_PROC = Path("/proc")

_HINT = (
    "run as root on a host whose cgroups have the controllers memory and cpuset; or, for memory, in"
    " `systemd-run --user --scope -p Delegate=yes`; or leave out {options}"
)

_MEMORY_MAX = {1: "memory.limit_in_bytes", 2: "memory.max"}
_MEMORY_PEAK = {1: "memory.max_usage_in_bytes", 2: "memory.peak"}
_MEMORY_EVENTS = {1: "memory.oom_control", 2: "memory.events"}


class Confines:
    """The cgroups of one server. Made before it starts, removed after it has ended."""

    def __init__(self, cgroups: Mapping[str, Cgroup]) -> None:
        self._cgroups = cgroups

    def take_in(self, pid: int) -> None:
        """Move a process here; what it starts from now on is born here."""
        for group in set(self._cgroups.values()):
            group.take_in(pid)

    def memory_bytes_max(self) -> int | None:
        """The most it used so far; None where memory has no limit, or the kernel does not say (v2 before 5.19)."""
        group = self._cgroups.get("memory")
        if group is None or not group.has(_MEMORY_PEAK[group.version]):
            return None
        return int(group.read(_MEMORY_PEAK[group.version]))

    def killed(self) -> int:
        """How many processes the kernel killed because their memory did not suffice."""
        group = self._cgroups.get("memory")
        if group is None:
            return 0
        counts = dict(line.split() for line in group.read(_MEMORY_EVENTS[group.version]).splitlines())
        return int(counts.get("oom_kill", 0))

    def remove(self) -> None:
        """Of a server that has ended; WorldError if something it started has not."""
        for group in set(self._cgroups.values()):
            group.remove()


@dataclass(frozen=True)
class Confiner:
    """How servers are confined on this host. `homes`: by controller, the cgroup below which ours are made."""

    limits: Limits
    homes: tuple[tuple[str, Cgroup], ...]

    def make(self, data: Path) -> Confines:
        """The confines of the server on a data directory, with their limits. What a killed one left is removed."""
        return self._make({controller: cgroup_for(data, home) for controller, home in self.homes})

    def cgroup(self, data: Path, version: int) -> Cgroup | None:
        """Where that server is in the tree of this version; None where confining it needs no cgroup there.

        In version 2 a process is in one cgroup, so whoever freezes it has to do it there.
        """
        found = (cgroup_for(data, home) for _, home in self.homes if home.version == version == 2)
        return next(found, None)

    def try_out(self) -> None:
        """Make confines and remove them again. WorldError if the host does not allow these limits."""
        name = f"{MARK}trial-{os.getpid()}"
        self._make({c: Cgroup(home.path / name, home.version) for c, home in self.homes}).remove()

    def _make(self, cgroups: Mapping[str, Cgroup]) -> Confines:
        confines = Confines(cgroups)
        confines.remove()
        try:
            for group in set(cgroups.values()):
                _mkdir(group)
            for controller, group in cgroups.items():
                _LIMIT[controller](group, self.limits)
        except BaseException:
            confines.remove()
            raise
        return confines


def find_confiner(limits: Limits, proc: Path = _PROC) -> Confiner | None:
    """How this host confines servers to these limits, tried out; None where there are none, WorldError if it cannot."""
    needed = [
        name
        for name, limit in (("memory", limits.memory_bytes), ("cpuset", limits.cores))
        if limit is not None
    ]
    if not needed:
        return None
    try:
        confiner = Confiner(limits, tuple(_homes(needed, hierarchies(proc), proc).items()))
        confiner.try_out()
    except WorldError as error:
        options = _options(limits)
        raise WorldError(
            f"cannot confine servers ({options}): {error.message}", hint=_HINT.format(options=options)
        ) from error
    return confiner


def _options(limits: Limits) -> str:
    """What the user said."""
    said = []
    if limits.memory_bytes is not None:
        said.append(f"--memory {spell_size(limits.memory_bytes)}")
    if limits.cores is not None:
        said.append(f"--cores {spell_cores(limits.cores)}")
    return " ".join(said)


def _homes(needed: Iterable[str], trees: list[Hierarchy], proc: Path) -> dict[str, Cgroup]:
    """Where ours are made, by controller. A controller is in the tree of version 1 that has it, else in version 2."""
    old = {controller: tree for tree in trees if tree.version == 1 for controller in tree.controllers}
    homes: dict[str, Cgroup] = {}
    for controller in needed:
        if controller in old:
            home = old[controller].cgroup_of("self", proc)
            if home is None:
                raise WorldError(f"our cgroup lies outside of what is mounted at {old[controller].mount}")
            homes[controller] = home
    if unified := [controller for controller in needed if controller not in old]:
        tree = next((tree for tree in trees if tree.version == 2), None)
        if tree is None:
            raise WorldError(f"no cgroups with the controller {' and '.join(unified)} are mounted")
        homes |= dict.fromkeys(unified, _unified_home(tree, unified, proc))
    return homes


def _unified_home(tree: Hierarchy, needed: list[str], proc: Path) -> Cgroup:
    """The nearest cgroup around us that hands the controllers down; if none does, the nearest that can be told to."""
    here = tree.cgroup_of("self", proc)
    if here is None:
        raise WorldError(f"our cgroup lies outside of what is mounted at {tree.mount}")
    around = [Cgroup(path, 2) for path in (here.path, *here.path.parents) if path.is_relative_to(tree.mount)]
    reasons: list[str] = []
    for may_change in (False, True):
        reasons = []
        for place in around:
            reason = _obstacle(place, set(needed), may_change=may_change)
            if reason is None:
                return place
            reasons.append(reason)
    raise WorldError("; ".join(dict.fromkeys(reasons)))


def _obstacle(place: Cgroup, needed: set[str], *, may_change: bool) -> str | None:
    """Why no cgroup with these controllers can be made in a cgroup of version 2; None if one can."""
    try:
        if missing := needed - set(place.read("cgroup.controllers").split()):
            return f"{place.path} has no controller {' and '.join(sorted(missing))}"
        if wanted := needed - set(place.read("cgroup.subtree_control").split()):
            if not may_change:
                return f"{place.path} does not hand down {' and '.join(sorted(wanted))}"
            place.write("cgroup.subtree_control", " ".join(f"+{name}" for name in sorted(wanted)))
        trial = Cgroup(place.path / f"{MARK}trial-{os.getpid()}", 2)
        _mkdir(trial)
        trial.remove()
        # To move a process, one must be allowed to in what is around its old and its new cgroup.
        with (place.path / "cgroup.procs").open("a"):
            return None
    except WorldError as error:
        return error.message
    except OSError as error:
        return f"may not move processes in {place.path}: {error.strerror}"


def _mkdir(group: Cgroup) -> None:
    try:
        group.path.mkdir(exist_ok=True)
    except OSError as error:
        raise WorldError(f"cannot make the cgroup {group.path}: {error.strerror}") from error


def _limit_memory(group: Cgroup, limits: Limits) -> None:
    assert limits.memory_bytes is not None
    for outer in group.path.parents:
        above = Cgroup(outer, group.version)
        if above.has(_MEMORY_MAX[group.version]):
            text = above.read(_MEMORY_MAX[group.version]).strip()
            if text != "max" and int(text) < limits.memory_bytes:
                raise WorldError(f"the cgroup {outer} itself has no more than {int(text) >> 20}MB of memory")
    group.write(_MEMORY_MAX[group.version], str(limits.memory_bytes))
    # No swap: what does not fit is to be read from the data directory again, and from nowhere else.
    if group.version == 2:
        if group.has("memory.swap.max"):
            group.write("memory.swap.max", "0")
    elif group.has("memory.memsw.limit_in_bytes"):
        group.write("memory.memsw.limit_in_bytes", str(limits.memory_bytes))
    else:
        group.write("memory.swappiness", "0")


def _limit_cores(group: Cgroup, limits: Limits) -> None:
    assert limits.cores is not None
    if group.version == 1:
        # Both are empty at first, and nobody gets in before both are said.
        around = Cgroup(group.path.parent, 1)
        group.write("cpuset.mems", around.read("cpuset.mems").strip())
    group.write("cpuset.cpus", spell_cores(limits.cores))
    if group.version == 2:
        # Version 2 accepts any, and then gives what there is.
        effective = group.read("cpuset.cpus.effective").strip()
        if not effective or core_numbers(effective) != limits.cores:
            raise WorldError(f"the cgroups around {group.path} allow it no cores but {effective}")


_LIMIT = {"memory": _limit_memory, "cpuset": _limit_cores}
