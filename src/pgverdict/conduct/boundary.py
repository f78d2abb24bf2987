"""What is read at the two boundaries of a slice, while nobody works for us, and how it grew in between.

Reading takes a fraction of a millisecond (METHODOLOGY.md#between-the-clocks).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypedDict

from pgverdict.engine.process import Engine
from pgverdict.observe import processes
from pgverdict.observe.cores import CoreTimes, core_times
from pgverdict.servers.outside import AnyServer
from pgverdict.servers.server import Server

BACKENDS_MAX = 8
"""With more backends their switches are not read: they would be the larger part of what a boundary takes."""

Counters = dict[int, int]


@dataclass(frozen=True)
class Boundary:
    """Counters so far, by process or thread; of cores, summed. None of processes that somebody else runs."""

    cpu_ns: Counters | None
    run_delay_ns: Counters | None
    backends: tuple[Counters, Counters] | None
    """Switches, voluntary and involuntary."""
    engine: tuple[Counters, Counters]
    cores: CoreTimes


class Growth(TypedDict):
    """From one boundary to the next, in the names of `records.round.SliceRecord`."""

    server_cpu_ns: int | None
    server_run_delay_ns: int | None
    backend_switches_voluntary: int | None
    backend_switches_involuntary: int | None
    engine_switches_voluntary: int
    engine_switches_involuntary: int
    cores_busy_ns: int
    steal_ns: int


ENDED = 0
"""In the place of a process number: the processes that have ended. No process has it."""


class Reader:
    """For one arm of a round: its server's processes, its backends among them, the engine's threads, the cores.

    `has_workers`: processes that begin and end within a slice are counted too, in ticks of 10 ms.
    """

    def __init__(
        self,
        server: AnyServer,
        backend_pids: Sequence[int],
        engine: Engine,
        cpus: Sequence[int],
        *,
        has_workers: bool = False,
    ) -> None:
        self._has_workers = has_workers
        self._server = server if isinstance(server, Server) else None
        told = self._server is not None and len(backend_pids) <= BACKENDS_MAX
        self._backends = tuple(backend_pids) if told else None
        self._threads = processes.threads_of(engine.hello.pid)
        self._cpus = frozenset(cpus)

    def read(self) -> Boundary:
        cpu_ns: Counters | None = None
        run_delay_ns: Counters | None = None
        if self._server is not None:
            cpu_ns, run_delay_ns = processes.scheduled_ns(self._server.pids())
            if self._has_workers:
                cpu_ns[ENDED] = processes.ended_cpu_ns(self._server.pid)
        return Boundary(
            cpu_ns=cpu_ns,
            run_delay_ns=run_delay_ns,
            backends=None if self._backends is None else processes.switches(self._backends),
            engine=processes.switches(self._threads),
            cores=core_times(self._cpus),
        )


def growth(before: Boundary, after: Boundary) -> Growth:
    """What happened between two boundaries of one arm's."""
    backends: tuple[int, int] | tuple[None, None] = (None, None)
    if before.backends is not None and after.backends is not None:
        backends = _both(before.backends, after.backends)
    engine = _both(before.engine, after.engine)
    return Growth(
        server_cpu_ns=_one(before.cpu_ns, after.cpu_ns),
        server_run_delay_ns=_one(before.run_delay_ns, after.run_delay_ns),
        backend_switches_voluntary=backends[0],
        backend_switches_involuntary=backends[1],
        engine_switches_voluntary=engine[0],
        engine_switches_involuntary=engine[1],
        cores_busy_ns=after.cores.busy_ns - before.cores.busy_ns,
        steal_ns=after.cores.steal_ns - before.cores.steal_ns,
    )


def _one(before: Counters | None, after: Counters | None) -> int | None:
    return None if before is None or after is None else processes.grown(before, after)


def _both(before: tuple[Counters, Counters], after: tuple[Counters, Counters]) -> tuple[int, int]:
    return processes.grown(before[0], after[0]), processes.grown(before[1], after[1])
