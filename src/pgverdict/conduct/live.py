"""An arm while a round lasts: its data in place, its server running, its connections open."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from pgverdict.conduct.cell import PreparedCell
from pgverdict.datasets.copy import copy_data, settle
from pgverdict.engine.messages import Connected
from pgverdict.engine.process import EngineError
from pgverdict.errors import RoundFailed
from pgverdict.plan.rounds import RoundPlan
from pgverdict.servers.marked import remove_tree
from pgverdict.servers.server import Server
from pgverdict.spec.regime import Regime

Launch = Callable[[PreparedCell, int, Path, int], Server]
"""(cell, arm, data directory, slot) to a server that is not yet started."""


@dataclass(frozen=True)
class LiveArm:
    """An arm with everything a round has to do with it."""

    server: Server
    start_ms: float
    data_bytes: int
    connected: Connected


@contextmanager
def data_in_place(cell: PreparedCell, plan: RoundPlan) -> Iterator[list[Path]]:
    """The data directory of every arm: the load itself, or a settled fresh copy of it in the arm's slot."""
    loads = [arm.loads[load] for arm, load in zip(cell.arms, plan.loads, strict=True)]
    if cell.regime is Regime.READ_ONLY:
        yield loads
        return
    copies = [cell.slots[slot] / "data" for slot in plan.slots]
    try:
        # In the order of the slots, which the plan balances: what is copied last may be the warmest.
        for target, source in sorted(zip(copies, loads, strict=True)):
            remove_tree(target)
            copy_data(source, target)
        settle(cell.slots[0])
        yield copies
    finally:
        for target in copies:
            remove_tree(target)


@contextmanager
def running(server: Server, regime: Regime) -> Iterator[float]:
    """The server while it runs; gives the milliseconds its start took.

    Data that is thrown away needs no shutdown checkpoint, which would only load the disk for the next round.
    """
    start_ms = server.start()
    try:
        yield start_ms
    finally:
        server.stop("fast" if regime is Regime.READ_ONLY else "immediate")


@contextmanager
def blaming(servers: Mapping[int, Server]) -> Iterator[None]:
    """Adds the end of a server's own log to the failure of its arm."""
    try:
        yield
    except EngineError as error:
        if error.arm is None:
            raise
        log = " | ".join(servers[error.arm].log_tail(3).splitlines())
        raise RoundFailed(f"{error.message}; the log of arm {error.arm} ends: {log}") from error
