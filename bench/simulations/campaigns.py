"""Campaigns whose truth is known: thousands at once, round after round, by the product's own functions.

Every cell has a plan of its own (`plan.arrange`), its rounds are estimated (`judge.estimate`) and weighed
(`judge.evalue`) after every round, a cell stops as soon as it is among the decided (`judge.family`), and the
rounds it leaves over go to the others, until the budget is spent. Simplified in one thing: the family is settled
when every open cell has had its round, not after each single one (`spending` does that, and serves in other orders).

Axes: campaign, cell, and for stored looks the number of rounds first.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr

from bench.simulations.noise import FloatArray, Noise
from pgverdict.judge.decide import ROUNDS_MIN
from pgverdict.judge.estimate import Estimate, estimate, order_columns
from pgverdict.judge.evalue import log_e_value
from pgverdict.judge.family import largest_count, level
from pgverdict.judge.interval import Kind
from pgverdict.judge.pulling import pull_in
from pgverdict.plan.rounds import arrange

IntArray = NDArray[np.int_]

START_EFFECT = 0.0094
"""How much slower the server is that starts first (METHODOLOGY.md#order)."""

MARGIN = 0.01


@cache
def planned_orders(cell: int, rounds: int) -> FloatArray:
    """The order columns of a real plan."""
    plans = [arrange(f"cell {cell}", seed=20261121, ordinal=i) for i in range(rounds)]
    return order_columns(plans)


Truth = Callable[[np.random.Generator, tuple[int, int]], FloatArray]
"""(random, (campaigns, cells)) -> the true log ratio of every cell of every campaign."""


def equal(_random: np.random.Generator, shape: tuple[int, int]) -> FloatArray:
    """Equal servers in all cells."""
    return np.zeros(shape)


def one_slower(_random: np.random.Generator, shape: tuple[int, int]) -> FloatArray:
    """1 % slower in one cell, equal in the others."""
    effects = np.zeros(shape)
    effects[:, 0] = np.log(1.01)
    return effects


MIX = {1.0: 0.6, 1.005: 0.1, 1.01: 0.1, 1.02: 0.1, 0.98: 0.1}
"""Effect to the share of cells that have it."""


def mixed(random: np.random.Generator, shape: tuple[int, int]) -> FloatArray:
    """Drawn for every cell from MIX."""
    return np.asarray(np.log(random.choice(list(MIX), shape, p=list(MIX.values()))))


@dataclass(frozen=True)
class Looks:
    """What every cell says after every number of rounds from ROUNDS_MIN on: arrays (look, campaign, cell)."""

    truth: FloatArray
    effect: FloatArray
    error: FloatArray
    different: FloatArray
    """The smallest alpha at which the interval excludes no change: 1 / e."""
    same: FloatArray
    """The smallest alpha at which it lies inside the margin; infinite where it cannot."""
    wrong: FloatArray
    """The smallest alpha at which it excludes the truth: 1 / e of the truth."""
    orders: FloatArray
    """(cell, round, kind of order)."""
    log_ratios: FloatArray
    """(campaign, cell, round)."""
    first: int
    """After how many rounds the first look is."""

    def of_first(self, campaigns: int) -> "Looks":
        """The same of so many campaigns."""
        return replace(
            self,
            truth=self.truth[:campaigns],
            log_ratios=self.log_ratios[:campaigns],
            **{
                name: getattr(self, name)[:, :campaigns]
                for name in ("effect", "error", "different", "same", "wrong")
            },
        )


def simulate(
    noise: Noise,
    truth: Truth,
    random: np.random.Generator,
    *,
    campaigns: int,
    cells: int,
    rounds: int,
    kind: Kind = Kind.ANYTIME,
    pulled: bool = False,
) -> Looks:
    """Measure every cell for `rounds` rounds, and look at it after each; once, at the end, if the rounds are fixed.

    `pulled`: as a typical metric is judged, rounds far out pulled in.
    """
    first = ROUNDS_MIN if kind is Kind.ANYTIME else rounds
    effects = truth(random, (campaigns, cells))
    orders = np.stack([planned_orders(cell, rounds) for cell in range(cells)])
    measured = effects[..., None] + START_EFFECT * orders[None, :, :, 0]
    measured = measured + noise(random, (campaigns, cells, rounds))
    seen = pull_in if pulled else np.asarray
    looks = [
        [_look(seen(measured[:, c, :n]), orders[c, :n], effects[:, c], kind) for c in range(cells)]
        for n in range(first, rounds + 1)
    ]

    def stacked(pick: Callable[["_Look"], FloatArray]) -> FloatArray:
        return np.array([[pick(one) for one in look] for look in looks]).transpose(0, 2, 1)

    return Looks(
        truth=effects,
        effect=stacked(lambda one: one.result.log_ratio),
        error=stacked(lambda one: one.result.standard_error),
        different=stacked(lambda one: one.different),
        same=stacked(lambda one: one.same),
        wrong=stacked(lambda one: one.wrong),
        orders=orders,
        log_ratios=measured,
        first=first,
    )


@dataclass(frozen=True)
class _Look:
    """What one cell of all campaigns says after some rounds."""

    result: Estimate
    different: FloatArray
    same: FloatArray
    wrong: FloatArray


def _look(log_ratios: FloatArray, orders: FloatArray, truth: FloatArray, kind: Kind) -> _Look:
    result = estimate(log_ratios, orders)
    room = np.log1p(MARGIN) - np.abs(result.log_ratio)
    return _Look(
        result,
        different=_smallest_alpha(result, result.log_ratio, kind),
        same=np.where(room >= 0, _smallest_alpha(result, room, kind), np.inf),
        wrong=_smallest_alpha(result, result.log_ratio - truth, kind),
    )


def _smallest_alpha(result: Estimate, distance: FloatArray, kind: Kind) -> FloatArray:
    """At which an interval around the estimate is no wider than this to either side."""
    t = np.asarray(distance / result.standard_error)
    if kind is Kind.FIXED:
        return np.asarray(2 * stdtr(result.df, -np.abs(t)))
    return np.asarray(np.exp(-log_e_value(t, df=result.df, information=result.information)))


UNDECIDED, SAME, DIFFERENT = 0, 1, 2


@dataclass(frozen=True)
class Ended:
    """Campaigns at their end: arrays (campaign, cell)."""

    rounds: IntArray
    level: FloatArray
    """Of the interval shown."""
    verdict: IntArray
    """UNDECIDED, SAME, or DIFFERENT, which is SLOWER or FASTER."""
    wrong: NDArray[np.bool_]
    """The interval shown excludes the truth."""
    e_of_truth: FloatArray
    """The e-value of the true effect: its expectation is 1 at most if it is an e-value at the stop."""
    effect: FloatArray
    error: FloatArray


def run(looks: Looks, alpha: float, *, rounds_each: int, together: bool = False) -> Ended:
    """Stop cells as they are decided, and spend a budget of `rounds_each` rounds per cell on the others.

    `together` is another rule, to compare with: differences and SAMEs share one k.
    """
    campaigns, cells = looks.truth.shape
    stopped = np.full((campaigns, cells), -1)  # the look at which a cell ended
    open_ = np.ones((campaigns, cells), dtype=bool)
    going = np.ones(campaigns, dtype=bool)
    spent = np.full(campaigns, cells * (looks.first - 1))
    for look in range(looks.effect.shape[0]):
        spent += open_.sum(axis=1)
        going &= (spent <= rounds_each * cells) & open_.any(axis=1)
        stopped = np.where(open_ & going[:, None], look, stopped)
        open_ &= claims(*said(looks, stopped), alpha, together=together).verdict == UNDECIDED
    return ended(looks, stopped, alpha, together=together)


def ended(looks: Looks, stopped: IntArray, alpha: float, *, together: bool = False) -> Ended:
    """Campaigns whose cells got no rounds after these looks (-1: none at all)."""
    found = claims(*said(looks, stopped), alpha, together=together)
    at = np.where(found.verdict == SAME, found.same_level,
                  np.where(found.verdict == DIFFERENT, found.different_level,
                           np.minimum(found.same_level, found.different_level)))  # fmt: skip
    wrong = _at(looks.wrong, stopped)
    return Ended(
        rounds=stopped + looks.first,
        level=at,
        verdict=found.verdict,
        wrong=wrong <= at,
        e_of_truth=1 / wrong,
        effect=_at(looks.effect, stopped),
        error=_at(looks.error, stopped),
    )


@dataclass(frozen=True)
class Claims:
    """Where the family of every campaign stands, in the words of `judge.family`."""

    different: IntArray
    """How many differ, per campaign."""
    same: IntArray
    different_level: FloatArray
    """(campaign, 1), as the next."""
    same_level: FloatArray
    verdict: IntArray
    """(campaign, cell)."""


def said(looks: Looks, stopped: IntArray) -> tuple[FloatArray, FloatArray]:
    """The smallest alphas at which every cell is different, and SAME, at these looks (-1: none)."""
    different, same = (np.where(stopped >= 0, _at(k, stopped), np.inf) for k in (looks.different, looks.same))
    return different, same


def claims(different: FloatArray, same: FloatArray, alpha: float, *, together: bool = False) -> Claims:
    """Of cells with these smallest alphas, arrays (campaign, cell)."""
    cells = different.shape[1]
    if together:
        different_count = same_count = _count(np.minimum(different, same), alpha)
    else:
        different_count, same_count = _count(different, alpha), _count(same, alpha)
    different_level, same_level = (
        np.asarray(level(alpha, cells, count))[:, None] for count in (different_count, same_count)
    )
    verdict = np.where(same <= same_level, SAME, np.where(different <= different_level, DIFFERENT, UNDECIDED))
    return Claims(different_count, same_count, different_level, same_level, verdict)


def _count(smallest: FloatArray, alpha: float) -> IntArray:
    return np.asarray(
        largest_count(alpha, smallest.shape[1], lambda at: (smallest <= np.reshape(at, (-1, 1))).sum(axis=1))
    )


def _at(values: FloatArray, look: IntArray) -> FloatArray:
    return np.asarray(np.take_along_axis(values, np.maximum(look, 0)[None], axis=0)[0])
