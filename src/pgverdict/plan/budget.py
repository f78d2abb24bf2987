"""How a budget in time is spent: one round at a time, first on a minimum for every cell, then where verdicts are open
and within reach. What that means for the errors of many cells together: docs/statistics.md (Many cells).

Servers start anew for every round, so going from cell to cell costs nothing where the data of both is at hand, and
every cell sees the whole length of the run and whatever the host did in it. Where not all data is on disk at once,
a cell whose data is at hand is stayed with for a while: a visit.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median


@dataclass(frozen=True)
class CellProgress:
    """How far a cell is. `more_rounds` is what its verdict would take, where that can be said."""

    rounds_s: tuple[float, ...]
    decided: bool
    given_up: bool = False
    more_rounds: int | None = None
    expected_s: float = 0.0
    """What a round will take, where that can be said before the first."""
    at_hand: bool = True
    """Whether its data is prepared."""
    visited_s: tuple[float, ...] = ()
    """The rounds it had since its data was prepared."""
    prepared_in_s: float = 0.0
    """How long that took."""

    @property
    def open(self) -> bool:
        """Whether the cell still wants rounds."""
        return not (self.decided or self.given_up)

    @property
    def round_s(self) -> float:
        """What a round of this cell takes; before the first, what is expected of it."""
        return median(self.rounds_s) if self.rounds_s else self.expected_s

    def is_visited(self, minimum: int) -> bool:
        """Whether it is at hand and has not had as many rounds, or as much time, as its preparation was worth."""
        worth = len(self.visited_s) >= minimum and sum(self.visited_s) >= self.prepared_in_s
        return self.at_hand and not worth


def next_cell(
    cells: Sequence[CellProgress], *, spent_s: float, budget_s: float, minimum: int = 0
) -> int | None:
    """The open cell that is next, if a round of it still fits the budget; None ends the run.

    Cells with fewer than `minimum` rounds come first, those in the middle of a visit before others, then those
    `within_reach`, and among equals the one that got the least time so far.
    """
    reached = within_reach(cells, left_s=budget_s - spent_s)
    candidates = [
        (
            len(cell.rounds_s) >= minimum,
            not cell.is_visited(minimum),
            number not in reached,
            sum(cell.rounds_s),
            number,
        )
        for number, cell in enumerate(cells)
        if cell.open and spent_s + cell.round_s <= budget_s
    ]
    return min(candidates)[-1] if candidates else None


def within_reach(cells: Sequence[CellProgress], *, left_s: float) -> frozenset[int]:
    """The open cells whose verdicts the time left is forecast to be enough for, together: the cheapest, so that they
    are as many as can be. A verdict that would take hours gets what the others leave.

    >>> rounds_s = (3.0,) * 8
    >>> one, two, far = (CellProgress(rounds_s, decided=False, more_rounds=more) for more in (10, 15, 900))
    >>> sorted(within_reach([far, two, one], left_s=75)), sorted(within_reach([far, two, one], left_s=74))
    ([1, 2], [2])
    """
    wanted = sorted(
        (cell.more_rounds * cell.round_s, number)
        for number, cell in enumerate(cells)
        if cell.open and cell.more_rounds is not None
    )
    reached = set()
    for wanted_s, number in wanted:
        left_s -= wanted_s
        if left_s < 0:
            break
        reached.add(number)
    return frozenset(reached)


@dataclass(frozen=True)
class Reach:
    """How far a budget goes towards a minimum for every cell."""

    cells: int
    """For so many it is enough."""
    share_s: float
    """The others get so much time each; where there are none, no cell needs more."""


def reach(needs_s: Sequence[float], budget_s: float) -> Reach:
    """What `next_cell` makes of a budget, about, where every cell first needs a time of its own.

    All get the same time until they have what they need, so those that need least have it first.

    >>> reach([10, 40, 100], 90)
    Reach(cells=2, share_s=40.0)
    >>> reach([10, 40, 100], 70)
    Reach(cells=1, share_s=30.0)
    """
    left = budget_s
    for cells, need_s in enumerate(sorted(needs_s)):
        others = len(needs_s) - cells
        if need_s * others > left:
            return Reach(cells, left / others)
        left -= need_s
    return Reach(len(needs_s), float(max(needs_s, default=0.0)))


def time_left_s(cells: Sequence[CellProgress], *, spent_s: float, budget_s: float) -> float:
    """An estimate: what the open cells would take, but no more than the budget leaves.

    >>> done = CellProgress((3.0, 3.0), decided=True)
    >>> open_ = CellProgress((3.0, 3.0), decided=False, more_rounds=5)
    >>> time_left_s([done, open_], spent_s=12, budget_s=300)
    15.0
    """
    left = max(0.0, budget_s - spent_s)
    wanted = 0.0
    for cell in cells:
        if cell.open:
            if cell.more_rounds is None or not cell.round_s:
                return left
            wanted += cell.more_rounds * cell.round_s
    return min(left, wanted)
