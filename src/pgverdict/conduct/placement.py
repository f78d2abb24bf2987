"""Where clients and their server processes run, decided before a cell and recorded with every round."""

import os
from collections.abc import Sequence
from dataclasses import dataclass

from pgverdict.errors import RoundFailed


@dataclass(frozen=True)
class Placement:
    """Client i belongs to engine thread i mod `threads`; thread and server process share a core of `cpus`.

    Unpinned, a client and its backend wander between cores, and what is measured is mostly the wake-up of one
    by the other (METHODOLOGY.md#placement).
    """

    threads: int
    cpus: tuple[int, ...]

    def cpu_of(self, client: int) -> int:
        """The core of a client, its thread and its backend."""
        return self.cpus[client % self.threads]


def place(clients: int) -> Placement:
    """As many threads as clients, at most one per core this process may use."""
    cpus = tuple(sorted(os.sched_getaffinity(0)))
    threads = min(clients, len(cpus))
    return Placement(threads, cpus[:threads])


def pin_backends(placement: Placement, backend_pids: Sequence[int]) -> None:
    """Put every client's server process on its client's core."""
    for client, pid in enumerate(backend_pids):
        try:
            os.sched_setaffinity(pid, {placement.cpu_of(client)})
        except OSError as error:
            raise RoundFailed(f"cannot pin server process {pid}: {error.strerror}") from None
