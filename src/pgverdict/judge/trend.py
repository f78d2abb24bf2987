"""How much a metric changes per release, over arms that are a series of releases.

Within a round, the log of every arm's value is fitted by a straight line over the arm's place in the series
(least squares, all arms, the baseline included); its slope is what the round says. Over rounds the slopes are
treated as the log ratios of two arms are (`judge.estimate`, `judge.interval`): one number per round, the orders
as nuisances, an interval that may be looked at after every round.

Trends decide nothing and stop nothing. Their intervals hold for all trends of a run together, beside the
verdicts and not with them: alpha = 1 - confidence once more, shared equally.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

import numpy as np

from pgverdict.judge.answer import interval_kind
from pgverdict.judge.estimate import FloatArray, estimate, order_leads
from pgverdict.judge.interval import interval
from pgverdict.judge.pulling import as_judged
from pgverdict.judge.values import Question, metrics_beside, side_by_side
from pgverdict.plan.rounds import RoundPlan
from pgverdict.records.run import ArmFacts, CellRecord, RunRecord
from pgverdict.spec.campaign import Campaign
from pgverdict.spec.spelling import whereabouts

ARMS_MIN = 3
"""Of two arms, the effect is the trend."""


@dataclass(frozen=True)
class Trend:
    """The change of a metric from one arm of the series to the next: a factor, with its interval.

    Where nothing can be estimated yet, effect, low and high are NaN, 0 and infinity.
    """

    metric: str
    effect: float
    low: float
    high: float
    confidence: float
    """Of all trends of the run together."""
    alpha: float
    rounds: int


def judge_trends(run: RunRecord) -> tuple[tuple[Trend, ...], ...]:
    """Per cell, a trend for each metric of the whole cell, the primary first; none where the arms are no series."""
    if not is_series(run):
        return ((),) * len(run.cells)
    return tuple(_judge_cell(cell, run.campaign) for cell in run.cells)


def is_series(run: RunRecord) -> bool:
    """Whether the arms are three or more releases, oldest first, that differ in nothing else the user chose."""
    asked = run.campaign.arms
    choices = {
        (arm.handicap_ns, arm.data_directory, arm.wal_directory, whereabouts(arm.server)) for arm in asked
    }
    numbers = [_release(arm) for arm in run.arms]
    return (
        len(asked) >= ARMS_MIN
        and len(choices) == 1
        and _same_settings(run)
        and all(one < next_ for one, next_ in pairwise(numbers))
    )


def _same_settings(run: RunRecord) -> bool:
    """Whether the user gave all arms the same, as far as they know it: an optional setting is left out on others.

    Settings that only some arms know are among the defaults that are kept of those.
    """
    given = [dict(arm.given) for arm in run.campaign.arms]
    told = [{name for name, _ in arm.defaults} for arm in run.arms]
    not_of_all = set().union(*told)
    for name in set().union(*given):
        knowing = [
            own for own, known in zip(given, told, strict=True) if name not in not_of_all or name in known
        ]
        if len({own.get(name) for own in knowing}) > 1:
            return False
    return True


def _release(arm: ArmFacts) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", arm.version))


def _judge_cell(cell: CellRecord, campaign: Campaign) -> tuple[Trend, ...]:
    others = metrics_beside(cell)
    # In a closed loop mean latency is throughput told again, and its interval the mirrored one: one share for both.
    counted = len({cell.primary, *others} - {"latency_us_mean"})
    alpha = (1 - campaign.confidence) / (len(campaign.cells) * counted)
    return tuple(judge_trend(cell, campaign, name, alpha) for name in (cell.primary, *others))


def judge_trend(cell: CellRecord, campaign: Campaign, metric: str, alpha: float) -> Trend:
    """The trend of one metric over all measured rounds in which every arm has a value of it."""
    arms = len(campaign.arms)
    used = [
        (record.plan, slope)
        for record in cell.measured
        if (slope := _slope_of_round(side_by_side(record, Question(metric), clients=cell.spec.clients), arms))
        is not None
    ]
    result = estimate(
        as_judged(metric, np.array([slope for _, slope in used], dtype=np.float64)),
        _order_columns([plan for plan, _ in used]),
    )
    low, high = interval(result, alpha, interval_kind(cell.measured, campaign))
    return Trend(
        metric=metric,
        effect=_exp(float(result.log_ratio)),
        low=_exp(float(low)),
        high=_exp(float(high)),
        confidence=campaign.confidence,
        alpha=alpha,
        rounds=len(used),
    )


def _slope_of_round(told: Sequence[dict[int, float]], arms: int) -> float | None:
    whole = [[by_arm[arm] for arm in range(arms)] for by_arm in told if len(by_arm) == arms]
    return median(slope([math.log(value) for value in values]) for values in whole) if whole else None


def slope(heights: Sequence[float]) -> float:
    """Of the least squares line through these heights, one step apart.

    >>> slope([1.0, 1.5, 2.0]), slope([0.0, 1.0, 0.0])
    (0.5, 0.0)
    """
    middle = (len(heights) - 1) / 2
    weights = [place - middle for place in range(len(heights))]
    return sum(w * h for w, h in zip(weights, heights, strict=True)) / sum(w * w for w in weights)


def _order_columns(plans: Sequence[RoundPlan]) -> FloatArray:
    """What the places of a round's arms do to its slope, were it in proportion to them: the slope of the places."""
    rows = [[slope(leads) for leads in order_leads(plan)] for plan in plans]
    return np.array(rows, dtype=np.float64).reshape(len(rows), 3)


def _exp(logarithm: float) -> float:
    try:
        return math.exp(logarithm)
    except OverflowError:
        return math.inf
