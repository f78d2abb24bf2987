"""What a verdict is."""

import math
from dataclasses import dataclass
from enum import Enum

WHOLE_CELL = "cell"
"""The subject of a metric that is measured on the whole cell; a statement's subject is its text."""


class Outcome(Enum):
    """SAME: the interval lies inside the margin. SLOWER, FASTER: else it excludes no change.

    UNDECIDED: neither, or fewer rounds than a verdict needs.
    """

    SAME = "SAME"
    SLOWER = "SLOWER"
    FASTER = "FASTER"
    UNDECIDED = "UNDECIDED"


@dataclass(frozen=True)
class Verdict:
    """The judgement of one metric of one cell.

    `effect` = candidate / baseline, with its interval [`low`, `high`], at level `alpha`, which holds
    however often one looked. The effect is estimated at balanced order,
    so it need not be the quotient of the two values to the last digit. Where nothing can be estimated yet
    (fewer than five rounds, or an order that never varied), effect, low and high are NaN, 0 and infinity;
    for a few rounds more there is an effect, and the limits are still 0 and infinity.
    """

    metric: str
    subject: str
    baseline: str
    candidate: str
    baseline_value: float
    """Geometric mean of the rounds' values, in the metric's unit."""
    candidate_value: float
    effect: float
    low: float
    high: float
    confidence: float
    margin: float
    outcome: Outcome
    detectable: bool
    """SAME although the interval excludes no change: a difference, smaller than anyone cares about."""
    rounds: int
    """Measured rounds that have a value of this metric and subject; the others are left out of it."""
    alpha: float
    """The level of the interval: for a primary metric by `judge.family`, for others by `judge.alpha`."""
    e_value: float
    """Evidence against "no change"; it is decisive at 1 / alpha.

    NaN where the number of rounds was fixed and reached: the interval is then Student's.
    """
    round_sd: float
    """Standard deviation of a round's log ratio, orders accounted for."""
    more_rounds: int | None
    """UNDECIDED: about how many more rounds would settle it, as things look now: as likely fewer as more.

    None where it is decided; undecided with an effect, None means more than `decide.MORE_ROUNDS_MAX`.
    """
    more_rounds_range: tuple[int, int | None] | None = None
    """The range of `more_rounds` that holds 80 % (`forecast.SHARE`); its end is None beyond MORE_ROUNDS_MAX."""
    withheld: str | None = None
    """Why it is UNDECIDED although its interval says SAME; None where nothing is held back."""
    pulled_in: int = 0
    """Rounds that lay so far out that they count as less far (`judge.pulling`)."""

    @property
    def noise_floor(self) -> float:
        """The largest effect that these rounds would leave unclaimed, as a share: 0.005 is 0.5 %, either way.

        Half the width of the interval on the log scale, which is what rounds of equal servers that scatter like
        these show at most, but for `alpha` of all runs (METHODOLOGY.md#noise-floor). SLOWER and FASTER are said
        of effects beyond it only. Infinite where there is no interval yet.
        """
        if self.low <= 0 or math.isinf(self.high):
            return math.inf
        return math.expm1((math.log(self.high) - math.log(self.low)) / 2)

    @property
    def bound(self) -> float:
        """The largest difference the interval holds, either way, as a share: SAME says that there is none above."""
        if self.low <= 0 or math.isinf(self.high):
            return math.inf
        return math.expm1(max(abs(math.log(self.low)), abs(math.log(self.high))))
