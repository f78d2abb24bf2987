"""From an interval to a verdict's outcome, and what an open one would still take.

The margin is symmetric on the log scale: SAME needs the whole interval between 1 / (1 + margin) and
1 + margin. Which arm is called baseline, and whether a metric counts time or work per time, then
makes no difference: both turn an effect into its reciprocal.
"""

import math

import numpy as np

from pgverdict.judge.estimate import Estimate, FloatArray
from pgverdict.judge.interval import Kind, half_width_t
from pgverdict.judge.verdict import Outcome
from pgverdict.spec.metrics import Better

ROUNDS_MIN = 8
"""No verdict before the first block of the plan for two arms is complete (METHODOLOGY.md#minimum).

Eight rounds of two arms hold every combination of orders once, and leave four degrees of freedom beside the intercept
and three nuisances. The intervals are right with fewer, for noise that is normal; with one or two degrees of
freedom they lean on that assumption and on nothing else.
"""

MORE_ROUNDS_MAX = 10_000
"""Further than this no forecast is made: eight hours of rounds of three seconds."""


Limits = tuple[float, float]
"""Of a log ratio, lower and upper."""


def decide(
    low: float, high: float, *, margin: float, better: Better, rounds: int, same: Limits | None = None
) -> tuple[Outcome, bool]:
    """The outcome and whether SAME is a detectable difference. `low` and `high` limit the log ratio.

    `same`: the interval that SAME is told from, where that has to be more or less sure than a difference
    (`judge.family`); for what is judged by itself the two are one.
    """
    if rounds < ROUNDS_MIN:
        return Outcome.UNDECIDED, False
    excludes_no_change = low > 0 or high < 0
    limit = math.log1p(margin)
    same = same or (low, high)
    if -limit <= same[0] and same[1] <= limit:
        return Outcome.SAME, excludes_no_change
    if not excludes_no_change:
        return Outcome.UNDECIDED, False
    grew = low > 0
    return (Outcome.SLOWER if grew is (better is Better.LOWER) else Outcome.FASTER), False


def more_rounds(
    result: Estimate,
    *,
    rounds: int,
    alpha: float,
    margin: float,
    kind: Kind,
    alpha_same: float | None = None,
) -> int | None:
    """The fewest further rounds that would settle it if estimate and spread stayed what they are now.

    `alpha` is that of a difference, and of SAME unless `alpha_same` is. None where there is no estimate yet, and
    where it would take more than MORE_ROUNDS_MAX. With FIXED it is about a new run of `rounds` and so many more,
    since this one has had its look.
    """
    if not result.known:
        return None
    more = np.arange(max(1, ROUNDS_MIN - rounds), MORE_ROUNDS_MAX + 1, dtype=np.float64)
    distance = abs(float(result.log_ratio))
    half = _half_width(result, more, alpha, kind)
    half_same = half if alpha_same is None else _half_width(result, more, alpha_same, kind)
    settled = (half < distance) | (distance + half_same <= math.log1p(margin))
    return int(more[settled.argmax()]) if settled.any() else None


def _half_width(result: Estimate, more: FloatArray, alpha: float, kind: Kind) -> FloatArray:
    information = result.information + more  # balanced orders lose nothing
    t = half_width_t(alpha, kind, df=result.df + more, information=information)
    error = float(result.sd) / np.sqrt(information)
    return np.where(np.isfinite(t), np.where(np.isfinite(t), t, 0.0) * error, np.inf)


def missable_share(rounds: int, confidence: float) -> float:
    """What happens in a smaller share p of rounds may have happened in none of these: (1 - p)^rounds > 1 - confidence.

    >>> round(missable_share(21, 0.99), 3)
    0.197
    """
    return float(1 - (1 - confidence) ** (1 / rounds))
