"""What a campaign will take, before anything is started: rounds, time, disk and memory of every cell, about.

How long a round takes is not known before one was run. Where the store has rounds of the same cell, these say it; else
rules of thumb do, and the outlook says which. No verdict rests on it.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from pgverdict.conduct.bounds import BY_TIME, warm_up_us
from pgverdict.conduct.stretch import expected_round_s, expected_slices
from pgverdict.judge.decide import ROUNDS_MIN
from pgverdict.plan.budget import reach
from pgverdict.plan.matrix import HostSize, shared_buffers_of
from pgverdict.plan.pools import LOADS_MAX, how_many_loads, settings_of_loads, shared_by
from pgverdict.plan.rounds import usual_pairs
from pgverdict.plan.stretches import LOADS_AGED
from pgverdict.run.ageing import GROWS_BY
from pgverdict.run.room import EMPTY_CLUSTER_BYTES, data_bytes
from pgverdict.spec.cache import Cache
from pgverdict.spec.campaign import Campaign, CellSpec
from pgverdict.spec.regime import Regime
from pgverdict.workloads.chain import Chain, Operation
from pgverdict.workloads.own import workload_of
from pgverdict.workloads.regimes import regime_of

START_S = 1.0
COPIED_BYTES_PER_S = 500_000_000
LOADED_BYTES_PER_S = 30_000_000
SCANNED_BYTES_PER_S = 500_000_000
SCANNED_BEYOND_MEMORY_BYTES_PER_S = 100_000_000
WRITING_SLICE_S = 0.1
TURNOVER_S = 7.0
COLD_SLICE_S = 5.0
CYCLE_S = 300.0
LOADED_ROWS_PER_S = 100_000
INSERTED_ROWS_PER_S = 30_000
"""Rules of thumb: a start and a stop, copying, loading with indexes and vacuum, long queries on data in memory and
beyond it, a slice that commits, the warm-up of an arm with more data than memory, a cold slice, a checkpoint with
settings as shipped, and rows that the steps of a chain insert as fast as they can, before and after there are indexes.
 They are guesses, right to within a small factor on most hosts: of the eleven cells of
