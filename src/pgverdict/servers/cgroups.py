"""Cgroups of ours: made for a server, frozen, thawed, and removed whoever made them.

Two kinds can freeze: the freezer of version 1, and version 2, which hosts that still use version 1 often have
beside it (the "unified" mount). What else cgroups do for us is in `confine`. A cgroup of ours is known by its
name, which says for which directory it was made, in whatever tree; so remains are found from the directory
alone, as servers are (`processes`).

SIGKILL does not reach a process in a frozen cgroup of version 1 before it is thawed, hence `thaw_around`:
whoever ends servers calls it first.

Standard library only: the supervisor's process imports this.
"""

import contextlib
import errno
import hashlib
import os
import re
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from pgverdict.errors import WorldError
from pgverdict.servers.marked import is_marked

MARK = "pgverdict-"
"""Cgroups can hold no file to mark them, so the name does."""

_PROC = Path("/proc")
_ANSWER_S = 5.0  # a process in the middle of an fsync freezes when that is over
_REMOVE_S = 1.0  # a process that ended a moment ago still counts as inside
_POLL_S = 0.00002
_FREEZER = {1: "freezer.state", 2: "cgroup.freeze"}
_CONTROLLERS = {"freezer", "memory", "cpuset"}  # of version 1, each may have a tree of its own


class _Gone(WorldError):
    """The cgroup was removed."""


@dataclass(frozen=True)
class Cgroup:
    """One directory of the kernel's. `version`: 1 or 2."""

    path: Path
    version: int

    @property
    def is_ours(self) -> bool:
        return self.path.name.startswith(MARK)

    def take_in(self, pid: int) -> None:
        """Move a process here; its children will be here from the beginning. One that ended is left out."""
        try:
            (self.path / "cgroup.procs").write_text(str(pid))
        except ProcessLookupError:
            return
        except OSError as error:
            raise WorldError(f"cannot move process {pid} into {self.path}: {error.strerror}") from error

    def pids(self) -> set[int]:
        return set(map(int, self.read("cgroup.procs").split()))

    def freeze(self) -> None:
        """Returns when no process inside runs any more."""
        self.write(_FREEZER[self.version], "FROZEN" if self.version == 1 else "1")
        self._await(frozen=True)

    def thaw(self) -> None:
        """Returns when the processes inside may run. One that is not frozen, gone, or cannot freeze, is thawed."""
        if not self.has(_FREEZER[self.version]):
            return
        with contextlib.suppress(_Gone):
            self.write(_FREEZER[self.version], "THAWED" if self.version == 1 else "0")
            self._await(frozen=False)

    @property
    def is_frozen(self) -> bool:
        if self.version == 1:
            return self.read("freezer.state").strip() == "FROZEN"
        return "frozen 1" in self.read("cgroup.events").splitlines()

    def remove(self) -> None:
        """Without processes it can go; WorldError if it still has some after a while."""
        deadline = time.monotonic() + _REMOVE_S
        while True:
            try:
                self.path.rmdir()
                return
            except FileNotFoundError:
                return
            except OSError as error:
                if time.monotonic() > deadline:
                    raise WorldError(f"cannot remove the cgroup {self.path}: {error.strerror}") from error
            time.sleep(0.002)

    def write(self, name: str, word: str) -> None:
        """A word to one of its files; WorldError names the cgroup and what the kernel says."""
        try:
            (self.path / name).write_text(word)
        except OSError as error:
            raise self._told(f"write {word} to {name} of", error) from error

    def read(self, name: str) -> str:
        """What one of its files says; WorldError if it is not there."""
        try:
            return (self.path / name).read_text()
        except OSError as error:
            raise self._told(f"read {name} of", error) from error

    def has(self, name: str) -> bool:
        """Whether it has a file of that name, which depends on the kernel and on its controllers."""
        return (self.path / name).exists()

    def _told(self, deed: str, error: OSError) -> WorldError:
        gone = error.errno in (errno.ENOENT, errno.ENODEV)
        return (_Gone if gone else WorldError)(f"cannot {deed} the cgroup {self.path}: {error.strerror}")

    def _await(self, *, frozen: bool) -> None:
        deadline = time.monotonic() + _ANSWER_S
        while self.is_frozen != frozen:
            if time.monotonic() > deadline:
                raise WorldError(
                    f"a cgroup did not {'freeze' if frozen else 'thaw'} within {_ANSWER_S:g} s: {self.path}"
                )
            time.sleep(_POLL_S)


