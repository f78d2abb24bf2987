"""An arm while a round lasts: its data in place, its server running, its connections open."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pgverdict.conduct.boundary import Reader
from pgverdict.conduct.cell import PreparedCell
from pgverdict.conduct.outside import databases_in_place
from pgverdict.conduct.warmth import Footprint
from pgverdict.datasets.copy import copy_at_once, settle
from pgverdict.datasets.page_cache import evict
from pgverdict.datasets.wal import move_wal
from pgverdict.engine.messages import Connected
from pgverdict.engine.process import EngineError
from pgverdict.errors import RoundFailed, WorldError
from pgverdict.plan.rounds import RoundPlan
from pgverdict.servers.marked import remove_tree
from pgverdict.servers.outside import AnyServer
from pgverdict.spec.regime import Regime

Data = Path | str
"""Where an arm's data is: a directory, or a database of a server that somebody else runs."""

Launch = Callable[[PreparedCell, RoundPlan, int, Data], AnyServer]
"""(cell, plan, arm, data) to a server that is not yet started."""


@dataclass(frozen=True)
class LiveArm:
    """An arm with everything a round has to do with it."""

    server: AnyServer
    start_ms: float | None
    footprint: Footprint
    connected: Connected
    reader: Reader


@contextmanager
def data_in_place(cell: PreparedCell, plan: RoundPlan) -> Iterator[dict[int, Data]]:
    """The data of every arm: the load itself, or a settled fresh copy of it in the arm's slot.

    Out of the page cache, where the cell wants it so. Copies on servers that are not ours are made first: that takes
    seconds, in which ours would grow cold.
    """
    with databases_in_place(cell, plan) as databases:
        if cell.regime is Regime.READ_ONLY:
            loads = {arm: cell.arms[arm].loads[plan.loads[arm]] for arm in cell.ours}
            assert len(set(loads.values())) == len(loads), f"two servers in one directory: {loads}"
            _evict(cell, loads.values())
            yield {**loads, **databases}
            return
        # Side by side, and begun in the order of the slots, which the plan balances.
        with fresh_copies(cell, plan, sorted(cell.ours, key=lambda arm: plan.slots[arm])) as copies:
            yield {**copies, **databases}


@contextmanager
def fresh_copies(cell: PreparedCell, plan: RoundPlan, arms: Sequence[int]) -> Iterator[dict[int, Path]]:
    """Settled copies of the loads of some arms, begun in this order, in their slots; they go when the context ends."""
    copies = {arm: cell.fresh_data(plan, arm) for arm in arms}
    wals = {arm: wal for arm in arms if (wal := cell.fresh_wal(plan, arm)) is not None}
    try:
        _clear(copies, wals)
        copy_at_once((cell.arms[arm].loads[plan.loads[arm]], copies[arm]) for arm in arms)
        for arm, wal in wals.items():
            move_wal(copies[arm], wal)
        for place in _one_per_file_system([*copies.values(), *wals.values()]):
            settle(place)
        _evict(cell, [*copies.values(), *wals.values()])
        yield copies
    finally:
        _clear(copies, wals)


def _clear(copies: Mapping[int, Path], wals: Mapping[int, Path]) -> None:
    for place in (*copies.values(), *wals.values()):
        remove_tree(place)


def _one_per_file_system(places: Sequence[Path]) -> list[Path]:
    return list({place.stat().st_dev: place for place in places}.values())


def _evict(cell: PreparedCell, directories: Iterable[Path]) -> None:
    if cell.is_evicted:
        for directory in directories:
            evict(directory)


@contextmanager
def running(server: AnyServer, regime: Regime, arm: int) -> Iterator[float | None]:
    """The arm's server while it runs; gives the milliseconds its start took, None if it ran before.

    Data that is thrown away needs no shutdown checkpoint, which would only load the disk for the next round.
    """
    with blaming(arm):
        start_ms = server.start()
    try:
        yield start_ms
    except WorldError as error:
        if server.confines is not None and (killed := server.confines.killed()):
            raise RoundFailed(
                f"the kernel killed {killed} processes of arm {arm}, whose memory did not suffice: {error.message}",
                arm=arm,
                hint="a larger --memory, or smaller shared_buffers and work_mem",
            ) from error
        raise
    finally:
        with blaming(arm):
            server.stop(_way_to_end(regime))


def ask_to_end(servers: Iterable[AnyServer], regime: Regime) -> None:
    """Servers that are to stop one after the other get ready for it side by side."""
    for server in servers:
        server.ask_to_end(_way_to_end(regime))


def _way_to_end(regime: Regime) -> Literal["fast", "immediate"]:
    return "fast" if regime is Regime.READ_ONLY else "immediate"


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
def quoting_logs(servers: Mapping[int, AnyServer]) -> Iterator[None]:
    """Adds the end of a server's own log to a failure that the engine met while it dealt with its arm.

    The arm is blamed if the server failed; a script that cannot be computed, or the host, is no arm's fault.
    """
    try:
        yield
    except EngineError as error:
        if error.arm is None:
            raise
        log = " | ".join(servers[error.arm].log_tail(3).splitlines())
        ending = f"; the log of arm {error.arm} ends: {log}" if log else ""
        blamed = error.arm if error.kind == "server" else None
        raise RoundFailed(f"{error.message}{ending}", arm=blamed) from error