docs/studies/v11-v12.md eight rounds each were forecast to take 11 minutes, and took 11.2."""

PROCESSES_BYTES = 100 << 20
"""Of a server beside shared buffers and page cache, generously."""


@dataclass(frozen=True)
class CellOutlook:
    """`rounds_most`: if what is left of the budget after the fewest is spent alike on all cells."""

    spec: CellSpec
    round_s: float
    is_known: bool
    """Whether the store had rounds of it."""
    rounds_most: int
    data_bytes: int
    memory_bytes: int
    """Of all servers of a round together, at most."""


@dataclass(frozen=True)
class Outlook:
    """Of a whole campaign. Bytes are upper bounds: arms that share loads are not known before their builds are."""

    cells: tuple[CellOutlook, ...]
    rounds_least: int
    """What every cell gets first."""
    least_s: float
    """How long these take."""
    loading_s: float
    templates_bytes: int
    copies_bytes: int
    """Of the cell that needs most."""
    host: HostSize
    free_bytes: int
    enough_for: int
    """So many cells get their fewest rounds within the budget."""

    @property
    def is_known(self) -> bool:
        """Whether the store had rounds of every cell."""
        return all(cell.is_known for cell in self.cells)

    @property
    def fits_disk(self) -> bool:
        """Whether all templates and the copies of the largest cell fit; else some are made more than once."""
        return self.templates_bytes + self.copies_bytes <= self.free_bytes


def look_ahead(
    campaign: Campaign, host: HostSize, *, free_bytes: int, known_s: Mapping[str, Sequence[float]]
) -> Outlook:
    """`known_s`: by the key of a cell, how long rounds with as many arms took here."""
    rounds = campaign.rounds or ROUNDS_MIN
    guessed = [_round_s(campaign, cell) for cell in campaign.cells]
    lengths = [
        _median(known_s[cell.key]) if known_s.get(cell.key) else guess
        for cell, guess in zip(campaign.cells, guessed, strict=True)
    ]
    needs_s = [rounds * length for length in lengths]
    least_s = sum(needs_s)
    spare_s = (campaign.budget_s - least_s) / len(lengths)
    reached = reach(needs_s, campaign.budget_s)
    templates = _templates(campaign)
    return Outlook(
        cells=tuple(
            CellOutlook(
                spec=cell,
                round_s=round_s,
                is_known=bool(known_s.get(cell.key)),
                rounds_most=rounds + int(spare_s / round_s)
                if spare_s >= 0
                else min(rounds, int(reached.share_s / round_s)),
                data_bytes=_data_bytes(cell),
                memory_bytes=_memory_bytes(campaign, cell),
            )
            for cell, round_s in zip(campaign.cells, lengths, strict=True)
        ),
        rounds_least=rounds,
        least_s=least_s,
        loading_s=sum(templates.values()) / LOADED_BYTES_PER_S,
        templates_bytes=sum(templates.values()),
        copies_bytes=max(_copies_bytes(campaign, cell) for cell in campaign.cells),
        host=host,
        free_bytes=free_bytes,
        enough_for=reached.cells,
    )


def _median(seconds: Sequence[float]) -> float:
    return sorted(seconds)[len(seconds) // 2]


def _data_bytes(cell: CellSpec) -> int:
    return data_bytes(cell, workload_of(cell))


def _regime(cell: CellSpec) -> Regime:
    return regime_of(cell, workload_of(cell))


def _round_s(campaign: Campaign, cell: CellSpec) -> float:
    arms, regime, workload = len(campaign.arms), _regime(cell), workload_of(cell)
    if workload.chain is not None:
        return arms * (START_S + EMPTY_CLUSTER_BYTES / COPIED_BYTES_PER_S + _chain_s(workload.chain, cell))
    copying_s = (EMPTY_CLUSTER_BYTES + _data_bytes(cell)) / COPIED_BYTES_PER_S
    if regime is Regime.STEADY:
        return expected_round_s(expected_slices(CYCLE_S), arms)
    if cell.cache is Cache.COLD:
        return arms * (START_S + COLD_SLICE_S + copying_s)
    pairs = cell.pairs or usual_pairs(workload, regime)
    is_beyond = campaign.memory_bytes is not None and _data_bytes(cell) > campaign.memory_bytes
    slice_s = WRITING_SLICE_S if regime is Regime.FRESH else BY_TIME.usual_us / 1e6
    if workload.is_long:
        scanned = SCANNED_BEYOND_MEMORY_BYTES_PER_S if is_beyond else SCANNED_BYTES_PER_S
        slice_s = max(slice_s, cell.clients * _data_bytes(cell) / scanned)
    cores = len(campaign.cores) if campaign.cores else os.cpu_count() or 1
    warm_up_s = (
        TURNOVER_S if is_beyond else warm_up_us(workload.bound, clients=cell.clients, cores=cores) / 1e6
    )
    return arms * (START_S + warm_up_s + pairs * slice_s + (copying_s if regime is Regime.FRESH else 0.0))


def _chain_s(steps_of: Callable[[int, int], Chain], cell: CellSpec) -> float:
    chain = steps_of(cell.scale, cell.clients)
    unpaced = [step.rows for step in chain.steps if step.operation is Operation.INSERTED]
    return chain.least_s + unpaced[0] / LOADED_ROWS_PER_S + sum(unpaced[1:]) / INSERTED_ROWS_PER_S


def _memory_bytes(campaign: Campaign, cell: CellSpec) -> int:
    """Data of every arm in memory once, and again in shared buffers; of one arm where each is alone."""
    if campaign.memory_bytes is not None:
        return campaign.memory_bytes * _at_once(campaign, cell)
    buffers = shared_buffers_of(campaign, cell.settings)
    return _at_once(campaign, cell) * (_data_bytes(cell) + min(buffers, _data_bytes(cell)) + PROCESSES_BYTES)


def _loads(campaign: Campaign, cell: CellSpec) -> dict[tuple[object, ...], int]:
    """The loads of a cell, and how large each is; by what tells them apart."""
    load_bytes = EMPTY_CLUSTER_BYTES + _data_bytes(cell)
    workload = workload_of(cell)
    template_bytes = load_bytes if workload.chain is None else EMPTY_CLUSTER_BYTES
    dataset = workload.dataset.digest(cell.scale)
    made = [(arm.server, settings_of_loads(arm.settings, cell.settings)) for arm in campaign.arms]
    of = shared_by(made)
    most = LOADS_AGED if _regime(cell) is Regime.STEADY else LOADS_MAX
    return {
        (dataset, cell.scale, made[of.index(pool)], number): template_bytes
        for pool in set(of)
        for number in range(how_many_loads(load_bytes, campaign.rounds, arms=of.count(pool), most=most))
    }


def _templates(campaign: Campaign) -> dict[tuple[object, ...], int]:
    found: dict[tuple[object, ...], int] = {}
    for cell in campaign.cells:
        loads = _loads(campaign, cell)
        found |= loads
        if _regime(cell) is Regime.STEADY:
            found |= {(cell.key, *key): GROWS_BY * size for key, size in loads.items()}
    return found


def _copies_bytes(campaign: Campaign, cell: CellSpec) -> int:
    if _regime(cell) is Regime.READ_ONLY:
        return sum(_loads(campaign, cell).values())
    return _at_once(campaign, cell) * (EMPTY_CLUSTER_BYTES + _data_bytes(cell)) * GROWS_BY


def _at_once(campaign: Campaign, cell: CellSpec) -> int:
    """So many arms are there at once."""
    return 1 if _regime(cell) in (Regime.STEADY, Regime.CHAIN) else len(campaign.arms)
