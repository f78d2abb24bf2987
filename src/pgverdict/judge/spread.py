"""Whether the candidate's rounds scatter more than the baseline's: the ratio of their standard deviations.

Of a round's log value of the primary metric, orders accounted for as in `judge.estimate`. The arms of a round share
its luck, so this is a question about pairs. Its usual answer, the correlation of sums and differences (Pitman 1939,
Morgan 1939), rests on normal noise: simulated with heavy tails, its 99 % interval held the truth in 71 % of cells of
100 rounds. This one leaves out one round at a time (Miller 1968) and held it in 97 to 99.9 % for all noise that was
tried (METHODOLOGY.md#spread). It describes: nothing is decided or stopped by it, and the interval is one for a single
look at the end.
"""

import math
from dataclasses import dataclass

import numpy as np

from pgverdict.judge.decide import ROUNDS_MIN
from pgverdict.judge.estimate import FloatArray
from pgverdict.judge.series import Series

_NOTHING = 1e-9


@dataclass(frozen=True)
class Spread:
    """Standard deviation between rounds, candidate / baseline, with a fixed-time interval at `confidence`."""

    ratio: float
    low: float
    high: float
    confidence: float
    rounds: int
    baseline_sd: float
    """Of the log of a round's value."""
    candidate_sd: float


def spread(found: Series, *, confidence: float) -> Spread | None:
    """None with fewer rounds than a verdict takes, and where an arm's rounds do not scatter at all."""
    rounds = found.rounds
    if rounds < ROUNDS_MIN:
        return None
    rest, left, df = residuals(found.levels, found.orders)
    squares = (rest**2).sum(axis=1)
    if df < 2 or (squares <= 1e-18).any():
        return None
    log_ratio = _half_log(squares)
    # Residual squares without round i, in closed form; a round that the model fits by itself tells nothing.
    told = left > _NOTHING
    without = squares[:, None] - np.where(told, rest**2 / np.where(told, left, 1.0), 0.0)
    if (without <= 1e-12 * squares[:, None]).any():
        return None  # one round is all the scatter of an arm
    pseudo = rounds * log_ratio - (rounds - 1) * _half_log(without)
    # Imported late: a run that is not reported does without scipy.
    from scipy.special import stdtrit

    error = float(pseudo.std(ddof=1)) / math.sqrt(rounds)
    half = -float(stdtrit(df - 1, (1 - confidence) / 2)) * error
    baseline_sd, candidate_sd = (float(sd) for sd in np.sqrt(squares / df))
    middle = float(log_ratio)
    return Spread(
        math.exp(middle),
        _exp(middle - half),
        _exp(middle + half),
        confidence,
        rounds,
        baseline_sd,
        candidate_sd,
    )


def residuals(y: FloatArray, orders: FloatArray, *more: FloatArray) -> tuple[FloatArray, FloatArray, int]:
    """What an intercept, the orders and `more` columns leave of y, whose last axis runs over rounds.

    Also 1 - leverage of every round, and the degrees of freedom left.
    """
    columns = np.column_stack([np.ones(orders.shape[0]), orders, *more])
    vectors, lengths, _ = np.linalg.svd(columns, full_matrices=False)
    basis = vectors[:, lengths > _NOTHING]
    return y - (y @ basis) @ basis.T, 1 - (basis**2).sum(axis=1), orders.shape[0] - basis.shape[1]


def _half_log(squares: FloatArray) -> FloatArray:
    return np.asarray(np.log(squares[1] / squares[0]) / 2)


def _exp(logarithm: float) -> float:
    return math.exp(min(logarithm, 700.0))
