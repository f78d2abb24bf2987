"""Where clients and their server processes run, decided before a cell and recorded with every round."""

import os
from collections.abc import Sequence
from dataclasses import dataclass

from pgverdict.errors import RoundFailed, UserError
from pgverdict.spec.campaign import EventLoop, Pinning
from pgverdict.spec.confinement import spell_cores
from pgverdict.workloads.workload import Workload


@dataclass(frozen=True)
class Placement:
    """Client i belongs to engine thread i mod `threads`; pinned, thread and server process share a core of `cpus`.

    Free, a client and its backend wander between these cores, and what is measured is mostly the wake-up of one
    by the other (METHODOLOGY.md#placement).

    Where the engine has cores of its own, nobody shares: a thread has one of these, a server process one of `cpus`.
    """

    threads: int
    cpus: tuple[int, ...]
    pinning: Pinning = Pinning.PINNED
    own_cpus: tuple[int, ...] | None = None
    """The engine's own cores; None where it has none."""
    event_loop: EventLoop = EventLoop.EPOLL
    """How its threads are to wait for their sockets; by io_uring only where the kernel allows it."""

    @property
    def engine_cpus(self) -> tuple[int, ...] | None:
        """Where the engine is to pin its threads; None for nowhere."""
        return (self.own_cpus or self.cpus) if self.pinning is Pinning.PINNED else None

    @property
    def all_cpus(self) -> tuple[int, ...]:
        """The cores anybody of a round works on."""
        return tuple(sorted({*self.cpus, *(self.own_cpus or ())}))

    def cpu_of(self, client: int) -> int:
        """The core of a client's backend, and of the client and its thread where these share it."""
        return self.cpus[client % len(self.cpus)]

    def facts(self) -> tuple[tuple[str, str], ...]:
        """For the record of a round."""
        own = (("engine_cpus", ",".join(map(str, self.own_cpus))),) if self.own_cpus else ()
        return (
            ("placement", self.pinning.value),
            ("threads", str(self.threads)),
            ("cpus", ",".join(map(str, self.cpus))),
            *own,
        )


def place(
    clients: int,
    pinning: Pinning = Pinning.PINNED,
    *,
    cores: tuple[int, ...] | None = None,
    engine_cores: tuple[int, ...] | None = None,
    event_loop: EventLoop = EventLoop.EPOLL,
) -> Placement:
    """As many threads as clients, at most one per core that the engine may use; free, on any of these cores.

    `cores`: those that servers are confined to. `engine_cores`: those that only the engine is to use.
    """
    cpus = cores or tuple(sorted(os.sched_getaffinity(0)))
    threads = min(clients, len(engine_cores or cpus))
    if pinning is Pinning.FREE:
        return Placement(threads, cpus, pinning, engine_cores, event_loop)
    own = engine_cores[:threads] if engine_cores else None
    return Placement(threads, cpus[: min(clients, len(cpus))], pinning, own, event_loop)


def require_cores(cores: tuple[int, ...] | None, option: str) -> None:
    """UserError for cores that this host does not have, or that we are not allowed."""
    allowed = os.sched_getaffinity(0)
    if missing := sorted(set(cores or ()) - allowed):
        raise UserError(
            f"no such cores here, or none that we may use: {option} {spell_cores(missing)}",
            hint=f"these there are: {spell_cores(sorted(allowed))}",
        )


def keep_engine(placement: Placement, engine_pid: int) -> None:
    """Keep the engine on its own cores where it pins no thread; before it has any (`Engine.setup`)."""
    if placement.own_cpus and placement.pinning is Pinning.FREE:
        os.sched_setaffinity(engine_pid, placement.own_cpus)


def choose_event_loop(wish: EventLoop, *, outside: bool) -> EventLoop:
    """The user's wish; epoll where an arm is a server of somebody else's: a connection to it may be under TLS, and what
    cannot be had of one arm is had of none."""
    return EventLoop.EPOLL if outside else wish


def choose_pinning(wish: Pinning, workload: Workload) -> Pinning:
    """The user's wish, unless other processes of the server may work for a client: on one core they would wait."""
    return Pinning.FREE if workload.has_workers else wish


def pin_backends(placement: Placement, backend_pids: Sequence[int]) -> None:
    """Put every client's server process on its client's core; none where placement is free."""
    if placement.pinning is Pinning.FREE:
        return
    for client, pid in enumerate(backend_pids):
        try:
            os.sched_setaffinity(pid, {placement.cpu_of(client)})
        except OSError as error:
            raise RoundFailed(f"cannot pin server process {pid}: {error.strerror}") from None
