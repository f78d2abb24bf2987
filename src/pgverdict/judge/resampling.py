"""Runs made up from recorded rounds, and what the product's own rule would have said of each.

A made-up run has the orders of a real plan. Each of its rounds is

    effect + orders x order effects + a rest drawn from the recorded rests

where effect, order effects and rests are those of the recorded rounds, by the same least squares that judges them.
A rest is widened by sqrt(rounds / df), since least squares makes rests smaller than errors are. With `flip`, effect
and rest of every round get a sign by lot: of equal arms any other sign would have been as likely, so that what
persisted between the two becomes noise, and every verdict but SAME is a false alarm.

Drawing rounds one by one removes dependence between rounds: what it does is told by `judge.neighbours`, not here.
Everything is a log ratio that grows as the candidate gets slower.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np

from pgverdict.judge.decide import ROUNDS_MIN
from pgverdict.judge.estimate import Estimate, FloatArray, estimate, order_columns
from pgverdict.judge.interval import Kind, interval
from pgverdict.judge.pulling import as_judged
from pgverdict.judge.verdict import Outcome
from pgverdict.plan.rounds import arrange

PLANS = 20
"""Made-up runs come in so many orders: enough that no order matters, and far fewer projections than runs."""


@dataclass(frozen=True)
class Series:
    """What the rounds of a run said about one candidate: log ratios, one per round, and their orders, a row each."""

    log_ratios: FloatArray
    orders: FloatArray
    metric: str = "tps"
    """Which it is decides how rounds far out count (`judge.pulling`)."""

    @property
    def result(self) -> Estimate:
        """The estimate that the product would make of it."""
        return estimate(as_judged(self.metric, self.log_ratios), self.orders)


@dataclass(frozen=True)
class Fitted:
    """A series taken apart. The rests are as wide as errors are, and centred where no round was pulled in."""

    effect: float
    order_effects: FloatArray
    rests: FloatArray
    df: int
    metric: str


@dataclass(frozen=True)
class Ends:
    """How made-up runs ended, an entry per run. `rounds` is that of the verdict, or all there were."""

    outcomes: tuple[Outcome, ...]
    rounds: FloatArray
    low: FloatArray
    high: FloatArray

    def count(self, *outcomes: Outcome) -> int:
        """How many runs ended so."""
        return sum(outcome in outcomes for outcome in self.outcomes)

    def rounds_quantile(self, share: float) -> float | None:
        """The rounds that this share of runs needs at most for a verdict; None if fewer runs came to one."""
        open_ = np.array([outcome is Outcome.UNDECIDED for outcome in self.outcomes])
        needed = np.sort(np.where(open_, np.inf, self.rounds))
        found = float(needed[max(0, int(np.ceil(share * needed.size)) - 1)])
        return found if np.isfinite(found) else None


def take_apart(series: Series) -> Fitted | None:
    """Effect, order effects and rests; None where the rounds cannot tell the effect from the orders."""
    result = series.result
    if not result.known:
        return None
    rounds = series.log_ratios.size
    columns = np.hstack([np.ones((rounds, 1)), series.orders])
    solved, _, _, _ = np.linalg.lstsq(columns, as_judged(series.metric, series.log_ratios), rcond=None)
    rests = series.log_ratios - columns @ solved
    widened = rests * np.sqrt(rounds / result.df)
    return Fitted(
        float(result.log_ratio), np.asarray(solved[1:]), np.asarray(widened), result.df, series.metric
    )


def made_up_runs(
    random: np.random.Generator, fitted: Fitted, *, runs: int, rounds: int, flip: bool = False
) -> Iterator[Series]:
    """PLANS groups of runs that share an order; `log_ratios` has a row per run."""
    for plan in range(PLANS):
        orders = _orders(plan, rounds)
        size = (runs // PLANS, rounds)
        own = fitted.effect + fitted.rests[random.integers(fitted.rests.size, size=size)]
        if flip:
            own = own * random.choice(np.array([-1.0, 1.0]), size=size)
        yield Series(own + orders @ fitted.order_effects, orders, fitted.metric)


@cache
def _orders(plan: int, rounds: int) -> FloatArray:
    """The orders of a comparison of two arms, the same whenever asked for."""
    orders = order_columns([arrange("made up", seed=plan, ordinal=i, pairs=0) for i in range(rounds)])
    orders.setflags(write=False)
    return orders


def first_ends(groups: Iterator[Series], *, alpha: float, margin: float) -> Ends:
    """Judge every run after each of its rounds from ROUNDS_MIN on, as the product does, until its first verdict."""
    outcomes: list[Outcome] = []
    numbers: list[list[float]] = []
    for group in groups:
        runs, rounds = group.log_ratios.shape
        ended: list[Outcome] = [Outcome.UNDECIDED] * runs
        facts = np.column_stack([np.full(runs, float(rounds)), np.full(runs, -np.inf), np.full(runs, np.inf)])
        going = np.arange(runs)
        for looked in range(ROUNDS_MIN, rounds + 1):
            result = Series(group.log_ratios[going, :looked], group.orders[:looked], group.metric).result
            low, high = interval(result, alpha, Kind.ANYTIME)
            facts[going] = np.column_stack([np.full(going.size, float(looked)), low, high])
            limit = np.log1p(margin)
            over = (low > 0) | (high < 0) | ((-limit <= low) & (high <= limit))
            said = outcomes_of(low[over], high[over], margin=margin)
            for run, outcome in zip(going[over], said, strict=True):
                ended[run] = outcome
            going = going[~over]
            if not going.size:
                break
        outcomes += ended
        numbers += facts.tolist()
    table = np.array(numbers).reshape(-1, 3)
    return Ends(tuple(outcomes), table[:, 0], table[:, 1], table[:, 2])


def outcomes_of(low: FloatArray, high: FloatArray, *, margin: float) -> list[Outcome]:
    """`decide.decide` for many intervals of something that grows as the candidate gets slower."""
    limit = np.log1p(margin)
    same = (-limit <= low) & (high <= limit)
    return [
        Outcome.SAME if s else Outcome.SLOWER if above else Outcome.FASTER if below else Outcome.UNDECIDED
        for s, above, below in zip(same, low > 0, high < 0, strict=True)
    ]
