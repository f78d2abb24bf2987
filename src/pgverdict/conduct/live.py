"""An arm while a round lasts: its data in place, its server running, its connections open."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from pgverdict.conduct.boundary import Reader
from pgverdict.conduct.cell import PreparedCell
from pgverdict.datasets.copy import copy_at_once, settle
from pgverdict.engine.messages import Connected
from pgverdict.engine.process import EngineError
from pgverdict.errors import RoundFailed, WorldError
from pgverdict.plan.rounds import RoundPlan
from pgverdict.servers.marked import remove_tree
from pgverdict.servers.server import Server
from pgverdict.spec.regime import Regime

Launch = Callable[[PreparedCell, RoundPlan, int, Path], Server]
"""(cell, plan, arm, data directory) to a server that is not yet started."""


@dataclass(frozen=True)
class LiveArm:
    """An arm with everything a round has to do with it."""

    server: Server
    start_ms: float
    data_bytes: int
    connected: Connected
    reader: Reader


@contextmanager
def data_in_place(cell: PreparedCell, plan: RoundPlan) -> Iterator[list[Path]]:
    """The data directory of every arm: the load itself, or a settled fresh copy of it in the arm's slot."""
    loads = [arm.loads[load] for arm, load in zip(cell.arms, plan.loads, strict=True)]
    if cell.regime is Regime.READ_ONLY:
        assert len(set(loads)) == len(loads), f"two servers in one directory: {loads}"
        yield loads
        return
    copies = [cell.slots[slot] / "data" for slot in plan.slots]
    try:
        for target in copies:
            remove_tree(target)
        # Side by side, and begun in the order of the slots, which the plan balances.
        copy_at_once((source, target) for target, source in sorted(zip(copies, loads, strict=True)))
        settle(cell.slots[0])
        yield copies
    finally:
        for target in copies:
            remove_tree(target)


@contextmanager
def running(server: Server, regime: Regime, arm: int) -> Iterator[float]:
    """The arm's server while it runs; gives the milliseconds its start took.

    Data that is thrown away needs no shutdown checkpoint, which would only load the disk for the next round.
    """
    with blaming(arm):
        start_ms = server.start()
    try:
        yield start_ms
    finally:
        with blaming(arm):
            server.stop("fast" if regime is Regime.READ_ONLY else "immediate")


@contextmanager
def blaming(arm: int) -> Iterator[None]:
    """What goes wrong while only this arm is dealt with is its failure, where it is not known to be another's.

    Not an OSError: a full disk or a lack of memory is the host's.
    """
    try:
        yield
    except (RoundFailed, EngineError):
        raise  # they know
    except WorldError as error:
        raise RoundFailed(error.message, arm=arm, hint=error.hint) from error


@contextmanager
def quoting_logs(servers: Mapping[int, Server]) -> Iterator[None]:
    """Adds the end of a server's own log to a failure that the engine met while it dealt with its arm.

    The arm is blamed if the server failed; a script that cannot be computed, or the host, is no arm's fault.
    """
    try:
        yield
    except EngineError as error:
        if error.arm is None:
            raise
        log = " | ".join(servers[error.arm].log_tail(3).splitlines())
        blamed = error.arm if error.kind == "server" else None
        raise RoundFailed(f"{error.message}; the log of arm {error.arm} ends: {log}", arm=blamed) from error
