"""Freezing a server: none of its processes runs until it is thawed. Three means to the same end.

    with make_freezer(Means.SIGNAL, server) as freezer, server:
        freezer.begin()
        freezer.freeze()
        freezer.thaw()

Stopping and whatever cleans up after us thaws first (`Server.stop`, `processes.end_all`). Nothing is known
here of arms and slices: see `conduct.turns`.
"""

import signal
import time
from enum import Enum
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self

from pgverdict.errors import WorldError
from pgverdict.servers import processes
from pgverdict.servers.cgroups import Cgroup, make_cgroup, obstacle
from pgverdict.servers.server import Server
from pgverdict.spec.campaign import Freeze

_ANSWER_S = 5.0
_POLL_S = 0.00002


class Means(Enum):
    """SIGNAL reaches the processes of the server, the others also what these start (archive_command)."""

    SIGNAL = "signal"
    CGROUP_V1 = "cgroup-v1"
    CGROUP_V2 = "cgroup-v2"


class Freezer(Protocol):
    """Enter it before the server starts and leave it after the server stopped."""

    def begin(self) -> None:
        """The server has started."""

    def freeze(self) -> int:
        """Returns when all its processes stand still; the nanoseconds that took."""

    def thaw(self) -> int:
        """Returns when all of them may run; the nanoseconds that took."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


def choose_means(wish: Freeze, proc: Path = Path("/proc")) -> Means | None:
    """What of the user's wish this host offers; None for no freezing, WorldError if it cannot be had."""
    match wish:
        case Freeze.OFF:
            return None
        case Freeze.SIGNAL:
            return Means.SIGNAL
    obstacles = {version: obstacle(version, proc) for version in (2, 1)}
    if obstacles[2] is None:
        return Means.CGROUP_V2
    if obstacles[1] is None:
        return Means.CGROUP_V1
    raise WorldError(
        f"cannot freeze servers by cgroup: {'; '.join(text for text in obstacles.values() if text)}",
        hint="`--freeze signal` needs none; cgroups need root, or `systemd-run --user --scope -p Delegate=yes`",
    )


def make_freezer(means: Means, server: Server) -> Freezer:
    """For a server that is about to start."""
    match means:
        case Means.SIGNAL:
            return BySignal(server)
        case Means.CGROUP_V1:
            return ByCgroup(server, 1)
        case Means.CGROUP_V2:
            return ByCgroup(server, 2)


class BySignal:
    """SIGSTOP and SIGCONT, to processes of the server only."""

    def __init__(self, server: Server) -> None:
        self._server = server

    def begin(self) -> None:
        """Nothing to prepare."""

    def freeze(self) -> int:
        """The postmaster first, so that no more are born; then again whoever was born meanwhile."""
        begin = time.perf_counter_ns()
        asked: set[int] = set()
        while new := [pid for pid in self._server.pids() if pid not in asked]:
            processes.send(new, signal.SIGSTOP, self._server.data)
            asked.update(new)
            _await_still(new)
        return time.perf_counter_ns() - begin

    def thaw(self) -> int:
        """The postmaster last: whatever it then does meets children that run."""
        begin = time.perf_counter_ns()
        processes.send(reversed(self._server.pids()), signal.SIGCONT, self._server.data)
        return time.perf_counter_ns() - begin

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Nothing to undo: stopping a server thaws it."""


class ByCgroup:
    """A cgroup of its own for the server; where it is confined in the same tree, the one it is confined in."""

    def __init__(self, server: Server, version: int) -> None:
        self._server = server
        self._version = version
        self._cgroup: Cgroup | None = None

    @property
    def cgroup(self) -> Cgroup:
        assert self._cgroup is not None, "not entered"
        return self._cgroup

    def begin(self) -> None:
        """The postmaster first: from then on its children are born inside."""
        while outside := [pid for pid in self._server.pids() if pid not in self.cgroup.pids()]:
            for pid in outside:
                self.cgroup.take_in(pid)
            if processes.state(self._server.pid) in "XZ":
                raise WorldError(f"a server ended before it could be frozen: {self._server.data}")

    def freeze(self) -> int:
        begin = time.perf_counter_ns()
        self.cgroup.freeze()
        return time.perf_counter_ns() - begin

    def thaw(self) -> int:
        begin = time.perf_counter_ns()
        self.cgroup.thaw()
        return time.perf_counter_ns() - begin

    def __enter__(self) -> Self:
        confiner, data = self._server.confiner, self._server.data
        self._cgroup = confiner.cgroup(data, self._version) if confiner else None
        self._cgroup = self._cgroup or make_cgroup(self._version, data)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.cgroup.remove()


def _await_still(pids: list[int]) -> None:
    """Until every process is stopped or gone. One that waits for a disk stops when that has answered."""
    deadline = time.monotonic() + _ANSWER_S
    for pid in pids:
        while processes.state(pid) not in "TtXZ":
            if time.monotonic() > deadline:
                raise WorldError(f"process {pid} did not stop within {_ANSWER_S:g} s of SIGSTOP")
            time.sleep(_POLL_S)
