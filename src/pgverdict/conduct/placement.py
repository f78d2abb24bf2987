"""Where clients and their server processes run, decided before a cell and recorded with every round."""

import os
from collections.abc import Sequence
from dataclasses import dataclass

from pgverdict.errors import RoundFailed
from pgverdict.spec.campaign import Pinning
from pgverdict.workloads.workload import Workload


@dataclass(frozen=True)
class Placement:
    """Client i belongs to engine thread i mod `threads`; pinned, thread and server process share a core of `cpus`.

    Free, a client and its backend wander between these cores, and what is measured is mostly the wake-up of one
    by the other (METHODOLOGY.md#placement).
    """

    threads: int
    cpus: tuple[int, ...]
    pinning: Pinning = Pinning.PINNED

    @property
    def engine_cpus(self) -> tuple[int, ...] | None:
        """Where the engine is to pin its threads; None for nowhere."""
        return self.cpus if self.pinning is Pinning.PINNED else None

    def cpu_of(self, client: int) -> int:
        """The core of a client, its thread and its backend."""
        return self.cpus[client % self.threads]


def place(clients: int, pinning: Pinning = Pinning.PINNED) -> Placement:
    """As many threads as clients, at most one per core this process may use; free, on any of these cores."""
    cpus = tuple(sorted(os.sched_getaffinity(0)))
    threads = min(clients, len(cpus))
    return Placement(threads, cpus[:threads] if pinning is Pinning.PINNED else cpus, pinning)


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
