"""Campaigns whose truth is known: thousands of series of log ratios, and what a look at each round says.

Everything is in the unit of a log ratio. The numbers are those of METHODOLOGY.md#noise: a round scatters by
0.87 %, the server that is started first is 0.94 % slower.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy.special import bdtr

from pgverdict.judge.decide import ROUNDS_MIN
from pgverdict.judge.estimate import Estimate, FloatArray, estimate, order_columns
from pgverdict.judge.interval import Kind, interval
from pgverdict.plan.rounds import arrange

ROUND_SD = 0.0087
START_EFFECT = 0.0094
NEVER = 10**9

Noise = Callable[[np.random.Generator, int, int], FloatArray]
"""(random, series, rounds) -> noise with mean 0 and standard deviation ROUND_SD."""


@dataclass(frozen=True)
class Series:
    """Some series that share an order of rounds."""

    log_ratios: FloatArray
    orders: FloatArray


def normal(random: np.random.Generator, series: int, rounds: int) -> FloatArray:
    return ROUND_SD * random.standard_normal((series, rounds))


def heavy_tailed(random: np.random.Generator, series: int, rounds: int) -> FloatArray:
    return np.asarray(ROUND_SD / np.sqrt(3.0) * random.standard_t(3, (series, rounds)))


def skewed(random: np.random.Generator, series: int, rounds: int) -> FloatArray:
    return ROUND_SD * (random.standard_exponential((series, rounds)) - 1)


def bimodal(random: np.random.Generator, series: int, rounds: int) -> FloatArray:
    """A start lands in one of two modes 1.6 sd apart."""
    modes = 0.8 * random.choice([-1.0, 1.0], (series, rounds))
    return ROUND_SD * (modes + 0.6 * random.standard_normal((series, rounds)))


def autocorrelated(random: np.random.Generator, series: int, rounds: int, *, r1: float = 0.1) -> FloatArray:
    noise = random.standard_normal((series, rounds))
    for i in range(1, rounds):
        noise[:, i] = r1 * noise[:, i - 1] + np.sqrt(1 - r1**2) * noise[:, i]
    return ROUND_SD * noise


def growing(random: np.random.Generator, series: int, rounds: int) -> FloatArray:
    """The host becomes noisier: three times the spread at the end."""
    return normal(random, series, rounds) * np.linspace(0.5, 1.5, rounds)


@cache
def planned_orders(rounds: int, seed: int) -> FloatArray:
    """The orders of a real plan."""
    return order_columns([arrange("simulated", seed=seed, ordinal=i) for i in range(rounds)])


def simulate(
    noise: Noise,
    *,
    effect: float = 0.0,
    start_effect: float = 0.0,
    drift_per_round: float = 0.0,
    series: int = 4000,
    rounds: int = 100,
    plans: int = 20,
    seed: int = 20261121,
) -> list[Series]:
    """Series of rounds in `plans` different orders.

    Drift is the host's: it slows whichever server is measured later, so a round's log ratio moves with
    the start order, more from round to round.
    """
    random = np.random.default_rng(seed)
    made = []
    for plan in range(plans):
        orders = planned_orders(rounds, plan)
        started_first = orders[:, 0]
        drift = -drift_per_round * np.arange(rounds) * started_first
        mean = effect + start_effect * started_first + drift
        made.append(Series(mean + noise(random, series // plans, rounds), orders))
    return made


def looks(
    many: list[Series], *, first: int = ROUNDS_MIN, ignore_orders: bool = False
) -> Iterator[tuple[int, list[Estimate]]]:
    """After every round from `first` on: its number, and the estimates of all series so far."""
    for rounds in range(first, many[0].orders.shape[0] + 1):
        yield (
            rounds,
            [
                estimate(s.log_ratios[:, :rounds], s.orders[:rounds, : 0 if ignore_orders else 3])
                for s in many
            ],
        )


def decided_after(
    many: list[Series],
    *,
    alpha: float,
    kind: Kind = Kind.ANYTIME,
    margin: float = 0.01,
    ignore_orders: bool = False,
) -> tuple[FloatArray, FloatArray]:
    """Per series the first round after which it is declared different, and SAME; NEVER if it is not."""
    different, same = [], []
    for _, estimates in looks(many, ignore_orders=ignore_orders):
        limits = [interval(e, alpha, kind) for e in estimates]
        low = np.concatenate([low for low, _ in limits])
        high = np.concatenate([high for _, high in limits])
        different.append((low > 0) | (high < 0))
        same.append((-np.log1p(margin) <= low) & (high <= np.log1p(margin)))
    return _first(np.array(different)), _first(np.array(same))


def _first(seen: FloatArray) -> FloatArray:
    return np.where(seen.any(axis=0), seen.argmax(axis=0) + ROUNDS_MIN, NEVER)


def most(trials: int, rate: float) -> int:
    """More than so many of `trials` are seen less than once in 10 000 if each comes at `rate` at most."""
    counts = np.arange(trials + 1)
    return int(counts[bdtr(counts, trials, rate) >= 0.9999][0])


def fewest(trials: int, rate: float) -> int:
    """Fewer than so many of `trials` are seen less than once in 10 000 if each comes at `rate` at least."""
    return trials - most(trials, 1 - rate)
