"""A cell's rounds as arrays, one entry per round: what the checks of its shape, and its spread, are worked out from.

Only rounds that have a value of the primary metric are in, in the order they were measured. The checks know
nothing of records (`judge.shape`, `judge.spread`), so that thousands of cells can be simulated for them.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import median

import numpy as np
from numpy.typing import NDArray

from pgverdict.judge.estimate import FloatArray, order_columns
from pgverdict.judge.values import BASELINE, Question, values
from pgverdict.records.round import RoundRecord, SliceRecord
from pgverdict.records.run import CellRecord

STALL_RATIO = 5.0
STALL_NS_MIN = 1_000_000
"""A slice is stalled if its longest transaction took so many times as long as the longest of a slice usually does
in the cell, and at least so long."""


@dataclass(frozen=True)
class Series:
    """The rounds of one candidate beside the baseline."""

    levels: FloatArray
    """(2, rounds): log of the primary metric's value of the baseline and of the candidate."""
    log_ratios: FloatArray
    """(rounds,): what the verdict rests on, which need not be the difference of the levels (medians of pairs)."""
    orders: FloatArray
    """(rounds, 3): `estimate.order_columns`."""
    trends: FloatArray
    """(2, rounds): per arm, by how much the log time of a transaction moves from a round's first pair to its last.
    NaN where it is not known, and where arms did not take turns: checkpoints then come and go in between."""
    stalls: NDArray[np.int64]
    """(2, rounds): per arm, stalled slices; none where arms did not take turns."""
    cycles: NDArray[np.int64] = field(default_factory=lambda: np.zeros((2, 2, 0), dtype=np.int64))
    """(2, 2, rounds): checkpoints, and vacuums of hot tables, that each arm finished; all 0 where arms took turns."""

    @property
    def rounds(self) -> int:
        return int(self.log_ratios.shape[0])


def series(cell: CellRecord, *, candidate: int = 1) -> Series:
    """The cell's measured rounds that have a value of its primary metric."""
    question = Question(cell.primary)
    used = [
        (record, value)
        for record in cell.measured
        if (value := values(record, question, clients=cell.spec.clients, candidate=candidate)) is not None
    ]
    arms = (BASELINE, candidate)
    longest = stall_ns(cell)
    return Series(
        levels=_array([[math.log(v.baseline) for _, v in used], [math.log(v.candidate) for _, v in used]]),
        log_ratios=_array([v.log_ratio for _, v in used]),
        orders=order_columns([record.plan for record, _ in used], candidate),
        trends=_array([[_trend(record, arm) for record, _ in used] for arm in arms]),
        stalls=np.array(
            [[stalled_slices(record, arm, longest) for record, _ in used] for arm in arms], dtype=np.int64
        ),
        cycles=np.array(
            [
                [[count(record, arm) for record, _ in used] for arm in arms]
                for count in (_checkpoints, _vacuums)
            ],
            dtype=np.int64,
        ),
    )


def stall_ns(cell: CellRecord) -> float:
    """A transaction that takes longer than this stalls its slice. All arms have the same bound.

    Infinite where no slice said how long its longest transaction took, and where slices are whole transactions of
    streams, of which some take many times as long as others.
    """
    if any(record.is_of_streams for record in cell.measured):
        return math.inf
    longest = [s.latency.max_ns for r in cell.measured for s in r.slices if math.isfinite(s.latency.max_ns)]
    return max(STALL_RATIO * median(longest), STALL_NS_MIN) if longest else math.inf


def stalled_slices(record: RoundRecord, arm: int, bound_ns: float) -> int:
    """How many of the arm's slices in the round a stall hit; `bound_ns` is `stall_ns`.

    None are told of arms that did not take turns: a checkpoint in their slices is meant to be there.
    """
    if not record.took_turns:
        return 0
    return sum(s.latency.max_ns > bound_ns for s in _of(record, arm))


def _of(record: RoundRecord, arm: int) -> list[SliceRecord]:
    return [s for s in record.slices if s.arm == arm]


def _checkpoints(record: RoundRecord, arm: int) -> int:
    return sum(found.checkpoints or 0 for found in record.arms if found.arm == arm)


def _vacuums(record: RoundRecord, arm: int) -> int:
    return sum(t.vacuums for found in record.arms if found.arm == arm for t in found.tables if t.hot)


def _trend(record: RoundRecord, arm: int) -> float:
    """Least squares of the log of slice medians on the pair's number, over the length of the round.

    NaN where fewer than three slices have a median, where arms did not take turns, and where each slice is another
    transaction of a stream.
    """
    told = [(s.pair, math.log(s.latency.p50_ns)) for s in _of(record, arm) if s.latency.p50_ns > 0]
    if len(told) < 3 or not record.took_turns or record.is_of_streams:
        return math.nan
    pairs, logs = np.array(told, dtype=np.float64).T
    centred = pairs - pairs.mean()
    if not centred.any():
        return math.nan
    return float((centred @ logs) / (centred @ centred) * np.ptp(pairs))


def _array(numbers: Sequence[object]) -> FloatArray:
    return np.array(numbers, dtype=np.float64)
