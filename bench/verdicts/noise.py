"""What the rounds of equal servers scatter by: from pair to pair, from start to start, from load to load, in sequence;
and what the noise of the mean is made of. Pure. Everything is a standard deviation of the log ratio.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import fdtri

from pgverdict.judge.estimate import FloatArray

from .figures import log_ratios, order_columns
from .recorded import Repetition, Round, SliceFigures


def residuals(rounds: Sequence[Round], ratios: FloatArray) -> FloatArray:
    """What is left of the log ratios when effect and orders are taken out."""
    design = np.column_stack([np.ones(len(rounds)), order_columns(rounds)])
    return np.asarray(ratios - design @ np.linalg.lstsq(design, ratios, rcond=None)[0])


@dataclass(frozen=True)
class Autocorrelation:
    """Of neighbouring rounds of one run, with the half-width of its 95 % interval if there is none."""

    value: float
    bound: float
    neighbours: int


def autocorrelation(series: Sequence[Sequence[Round]], name: str) -> Autocorrelation:
    """Lag one, of neighbours within a run; the bound is 1.96 / sqrt(neighbours), for independent rounds."""
    stretches = [[r for r in one if name in r.values] for one in series]
    everything = [r for one in stretches for r in one]
    left = residuals(everything, log_ratios(everything, name))
    ends = np.cumsum([len(one) for one in stretches])[:-1]
    parts = np.split(left, ends)
    products = np.concatenate([part[:-1] * part[1:] for part in parts])
    value = float(products.mean() / np.mean(left**2)) if len(products) else math.nan
    return Autocorrelation(value, 1.96 / math.sqrt(max(len(products), 1)), len(products))


@dataclass(frozen=True)
class Components:
    """Of the scatter of a round: within a start (its pairs), between loads, and what is left, between starts."""

    round_sd: float
    within_sd: float
    """What a start's own pairs disagree by, as it enters the round's figure."""
    load_sd: float
    load_sd_most: float
    """One-sided 95 % limit; NaN where the plan does not let loads be told."""
    start_sd: float
    rounds: int


def components(repetitions: Sequence[Repetition], name: str) -> Components:
    """Split by halves of rounds and by loads, of series that kept their slices. `name` is p50, or a mean or rate."""
    rounds = [r for one in repetitions for r in one.measured() if name in r.values]
    ratios = log_ratios(rounds, name)
    left = residuals(rounds, ratios)
    degrees = max(len(rounds) - 4, 1)
    round_variance = float(left @ left) / degrees
    within = _within_variance(rounds, name)
    load, most = _load_variance(rounds, ratios, repetitions[0].cells[0].load_pools)
    # Each arm draws a load: both add to the scatter of a ratio.
    loads = 2 * max(0.0, load) if math.isfinite(load) else 0.0
    start = max(0.0, round_variance - within - loads)
    return Components(
        round_sd=math.sqrt(round_variance),
        within_sd=math.sqrt(within),
        load_sd=math.sqrt(max(0.0, load)),
        load_sd_most=math.sqrt(most),
        start_sd=math.sqrt(start),
        rounds=len(rounds),
    )


def _within_variance(rounds: Sequence[Round], name: str) -> float:
    """Halves of a round share its start: a quarter of the variance of their difference is the error of the whole."""
    differences = [
        half_ratio(r.slices, name, 0) - half_ratio(r.slices, name, 1) for r in rounds if len(r.slices) >= 8
    ]
    return float(np.var(differences, ddof=1)) / 4 if len(differences) > 1 else math.nan


def half_ratio(slices: Sequence[SliceFigures], name: str, half: int) -> float:
    """The log ratio of every other pair of a round, made as the metric is made of all of them."""
    chosen = [s for s in slices if s.pair % 2 == half]
    if name == "latency_us_p50":
        return _typical(chosen)
    sign = -1 if name == "tps" else 1
    return sign * _ratio(chosen, _mean)


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


def _load_variance(rounds: Sequence[Round], ratios: FloatArray, pools: Sequence[int]) -> tuple[float, float]:
    """Henderson's third method (Biometrics 9, 1953): what loads take off the residual sum of squares beyond orders.

    The limit inverts the F test of "loads do not differ". NaN for both where loads cannot be told from the rest.
    """
    fixed = np.column_stack([np.ones(len(rounds)), order_columns(rounds)])
    names = sorted({(pools[arm], r.loads[arm]) for r in rounds for arm in (0, 1)})
    loads = np.zeros((len(rounds), len(names)))
    for row, r in enumerate(rounds):
        for arm, sign in ((0, -1.0), (1, 1.0)):
            loads[row, names.index((pools[arm], r.loads[arm]))] += sign
    fixed_basis = _basis(fixed)
    beyond = loads - fixed_basis @ (fixed_basis.T @ loads)
    load_basis = _basis(beyond)
    count, rest = load_basis.shape[1], len(rounds) - fixed_basis.shape[1] - load_basis.shape[1]
    if count == 0 or rest < 1:
        return math.nan, math.nan
    left = ratios - fixed_basis @ (fixed_basis.T @ ratios)
    reduction = float(((load_basis.T @ left) ** 2).sum())
    error = (float(left @ left) - reduction) / rest
    weight = float((beyond**2).sum())
    f = reduction / count / error
    most = max(0.0, (f / float(fdtri(count, rest, 0.05)) - 1) * error * count / weight)
    return (reduction - count * error) / weight, most


def _basis(columns: FloatArray) -> FloatArray:
    vectors, lengths, _ = np.linalg.svd(columns, full_matrices=False)
    return np.asarray(vectors[:, lengths > 1e-9 * max(1.0, float(lengths[0]))])


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

    def sd(of: Callable[[Sequence[SliceFigures]], float]) -> float:
        left = residuals(kept, np.array([_ratio(r.slices, of) for r in kept]))
        return math.sqrt(float(left @ left) / max(len(kept) - 4, 1))

    typical = residuals(kept, np.array([_typical(r.slices) for r in kept]))
    mean = residuals(kept, np.array([_ratio(r.slices, _mean) for r in kept]))
    slices = [s for r in kept for s in r.slices]
    return MeanNoise(
        rounds=len(kept),
        typical_sd=math.sqrt(float(typical @ typical) / max(len(kept) - 4, 1)),
        mean_sd=sd(_mean),
        without_longest_sd=sd(_mean_without_longest),
        without_worst_slices_sd=sd(_mean_without_worst_slices),
        median_of_slices_sd=sd(lambda arm: float(np.median([s.busy_us / s.transactions for s in arm]))),
        correlation=float(np.corrcoef(typical, mean)[0, 1]),
        longest_share=sum(s.max_us for s in slices) / sum(s.busy_us for s in slices),
    )


def _mean_without_longest(slices: Sequence[SliceFigures]) -> float:
    return sum(s.busy_us - s.max_us for s in slices) / sum(s.transactions - 1 for s in slices)


def _mean_without_worst_slices(slices: Sequence[SliceFigures]) -> float:
    return _mean(sorted(slices, key=lambda s: s.busy_us / s.transactions)[:-2])