@dataclass(frozen=True)
class Hierarchy:
    """A mounted tree of cgroups. `root`: the cgroup that is seen at `mount`."""

    version: int
    mount: Path
    root: str
    controllers: frozenset[str] = frozenset()
    """Of version 1, those that we use; version 2 says in its files which it has."""

    @property
    def can_freeze(self) -> bool:
        """Whether its cgroups may be frozen, as far as can be told without making one (`obstacle`)."""
        return self.version == 2 or "freezer" in self.controllers

    def cgroup_of(self, pid: int | str, proc: Path = _PROC) -> Cgroup | None:
        """The cgroup a process is in; None if it ended, or its cgroup lies outside of what is mounted."""
        try:
            lines = (proc / str(pid) / "cgroup").read_text().splitlines()
        except OSError:
            return None
        for line in lines:
            number, controllers, name = line.split(":", 2)
            if number == "0" if self.version == 2 else self.controllers & set(controllers.split(",")):
                inside = os.path.relpath(name.removesuffix(" (deleted)"), self.root)
                return None if inside.startswith("..") else Cgroup(self.mount / inside, self.version)
        return None

    def ours(self, beginning: str = MARK) -> Iterator[Cgroup]:
        """All cgroups in the tree whose name begins so."""
        for folder, names, _ in os.walk(self.mount):
            yield from (
                Cgroup(Path(folder, name), self.version) for name in names if name.startswith(beginning)
            )


def hierarchies(proc: Path = _PROC) -> list[Hierarchy]:
    """The trees that are mounted here and of use to us, version 2 first; a tree that is mounted twice is there once."""
    found: dict[tuple[int, frozenset[str]], Hierarchy] = {}
    for line in (proc / "self" / "mountinfo").read_text().splitlines():
        where, _, what = line.partition(" - ")
        kind, _, options = what.split(" ", 2)
        root, mount = map(_unescape, where.split(" ")[3:5])
        controllers = frozenset(options.split(",")) & _CONTROLLERS
        if kind == "cgroup2":
            found.setdefault((2, frozenset()), Hierarchy(2, Path(mount), root))
        elif kind == "cgroup" and controllers:
            found.setdefault((1, controllers), Hierarchy(1, Path(mount), root, controllers))
    return sorted(found.values(), key=lambda tree: -tree.version)


def obstacle(version: int, proc: Path = _PROC) -> str | None:
    """Why we cannot freeze by cgroups of this version, found out by making one; None if we can."""
    home = _home(version, proc)
    if home is None:
        return f"no {'freezer of cgroup v1' if version == 1 else 'cgroup v2'} is mounted"
    trial = home.path / f"{MARK}trial-{os.getpid()}"
    try:
        trial.mkdir()
    except OSError as error:
        return f"cannot make a cgroup in {home.path}: {error.strerror}"
    try:
        if not (trial / _FREEZER[version]).exists():
            return f"cgroups in {home.path} have no {_FREEZER[version]}"
        for needed in (home.path / "cgroup.procs", trial / "cgroup.procs", trial / _FREEZER[version]):
            if not os.access(needed, os.W_OK):
                return f"may not write {needed}"
    finally:
        trial.rmdir()
    return None


def make_cgroup(version: int, data: Path, proc: Path = _PROC) -> Cgroup:
    """A cgroup for the server on a data directory; an empty one that was left over is used again."""
    home = _home(version, proc)
    if home is None:
        raise WorldError(
            f"cannot make a cgroup: {obstacle(version, proc)}", hint="`--freeze signal` needs none"
        )
    made = cgroup_for(data, home)
    try:
        made.path.mkdir(exist_ok=True)
    except OSError as error:
        raise WorldError(
            f"cannot make the cgroup {made.path}: {error.strerror}", hint="`--freeze signal` needs none"
        ) from error
    return made


def cgroup_for(data: Path, home: Cgroup) -> Cgroup:
    """The cgroup below `home` that belongs to the server on a data directory; it need not be there yet."""
    return Cgroup(home.path / f"{_beginning(_tree(data))}{_digest(data)}", home.version)


def thaw_around(pids: Iterable[int], proc: Path = _PROC) -> set[Cgroup]:
    """Thaw the cgroups of ours in which these processes are; which ones those are. Never raises: whoever ends
    servers must go on, and sees whether they end."""
    trees = [tree for tree in hierarchies(proc) if tree.can_freeze]
    around = {
        group for pid in pids for tree in trees if (group := tree.cgroup_of(pid, proc)) and group.is_ours
    }
    thaw_all(around)
    return around


def thaw_all(groups: Iterable[Cgroup]) -> None:
    """Thaw every one of them, whatever becomes of the others."""
    for group in groups:
        with contextlib.suppress(WorldError):
            group.thaw()


def made_for(directory: Path, proc: Path = _PROC) -> set[Cgroup]:
    """The cgroups that were made for servers in a directory marked as ours, by whomever."""
    return {group for tree in hierarchies(proc) for group in tree.ours(_beginning(directory))}


def _home(version: int, proc: Path) -> Cgroup | None:
    """The cgroup we are in, in the tree that can freeze: what we may make, we may make below it."""
    trees = (tree for tree in hierarchies(proc) if tree.version == version and tree.can_freeze)
    return next((tree.cgroup_of("self", proc) for tree in trees), None)


def _tree(data: Path) -> Path:
    """The nearest directory around it that is marked as ours: of a run, its workspace."""
    return next((tree for tree in (data, *data.parents) if is_marked(tree)), data)


def _beginning(directory: Path) -> str:
    return f"{MARK}{_digest(directory)}-"


def _digest(directory: Path) -> str:
    return hashlib.sha256(os.fsencode(os.path.realpath(directory))).hexdigest()[:12]


def _unescape(path: str) -> str:
    """Mounts are listed with blanks and the like as octal numbers."""
    return re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), path)
