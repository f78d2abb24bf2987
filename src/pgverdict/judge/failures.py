"""Failed rounds: a round that failed is an outcome that nobody saw, and that no interval contains.

If an arm fails in the rounds in which it would have been slow, those that remain flatter it. Two questions are
asked of a baseline and a candidate (METHODOLOGY.md#failed-rounds): is one of them blamed more often than chance
would, and were there so many failures that SAME cannot be said any more?

    >>> blame_p_value(0, 8), blame_p_value(3, 4), blame_p_value(0, 0)
    (0.0078125, 1.0, 1.0)
"""

import math
from dataclasses import dataclass

from pgverdict.records.round import RoundState
from pgverdict.records.run import CellRecord

FAILED_PERCENT_MAX = 5
"""SAME is withheld if a larger part of the rounds failed. A slow-down by 20 % in 5 % of rounds is the usual margin."""


@dataclass(frozen=True)
class Failures:
    """A cell's rounds as a baseline and a candidate saw them: without those that another candidate failed."""

    rounds: int
    """Measured and failed."""
    failed: int
    baseline: int
    """Failed rounds that are blamed on it."""
    candidate: int

    @property
    def p_value(self) -> float:
        """How likely blame at least as uneven is if either arm is as likely to fail."""
        return blame_p_value(self.baseline, self.candidate)

    @property
    def withholds_same(self) -> bool:
        """Whether so many failed that SAME cannot be said."""
        return 100 * self.failed > FAILED_PERCENT_MAX * self.rounds

    @property
    def more_rounds(self) -> int:
        """How many further rounds, none of them failed, make the failed ones few enough; 0 if they are."""
        return max(0, -(-100 * self.failed // FAILED_PERCENT_MAX) - self.rounds)

    @property
    def reason(self) -> str:
        """Why SAME is withheld, where it is."""
        return f"{self.failed} of {self.rounds} rounds failed, more than {FAILED_PERCENT_MAX} %"


def count_failures(cell: CellRecord, candidate: int) -> Failures:
    """Of the rounds of a cell, for the arm of that number and the baseline."""
    concerned = [r for r in cell.rounds if r.blamed in (None, 0, candidate)]
    failed = [r for r in concerned if r.state is RoundState.FAILED]
    return Failures(
        rounds=len(concerned),
        failed=len(failed),
        baseline=sum(r.blamed == 0 for r in failed),
        candidate=sum(r.blamed == candidate for r in failed),
    )


def blame_p_value(baseline: int, candidate: int) -> float:
    """The exact two-sided binomial test of one half, for so many failures blamed on each."""
    both, more = baseline + candidate, max(baseline, candidate)
    tail = sum(math.comb(both, k) for k in range(more, both + 1))
    return min(1.0, float(2 * tail / (1 << both)))
