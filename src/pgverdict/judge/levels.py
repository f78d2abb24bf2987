"""Where the scatter of rounds comes from: starts, pairs within a start, loads, installs, orders; and what rounds cost.

The table `logs` has a log time per round, pair and arm, of arms that differ by constants only (handicaps). What an arm
is in a round is the median over pairs of its distance from the mean of the arms in that pair: what the host does to all
alike is gone.

Loads and installs are variance components by Henderson's third method: with X the columns of rounds, arms and orders,
Z which load each arm had, M = 1 - projection on X, and r the rank that Z adds,

    variance = (sum of squares explained by Z after X - r s^2) / trace(Z' M Z)

C. R. Henderson. Estimation of variance and covariance components. Biometrics 9 (1953).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pgverdict.judge.estimate import FloatArray

_RANK = 1e-9


@dataclass(frozen=True)
class Component:
    """How much members of a level differ: one standard deviation, and a limit that it exceeds with 5 % chance.

    0 where the rounds show less than chance alone would. The limit takes members to be used equally often.
    """

    members: int
    sd: float
    sd_high: float


@dataclass(frozen=True)
class Order:
    """How much longer a transaction takes on the arm that comes first than on the last: a log ratio, 95 % interval."""

    name: str
    effect: float
    low: float
    high: float


@dataclass(frozen=True)
class Levels:
    """Standard deviations of a two-arm log ratio, but for loads and installs, which are of one arm."""

    pairs: int
    round_sd: float
    """Of a round, orders accounted for."""
    within_sd: float
    """The part of it that comes from the pairs within a round being so few."""
    pair_sd: float
    """Of one pair, as the median of pairs feels it."""
    start_sd: float
    """The rest: between starts."""
    loads: Component | None
    installs: Component | None
    orders: tuple[Order, ...]


@dataclass(frozen=True)
class Costs:
    """Seconds: of a round of two arms, of one of its pairs, and of all else in it."""

    round_s: float
    pair_s: float
    overhead_s: float


def split_scatter(pair_logs: FloatArray, round_sd: float) -> tuple[float, float, float]:
    """(within, pair, start) standard deviations from the log ratios of pairs, rounds x pairs.

    The error of a round's median is seen in the medians of its even and its odd pairs.
    """
    halves = np.nanmedian(pair_logs[:, ::2], axis=1) - np.nanmedian(pair_logs[:, 1::2], axis=1)
    within, start = split_halves(halves, round_sd)
    return within, within * math.sqrt(pair_logs.shape[1]), start


def split_halves(differences: FloatArray, round_sd: float) -> tuple[float, float]:
    """(within, start) standard deviations, from each round's difference between its even and its odd pairs.

    Whatever is made of the pairs: half of them has twice the variance of all, the difference of halves four times.
    """
    within = math.sqrt(float((differences**2).mean()) / 4)
    return within, math.sqrt(max(0.0, round_sd**2 - within**2))


def best_pairs(levels: Levels, costs: Costs) -> float:
    """Pairs per round that tell most in a given time (METHODOLOGY.md#round); infinite if starts do not differ."""
    if levels.start_sd == 0:
        return math.inf
    return math.sqrt(costs.overhead_s / costs.pair_s) * levels.pair_sd / levels.start_sd


PAIRS_FEW, PAIRS_MANY = 6, 120
"""Fewer make a round's median one of few slices; more are minutes in which the host changes."""


def usable_pairs(best: float) -> int:
    """As many as are best, within what a round may have.

    >>> usable_pairs(3.4), usable_pairs(20.6), usable_pairs(math.inf)
    (6, 21, 120)
    """
    return round(min(max(best, PAIRS_FEW), PAIRS_MANY))


def distances(logs: FloatArray) -> FloatArray:
    """rounds x arms, from rounds x pairs x arms."""
    centred = logs - logs.mean(axis=2, keepdims=True)
    return np.asarray(np.median(centred, axis=1))


def numbered(drawn: Sequence[Sequence[int]], pools: Sequence[int]) -> FloatArray:
    """A number for each member that was drawn, pools apart, rounds x arms; without `pools` every arm has its own."""
    pool_of = pools or range(len(drawn[0]))
    return np.array(
        [[pool * 1e6 + member for pool, member in zip(pool_of, members, strict=True)] for members in drawn]
    )


def background(scores: FloatArray) -> FloatArray:
    """The columns of arms and orders beside those of rounds, from the scores of orders: rounds x arms x columns."""
    rounds, arms, _ = scores.shape
    constants = np.broadcast_to(np.eye(arms)[:, 1:], (rounds, arms, arms - 1))
    return np.concatenate([constants, scores], axis=2)


def component(values: FloatArray, columns: FloatArray, members: FloatArray) -> Component | None:
    """The variance component of what each arm had in each round, all rounds x arms; `members` numbers what it was.

    None where it cannot be told.
    """
    from scipy.special import fdtri

    names, which = np.unique(members, return_inverse=True)
    incidence = _within_rounds(np.eye(names.size)[which.reshape(members.shape)])
    basis = _basis(_within_rounds(columns))
    centred = _within_rounds(values[:, :, None])[:, 0]
    rest = centred - basis @ (basis.T @ centred)
    beyond = incidence - basis @ (basis.T @ incidence)
    added = _basis(beyond)
    rank = added.shape[1]
    df = values.size - values.shape[0] - basis.shape[1] - rank
    if rank < 1 or df < 1:
        return None
    explained = float(((added.T @ rest) ** 2).sum())
    error = max(0.0, float(rest @ rest) - explained) / df
    trace = float((beyond**2).sum())
    ratio = explained / rank / error if error > 0 else math.inf
    upper = (ratio / float(fdtri(rank, df, 0.05)) - 1) / (trace / rank)
    return Component(
        names.size,
        math.sqrt(max(0.0, (explained - rank * error) / trace)),
        math.sqrt(max(0.0, upper * error)) if math.isfinite(upper) else math.inf,
    )


def order_effects(values: FloatArray, columns: FloatArray, names: tuple[str, ...]) -> tuple[Order, ...]:
    """The effects of the last columns, one per name, with Student's intervals; shapes as for `component`."""
    from scipy.special import stdtrit

    table, centred = _within_rounds(columns), _within_rounds(values[:, :, None])[:, 0]
    solved, _, rank, _ = np.linalg.lstsq(table, centred, rcond=_RANK)
    df = values.size - values.shape[0] - int(rank)
    if df < 1:
        return ()
    rest = centred - table @ solved
    covariance = np.linalg.pinv(table.T @ table, rcond=_RANK) * float(rest @ rest) / df
    half = float(-stdtrit(df, 0.025)) * np.sqrt(np.diag(covariance))
    first = table.shape[1] - len(names)
    return tuple(
        Order(name, float(solved[i]), float(solved[i] - half[i]), float(solved[i] + half[i]))
        for i, name in enumerate(names, start=first)
    )


def _within_rounds(table: FloatArray) -> FloatArray:
    """A row per round and arm, without what the arms of a round have in common: the columns of rounds projected out."""
    centred = table - table.mean(axis=1, keepdims=True)
    return np.asarray(centred.reshape(table.shape[0] * table.shape[1], table.shape[2]))


def _basis(columns: FloatArray) -> FloatArray:
    if columns.shape[1] == 0:
        return columns
    vectors, lengths, _ = np.linalg.svd(columns, full_matrices=False)
    return np.asarray(vectors[:, lengths > _RANK * max(1.0, float(lengths.max(initial=0.0)))])
