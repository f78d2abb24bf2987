"""From an interval to a verdict's outcome.

The margin is symmetric on the log scale: SAME needs the whole interval between 1 / (1 + margin) and
1 + margin. Which arm is called baseline, and whether a metric counts time or work per time, then
makes no difference: both turn an effect into its reciprocal.
"""

import math

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


def missable_share(rounds: int, confidence: float) -> float:
    """What happens in a smaller share p of rounds may have happened in none of these: (1 - p)^rounds > 1 - confidence.

    >>> round(missable_share(21, 0.99), 3)
    0.197
    """
    return float(1 - (1 - confidence) ** (1 / rounds))
