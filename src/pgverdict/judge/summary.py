"""One number for a candidate over all cells: the geometric mean of its slow-downs, with an interval.

The cells share the host, the builds and perhaps the loads, so their errors may go together, and an interval must
not count on their cancelling. It does not have to: the n-th rounds of all cells are averaged first, and the
averages are judged like the rounds of one cell, with the same estimate and the same interval
(docs/statistics.md#summary). Whatever the cells have in common is then in the scatter of the averages, and what
they do not have in common cancels in it.

The price: only as many rounds count as every cell has.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pgverdict.judge.answer import interval_kind
from pgverdict.judge.decide import ROUNDS_MIN
from pgverdict.judge.estimate import FloatArray, estimate, order_columns
from pgverdict.judge.interval import Kind, interval
from pgverdict.judge.pulling import as_judged
from pgverdict.judge.values import Question, values
from pgverdict.records.run import CellRecord, RunRecord
from pgverdict.spec.metrics import Better, metric

CELLS_MIN = 2
"""One cell needs no summary."""


@dataclass(frozen=True)
class Summary:
    """A candidate against the baseline over the cells' primary metrics: factors, more than 1 is slower.

    Where the rounds cannot tell, slowdown, low and high are NaN, 0 and infinity.
    """

    baseline: str
    candidate: str
    slowdown: float
    low: float
    high: float
    confidence: float
    """Of this summary by itself."""
    cells: int
    """With rounds enough to be in it."""
    cells_of_campaign: int
    rounds: int
    """Of each cell: as many as all of them have."""


def summarize(run: RunRecord) -> tuple[Summary, ...]:
    """One per candidate, where at least two cells have rounds enough; where rounds are fixed, all of them."""
    found = [_summary(run, candidate) for candidate in run.campaign.candidates]
    return tuple(summary for summary in found if summary is not None)


def _summary(run: RunRecord, candidate: int) -> Summary | None:
    campaign = run.campaign
    kinds = {interval_kind(cell.measured, campaign) for cell in run.cells}
    if campaign.rounds is not None and kinds != {Kind.FIXED}:
        return None
    kind = Kind.ANYTIME if campaign.rounds is None else Kind.FIXED
    mean = mean_of_cells([_rounds(cell, candidate) for cell in run.cells], 1 - campaign.confidence, kind)
    if mean is None:
        return None
    return Summary(
        baseline=campaign.arms[0].name,
        candidate=campaign.arms[candidate].name,
        slowdown=_exp(mean.log_slowdown),
        low=_exp(mean.low),
        high=_exp(mean.high),
        confidence=campaign.confidence,
        cells=mean.cells,
        cells_of_campaign=len(campaign.cells),
        rounds=mean.rounds,
    )


def _rounds(cell: CellRecord, candidate: int) -> "CellRounds":
    question = Question(cell.primary)
    sign = 1.0 if metric(cell.primary).better is Better.LOWER else -1.0
    used = [
        (record.plan, sign * value.log_ratio)
        for record in cell.measured
        if (value := values(record, question, clients=cell.spec.clients, candidate=candidate)) is not None
    ]
    return CellRounds(
        as_judged(cell.primary, np.array([slowdown for _, slowdown in used], dtype=np.float64)),
        order_columns([plan for plan, _ in used], candidate),
    )


def _exp(logarithm: float) -> float:
    try:
        return math.exp(logarithm)
    except OverflowError:
        return math.inf


@dataclass(frozen=True)
class CellRounds:
    """A cell's rounds in the order of measurement: log slow-downs (more than 0 is worse) and their order columns."""

    log_slowdowns: FloatArray
    orders: FloatArray


@dataclass(frozen=True)
class Mean:
    """The mean log slow-down and its limits; infinite limits where the rounds cannot tell."""

    log_slowdown: float
    low: float
    high: float
    cells: int
    rounds: int
    """Of every cell; what a cell has beyond that is not in it."""


def mean_of_cells(cells: Sequence[CellRounds], alpha: float, kind: Kind) -> Mean | None:
    """Over the cells with at least ROUNDS_MIN rounds, None if these are fewer than two.

    Which cells have that many does not depend on what they show: no cell ends by a verdict before.
    """
    counted = [cell for cell in cells if len(cell.log_slowdowns) >= ROUNDS_MIN]
    if len(counted) < CELLS_MIN:
        return None
    rounds = min(len(cell.log_slowdowns) for cell in counted)
    slowdowns, orders = average([(c.log_slowdowns[:rounds], c.orders[:rounds]) for c in counted])
    result = estimate(slowdowns, orders)
    low, high = interval(result, alpha, kind)
    return Mean(float(result.log_ratio), float(low), float(high), len(counted), rounds)


def average(cells: Sequence[tuple[FloatArray, FloatArray]]) -> tuple[FloatArray, FloatArray]:
    """The average of the cells round by round, and of their orders: what swapping orders does on average."""
    return (
        np.asarray(np.mean([values for values, _ in cells], axis=0)),
        np.asarray(np.mean([orders for _, orders in cells], axis=0)),
    )
