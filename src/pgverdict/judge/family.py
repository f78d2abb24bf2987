"""How sure every verdict of a run has to be, when there are many: the rule for the primary metrics.

The family are the primary metrics of every cell and candidate, K in all, measured or not. Differences and SAMEs
are counted apart. With k the largest number such that at least k members exclude "no change" by intervals at
level alpha k / K, those k differ; with k the largest number such that at least k lie inside the margin at that
level, those are SAME. Of the differences claimed, a share of at most alpha is then expected to be wrong, and so
it is of the SAMEs, and of both together: e-BY (Xu, Wang, Ramdas), the form for intervals of e-BH (Wang, Ramdas),
and, with Student's intervals, the rule of Benjamini and Yekutieli (2005). docs/statistics.md#many-cells says what
is proven under which conditions, what is simulated, and why the two kinds do not share one count.

One member alone has the whole alpha; where all end SLOWER, or all SAME, each has. A wider level undoes neither
claim, so exactly k members make it. k depends on how many make it at each level and on nothing else, so the
order of the cells cannot matter, nor can ties.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np


class Member(Protocol):
    """A primary metric of a cell and candidate. A larger alpha may add a claim and takes none back."""

    def different_at(self, alpha: float) -> bool:
        """Whether there may be verdicts, and its interval at this level excludes no change."""

    def same_at(self, alpha: float) -> bool:
        """Whether there may be verdicts, and its interval at this level lies inside the margin."""


@dataclass(frozen=True)
class Levels:
    """The alphas of a member's interval: for each of the two claims now, and if it were the next to make it."""

    different: float
    """At which SLOWER and FASTER are said, and a difference is detectable."""
    same: float
    """At which SAME is said."""
    next_different: float
    next_same: float

    @classmethod
    def alone(cls, alpha: float) -> "Levels":
        """Of what is judged by itself."""
        return cls(alpha, alpha, alpha, alpha)


@dataclass(frozen=True)
class Family:
    """Where the members stand together."""

    alpha: float
    """The error probability of the run, 1 - confidence."""
    members: int
    different: int
    """How many exclude no change at their level; those that are SAME all the same are among them."""
    same: int

    @property
    def levels(self) -> Levels:
        """What follows for every member. A further member that makes a claim is one of k + 1 that make it."""
        return Levels(
            different=float(level(self.alpha, self.members, self.different)),
            same=float(level(self.alpha, self.members, self.same)),
            next_different=float(level(self.alpha, self.members, min(self.different + 1, self.members))),
            next_same=float(level(self.alpha, self.members, min(self.same + 1, self.members))),
        )


def settle(alpha: float, members: Sequence[Member], *, size: int) -> Family:
    """The family of that size, given what its members say now; those that are not there yet claim nothing."""

    def different_at(at: float) -> int:
        return sum(member.different_at(float(at)) for member in members)

    def same_at(at: float) -> int:
        return sum(member.same_at(float(at)) for member in members)

    return Family(
        alpha,
        size,
        different=int(largest_count(alpha, size, different_at)),
        same=int(largest_count(alpha, size, same_at)),
    )


def largest_count(alpha: float, members: int, count_at: Callable[[Any], Any]) -> Any:
    """The largest k with `count_at(alpha k / members)` >= k, 0 if there is none; an int, or an array of ints.

    Descends: if only m < k make the claim at the level of k, no number between m and k can do, since their levels
    are smaller still.

        >>> p_values = np.array([0.001, 0.012, 0.013, 0.4])
        >>> int(largest_count(0.02, 4, lambda level: int((p_values <= level).sum())))
        3
    """
    k = members
    while True:
        fewer = np.minimum(k, count_at(level(alpha, members, k)))
        if np.array_equal(fewer, k):
            return k
        k = fewer


def level(alpha: float, members: int, count: Any) -> Any:
    """alpha k / K, with k at least 1; exactly alpha where k = K."""
    return alpha * (np.maximum(count, 1) / members)
