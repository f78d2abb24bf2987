"""What the rounds of equal servers scatter by: from pair to pair, from start to start, from load to load, from install
to install, in sequence; and what the noise of the mean is made of. Pure. Everything is a standard deviation of the log
ratio, but for loads and installs, which are of one arm. The mathematics is the product's (`judge.levels`,
`judge.neighbours`).
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from pgverdict.judge.calibration import ORDERS
from pgverdict.judge.estimate import FloatArray, estimate, order_columns, order_leads
from pgverdict.judge.levels import (
    Component,
    Order,
    background,
    component,
    numbered,
    order_effects,
    split_halves,
)
from pgverdict.judge.neighbours import Likeness, likeness
from pgverdict.judge.spread import residuals

from .figures import series
from .recorded import Repetition, Round, SliceFigures

SLICED = ("latency_us_p50", "latency_us_mean", "tps")
"""What slices tell (`slices_ratio`)."""


def neighbours(stretches: Sequence[Sequence[Round]], name: str) -> Likeness | None:
    """Of neighbouring rounds within a run; effect and orders are those of all runs together."""
    rounds = [[r for r in one if name in r.values] for one in stretches]
    every = series([r for one in rounds for r in one], name)
    return likeness(every.log_ratios, every.orders, lengths=[len(one) for one in rounds if one])


@dataclass(frozen=True)
class Components:
    """Of the scatter of a round: within a start (its pairs), and what is left, between starts.

    Loads and installs change with the start: what they differ by is a part of `start_sd`.
    """

    rounds: int
    df: int
    """Of `round_sd`."""
    round_sd: float
    within_sd: float
    """What a start's own pairs disagree by, as it enters the round's figure; NaN where slices do not tell it."""
    start_sd: float
    loads: Component | None
    installs: Component | None
    orders: tuple[Order, ...]


def components(repetitions: Sequence[Repetition], name: str) -> Components:
    """Of equal servers."""
    rounds = [r for one in repetitions for r in one.measured() if name in r.values]
    every = series(rounds, name)
    whole = every.result
    round_sd = float(whole.sd)
    differences = [
        half_ratio(r.slices, name, 0) - half_ratio(r.slices, name, 1)
        for r in rounds
        if len(r.slices) >= 8 and name in SLICED
    ]
    within, start = split_halves(np.array(differences), round_sd) if differences else (math.nan, math.nan)
    # A table of arms, as of a calibration: each arm of a round is half the ratio from the middle.
    arms = np.column_stack([-every.log_ratios / 2, every.log_ratios / 2])
    columns = background(np.array([2 * np.array(order_leads(r.plan)).T for r in rounds]))
    cell = repetitions[0].cells[0]
    return Components(
        rounds=len(rounds),
        df=whole.df,
        round_sd=round_sd,
        within_sd=within,
        start_sd=start,
        loads=component(arms, columns, numbered([r.loads for r in rounds], cell.load_pools)),
        installs=component(arms, columns, numbered([r.installs for r in rounds], cell.install_pools)),
        orders=order_effects(arms, columns, ORDERS),
    )


def half_ratio(slices: Sequence[SliceFigures], name: str, half: int) -> float:
    """The log ratio of every other pair of a round."""
    return slices_ratio([s for s in slices if s.pair % 2 == half], name)


def slices_ratio(slices: Sequence[SliceFigures], name: str) -> float:
    """The log ratio of some pairs of a round, made as the metric is made of all of them."""
    if name == "latency_us_p50":
        return _typical(slices)
    sign = -1 if name == "tps" else 1
    return sign * _ratio(slices, _mean)


def _typical(slices: Sequence[SliceFigures]) -> float:
    pairs: dict[int, dict[int, float]] = {}
    for one in slices:
        pairs.setdefault(one.pair, {})[one.arm] = one.p50_us
    return float(np.median([math.log(p[1] / p[0]) for p in pairs.values() if len(p) == 2]))


def _mean(slices: Sequence[SliceFigures]) -> float:
    return sum(s.busy_us for s in slices) / sum(s.transactions for s in slices)


def _ratio(slices: Sequence[SliceFigures], of: Callable[[Sequence[SliceFigures]], float]) -> float:
    of_arm = [of([s for s in slices if s.arm == arm]) for arm in (0, 1)]
    return math.log(of_arm[1] / of_arm[0])


@dataclass(frozen=True)
class MeanNoise:
    """Scatter of the rounds' ratio of means, and of the ratio of what is left when parts of it are taken out."""

    rounds: int
    typical_sd: float
    """Of the median, for comparison."""
    mean_sd: float
    without_longest_sd: float
    """Of the mean without the longest transaction of every slice: what single stalls add is gone."""
    without_worst_slices_sd: float
    """Of the mean without each arm's two slowest slices."""
    median_of_slices_sd: float
    """Of the median over slices of their means: what hits few slices is gone."""
    correlation: float
    """Of a round's mean and its median."""
    longest_share: float
    """Of all busy time, the share of the longest transactions of the slices."""


def mean_noise(rounds: Sequence[Round]) -> MeanNoise:
    """From rounds that kept their slices."""
    kept = [r for r in rounds if r.slices]
    orders = order_columns([r.plan for r in kept])

    def ratios(of: Callable[[Sequence[SliceFigures]], float]) -> FloatArray:
        return np.array([_ratio(r.slices, of) for r in kept])

    def sd(log_ratios: FloatArray) -> float:
        return float(estimate(log_ratios, orders).sd)

    typical, mean = np.array([_typical(r.slices) for r in kept]), ratios(_mean)
    slices = [s for r in kept for s in r.slices]
    return MeanNoise(
        rounds=len(kept),
        typical_sd=sd(typical),
        mean_sd=sd(mean),
        without_longest_sd=sd(ratios(_mean_without_longest)),
        without_worst_slices_sd=sd(ratios(_mean_without_worst_slices)),
        median_of_slices_sd=sd(ratios(_median_of_means)),
        correlation=float(np.corrcoef(residuals(typical, orders)[0], residuals(mean, orders)[0])[0, 1]),
        longest_share=sum(s.max_us for s in slices) / sum(s.busy_us for s in slices),
    )


def _mean_without_longest(slices: Sequence[SliceFigures]) -> float:
    return sum(s.busy_us - s.max_us for s in slices) / sum(s.transactions - 1 for s in slices)


def _mean_without_worst_slices(slices: Sequence[SliceFigures]) -> float:
    return _mean(sorted(slices, key=lambda s: s.busy_us / s.transactions)[:-2])


def _median_of_means(slices: Sequence[SliceFigures]) -> float:
    return float(np.median([s.busy_us / s.transactions for s in slices]))
