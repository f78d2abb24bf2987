"""How far two cells are from each other on one arm, whose rounds have nothing to do with each other.

Welch's t interval of the difference of mean logarithms. Rounds of cells that take turns see the same hours of the host,
so what drifts is in the scatter of both. Unlike a verdict it may not be looked at again and again: it describes.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, variance

ROUNDS_MIN = 2


@dataclass(frozen=True)
class Apart:
    """The ratio second / first with its limits; 0 and infinity where the rounds cannot tell."""

    ratio: float
    low: float
    high: float


def apart(first: Sequence[float], second: Sequence[float], alpha: float) -> Apart:
    """Of positive values, one per round; `alpha` is of this interval.

    >>> found = apart([10.0, 10.2, 9.9, 10.1], [11.0, 11.1, 10.9, 11.2], 0.01)
    >>> f"{found.ratio:.3f} {found.low:.3f} {found.high:.3f}"
    '1.100 1.065 1.136'
    """
    logs = [[math.log(value) for value in values] for values in (first, second)]
    if not all(logs):
        return Apart(math.nan, 0.0, math.inf)
    difference = fmean(logs[1]) - fmean(logs[0])
    if any(len(values) < ROUNDS_MIN for values in logs):
        return Apart(math.exp(difference), 0.0, math.inf)
    parts = [variance(values) / len(values) for values in logs]
    total = sum(parts)
    if total == 0:
        return Apart(*(math.exp(difference),) * 3)
    df = total**2 / sum(part**2 / (len(values) - 1) for part, values in zip(parts, logs, strict=True))
    half = _t(alpha, df) * math.sqrt(total)
    return Apart(math.exp(difference), _exp(difference - half), _exp(difference + half))


def around(values: Sequence[float], alpha: float) -> Apart:
    """The geometric mean of positive values, one per round, with Student's limits, in their unit."""
    logs = [math.log(value) for value in values]
    if not logs:
        return Apart(math.nan, 0.0, math.inf)
    if len(logs) < ROUNDS_MIN:
        return Apart(math.exp(fmean(logs)), 0.0, math.inf)
    half = _t(alpha, len(logs) - 1) * math.sqrt(variance(logs) / len(logs))
    return Apart(math.exp(fmean(logs)), _exp(fmean(logs) - half), _exp(fmean(logs) + half))


def _t(alpha: float, df: float) -> float:
    from scipy.special import stdtrit  # as in `judge.interval`: most reports do without scipy

    return float(-stdtrit(df, alpha / 2))


def _exp(logarithm: float) -> float:
    return math.exp(logarithm) if logarithm < 700 else math.inf
