"""A budget that does not last, spent one round at a time: the same campaigns, with other cells served first.

`run` serves all open cells in turn. Which cell is served may also depend on what the cells say, and has to, where
verdicts in reach are to have the rounds: `plan.budget.within_reach`. Two orders go farther than any forecast would:
always the open cell that is nearest to a verdict, and always the one that is furthest from it. They need no forecast,
so thousands of campaigns are served at once. `spend_as_product` is the rule itself, by the product's own functions,
campaign by campaign. Every cell has ROUNDS_MIN rounds first, and the family is settled after each round, as in the
product.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from bench.simulations.campaigns import (
    MARGIN,
    UNDECIDED,
    Claims,
    Ended,
    IntArray,
    Looks,
    claims,
    ended,
    said,
)
from bench.simulations.noise import FloatArray
from pgverdict.judge.decide import ROUNDS_MIN
from pgverdict.judge.estimate import estimate
from pgverdict.judge.family import Levels, level, settle
from pgverdict.judge.forecast import forecast
from pgverdict.judge.interval import Kind
from pgverdict.plan.budget import CellProgress, next_cell


@dataclass(frozen=True)
class Standing:
    """What all campaigns have shown so far: arrays (campaign, cell)."""

    rounds: IntArray
    different: FloatArray
    """The smallest alpha at which the cell is different, and SAME."""
    same: FloatArray
    claims: Claims
    alpha: float

    @property
    def distance(self) -> FloatArray:
        """Of an open cell to the nearer of its two verdicts: its smallest alpha / the level that it would have if it
        were the next to say so. At 1 it is decided."""
        cells = self.rounds.shape[1]
        of_both = [
            smallest / level(self.alpha, cells, np.minimum(count + 1, cells))[:, None]
            for smallest, count in ((self.different, self.claims.different), (self.same, self.claims.same))
        ]
        return np.asarray(np.minimum(*of_both))


Order = Callable[[Standing], FloatArray]
"""The open cell with the smallest of these is served, the first of them where several are."""

ORDERS: dict[str, Order] = {
    "in turn": lambda standing: standing.rounds.astype(float),
    "nearest": lambda standing: standing.distance,
    "furthest": lambda standing: -standing.distance,
}

PRODUCT = "as the product does"


def spend(
    looks: Looks, alpha: float, order: Order, budgets: Sequence[int], *, together: bool = False
) -> dict[int, Ended]:
    """How campaigns stand when each of these budgets is spent, in rounds per cell, ROUNDS_MIN or more.

    An order does not know the budget, so that a smaller one ends on the way of a larger. `together` as in `run`.
    """
    campaigns, cells = looks.truth.shape
    assert looks.first == ROUNDS_MIN <= min(budgets), (looks.first, budgets)
    last = looks.effect.shape[0] - 1
    at = np.zeros((campaigns, cells), dtype=int)
    different, same = said(looks, at)
    going = np.arange(campaigns)  # whose budget may still do something
    ends = {}
    for spent in range(cells * ROUNDS_MIN, cells * max(budgets) + 1):
        if spent in [cells * budget for budget in budgets]:
            ends[spent // cells] = ended(looks, at, alpha, together=together)
        found = claims(different[going], same[going], alpha, together=together)
        open_ = (found.verdict == UNDECIDED) & (at[going] < last)
        standing = Standing(at[going] + looks.first, different[going], same[going], found, alpha)
        next_ = np.where(open_, order(standing), np.inf).argmin(axis=1)
        some = open_.any(axis=1)
        going, next_ = going[some], next_[some]
        at[going, next_] += 1
        look = at[going, next_]
        different[going, next_] = looks.different[look, going, next_]
        same[going, next_] = looks.same[look, going, next_]
    return ends


def spend_as_product(looks: Looks, alpha: float, budgets: Sequence[int]) -> dict[int, Ended]:
    """As `spend`, in the order of `plan.budget.next_cell`, with forecasts; rounds are of equal length."""
    stopped = np.array([_looks_served(looks, number, alpha, budgets) for number in range(len(looks.truth))])
    return {budget: ended(looks, stopped[:, place], alpha) for place, budget in enumerate(budgets)}


@dataclass(frozen=True)
class _Cell:
    """A member of the family: what a cell says after some rounds."""

    different: float
    same: float

    def different_at(self, alpha: float) -> bool:
        return self.different <= alpha

    def same_at(self, alpha: float) -> bool:
        return self.same <= alpha


def _looks_served(looks: Looks, campaign: int, alpha: float, budgets: Sequence[int]) -> list[list[int]]:
    """Of one campaign: the last look at each cell, for each budget."""
    cells, last = looks.truth.shape[1], looks.effect.shape[0] - 1
    known: dict[tuple[int, int, float, float], int | None] = {}  # budgets have much of their way in common

    def more_rounds(cell: int, look: int, levels: Levels) -> int | None:
        key = (cell, look, levels.next_different, levels.next_same)
        if key not in known:
            rounds = look + looks.first
            takes = forecast(
                estimate(looks.log_ratios[campaign, cell, :rounds], looks.orders[cell, :rounds]),
                rounds=rounds,
                alpha=levels.next_different,
                alpha_same=levels.next_same,
                margin=MARGIN,
                kind=Kind.ANYTIME,
            )
            known[key] = None if takes is None else takes.rounds
        return known[key]

    def served(budget: int) -> list[int]:
        at = [0] * cells
        while True:
            members = [
                _Cell(looks.different[look, campaign, cell], looks.same[look, campaign, cell])
                for cell, look in enumerate(at)
            ]
            levels = settle(alpha, members, size=cells).levels
            decided = [m.different_at(levels.different) or m.same_at(levels.same) for m in members]
            progress = [
                CellProgress(
                    rounds_s=(1.0,) * (look + looks.first),
                    decided=decided[cell],
                    given_up=look == last,
                    more_rounds=None if decided[cell] else more_rounds(cell, look, levels),
                )
                for cell, look in enumerate(at)
            ]
            rounds = sum(at) + cells * looks.first
            number = next_cell(progress, spent_s=rounds, budget_s=cells * budget, minimum=ROUNDS_MIN)
            if number is None:
                return at
            at[number] += 1

    return [served(budget) for budget in budgets]
