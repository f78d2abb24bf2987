"""Thousands of runs made of the recorded rounds of equal servers, judged by the product's own functions. Pure but for
the random generator it is given.

A made run follows a real plan. For each of its rounds one of the recorded rounds with that order is drawn; or one with
the opposite order, with the names of the two servers exchanged, which turns its log ratio's sign. Equal servers have
no name, so all of these are equally likely: the servers' labels are flipped at random, round by round. What is
drawn keeps the size and shape of the noise and the effects of the orders, and loses what comes of the sequence; that
is looked at in the sequence as it was (`cut`, `noise.autocorrelation`).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pgverdict.judge.decide import ROUNDS_MIN
from pgverdict.judge.estimate import FloatArray, estimate
from pgverdict.judge.interval import Kind, interval
from pgverdict.plan.rounds import arrange

from .figures import log_ratios, order_columns
from .recorded import Round

PLANS = 20

ORDERS = 8
"""Combinations of three orders."""


@dataclass(frozen=True)
class Alarms:
    """What runs of equal servers ended with."""

    runs: int
    false_verdicts: int
    """Ended SLOWER or FASTER: the interval excluded no change before it fitted into the margin."""
    ever_different: int
    """The interval excluded no change at some look, whatever had been said before."""
    same: int
    rounds_median: float
    """Until the end of a run, whatever it was; the whole length where nothing was decided."""

    def __add__(self, other: "Alarms") -> "Alarms":
        """Of two lots of runs; the median is their mean, weighted."""
        runs = self.runs + other.runs
        return Alarms(
            runs,
            self.false_verdicts + other.false_verdicts,
            self.ever_different + other.ever_different,
            self.same + other.same,
            (self.rounds_median * self.runs + other.rounds_median * other.runs) / max(runs, 1),
        )


NONE = Alarms(0, 0, 0, 0, 0.0)


def looked_at(ratios: FloatArray, orders: FloatArray, *, alpha: float, margin: float) -> Alarms:
    """Runs that share their orders (one row of `orders` per round), judged after every round."""
    runs, rounds = ratios.shape
    different = np.zeros((rounds + 1, runs), dtype=bool)
    same = np.zeros((rounds + 1, runs), dtype=bool)
    limit = np.log1p(margin)
    for seen in range(ROUNDS_MIN, rounds + 1):
        low, high = interval(estimate(ratios[:, :seen], orders[:seen]), alpha, Kind.ANYTIME)
        same[seen] = (-limit <= low) & (high <= limit)
        different[seen] = (low > 0) | (high < 0)
    # As `judge.decide` has it: inside the margin is SAME, also where no change is excluded.
    clearly = different & ~same
    end_different, end_same = _first(clearly), _first(same)
    return Alarms(
        runs=runs,
        false_verdicts=int((end_different < end_same).sum()),
        ever_different=int(different.any(axis=0).sum()),
        same=int((end_same < end_different).sum()),
        rounds_median=float(np.median(np.minimum(np.minimum(end_different, end_same), rounds))),
    )


def _first(seen: FloatArray | np.ndarray[tuple[int, int], np.dtype[np.bool_]]) -> FloatArray:
    return np.where(seen.any(axis=0), seen.argmax(axis=0), np.inf)


def resampled(
    rounds: Sequence[Round],
    name: str,
    *,
    alpha: float,
    margin: float,
    runs: int,
    length: int,
    random: np.random.Generator,
) -> Alarms:
    """Runs of `length` rounds made of the rounds that have the metric, in PLANS plans.

    None at all where some order was never measured, neither itself nor its opposite.
    """
    used = [r for r in rounds if name in r.values]
    pools = _pools(log_ratios(used, name), order_columns(used))
    found = NONE
    if len(pools) < ORDERS:
        return found
    for plan in range(PLANS):
        orders = _planned(length, plan)
        ratios = np.stack([random.choice(pools[_key(row)], size=runs // PLANS) for row in orders], axis=1)
        found = found + looked_at(ratios, orders, alpha=alpha, margin=margin)
    return found


def _pools(ratios: FloatArray, orders: FloatArray) -> dict[tuple[float, ...], FloatArray]:
    """Every order's rounds, those of the opposite order with the servers' names exchanged among them."""
    keys = [_key(row) for row in orders]
    mirrored = [_key(-row) for row in orders]
    pools: dict[tuple[float, ...], list[float]] = {}
    for key, other, ratio in zip(keys, mirrored, ratios, strict=True):
        pools.setdefault(key, []).append(float(ratio))
        pools.setdefault(other, []).append(-float(ratio))
    return {key: np.array(pool) for key, pool in pools.items()}


def _key(row: FloatArray) -> tuple[float, ...]:
    return tuple(float(one) for one in row)


def _planned(length: int, seed: int) -> FloatArray:
    plans = [arrange("resampled", seed=seed, ordinal=ordinal) for ordinal in range(length)]
    rows = [(p.start_order[0] == 1, p.connect_order[0] == 1, p.slots[1] == 1) for p in plans]
    return np.where(np.array(rows), 0.5, -0.5)


def cut(series: Sequence[Sequence[Round]], name: str, *, alpha: float, margin: float) -> Alarms:
    """Every stretch of the sequence that was measured in one run, as a run: neither shuffled nor flipped."""
    found = NONE
    for stretch in series:
        used = [r for r in stretch if name in r.values]
        if len(used) >= ROUNDS_MIN:
            ratios = log_ratios(used, name)[None, :]
            found = found + looked_at(ratios, order_columns(used), alpha=alpha, margin=margin)
    return found
