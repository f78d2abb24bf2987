"""What the rounds of a cell say together: the log ratio at balanced order, and how far rounds scatter.

Least squares of the rounds' log ratios on an intercept and three nuisances: how far before the baseline the
candidate was started, how far before it connected, how far after it in the row of directories, from -1/2 to
+1/2 (METHODOLOGY.md#order). Of two arms this is +1/2 or -1/2: candidate first or not. Being centred, they leave
the intercept to be the effect with every order taken equally often.

The model is the same for every number of rounds: one that grows with the rounds would spoil the
guarantee of `judge.evalue`. A nuisance that does not vary yet is kept. It then coincides with the
intercept, nothing is left of the intercept once the nuisances are projected out, the information is 0,
and the rounds so far say nothing: which is true, because a difference would be the order's as well as the
server's. Two nuisances that coincide cost one degree of freedom instead of two. Both cases come out of
the one projection below, without a rule of their own.

    >>> plain = estimate(np.array([0.1, 0.3, 0.2]), np.empty((3, 0)))
    >>> float(plain.log_ratio.round(12)), plain.df, plain.information
    (0.2, 2, 3.0)
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pgverdict.plan.rounds import RoundPlan

FloatArray = NDArray[np.float64]

# The columns hold multiples of one fraction, 1/2 with two arms and 1/14 with eight, so that what is not exactly
# dependent is far from dependent: the smallest singular value of 10 000 rounds is above 1e-7, rounding below 1e-12.
_NOTHING = 1e-9


@dataclass(frozen=True)
class Estimate:
    """The intercept over rounds; `log_ratio` and `sd` may be arrays, one entry per series of rounds.

    Both are NaN where the rounds cannot tell (`known` is False).
    """

    log_ratio: FloatArray
    sd: FloatArray
    """Standard deviation of a round's log ratio, orders accounted for."""
    df: int
    information: float
    """In rounds: the variance of `log_ratio` is sd^2 / information, n where the orders are balanced."""

    @property
    def known(self) -> bool:
        """Whether there is an estimate and something left to tell its error from."""
        return self.df >= 1 and self.information > 0

    @property
    def standard_error(self) -> FloatArray:
        """Of `log_ratio`."""
        return np.asarray(self.sd / np.sqrt(self.information))


def order_columns(plans: Sequence[RoundPlan], candidate: int = 1) -> FloatArray:
    """The nuisances of a candidate against arm 0: one row per round, one column per kind of order."""
    return np.array(
        [[leads[candidate] - leads[0] for leads in order_leads(plan)] for plan in plans], dtype=np.float64
    ).reshape(len(plans), 3)


def order_leads(plan: RoundPlan) -> list[list[float]]:
    """Per kind of order and arm, where it stood: -1/4 and +1/4 are the ends, + is first, or the last directory.

    The difference of two arms is then from -1/2 to +1/2, however many there are.
    """
    last = len(plan.slots) - 1
    places = [
        [last - plan.start_order.index(arm) for arm in range(last + 1)],
        [last - plan.connect_order.index(arm) for arm in range(last + 1)],
        list(plan.slots),
    ]
    return [[(place / last - 0.5) / 2 for place in kind] for kind in places]


def estimate(log_ratios: FloatArray, orders: FloatArray) -> Estimate:
    """The last axis of `log_ratios` runs over rounds, as the rows of `orders` do."""
    rounds = orders.shape[0]
    assert log_ratios.shape[-1] == rounds, (log_ratios.shape, orders.shape)
    nuisance = _orthonormal(orders)
    direction = np.ones(rounds) - nuisance @ nuisance.sum(axis=0)
    information = float(direction @ direction)
    df = rounds - nuisance.shape[1] - 1
    if information < _NOTHING or df < 1:
        nothing = np.full(log_ratios.shape[:-1], np.nan)
        return Estimate(nothing, nothing, max(df, 0), 0.0 if information < _NOTHING else information)
    direction /= np.sqrt(information)
    rest = log_ratios - (log_ratios @ nuisance) @ nuisance.T
    along = rest @ direction
    rest = rest - along[..., None] * direction
    return Estimate(
        np.asarray(along / np.sqrt(information)),
        np.asarray(np.sqrt((rest**2).sum(axis=-1) / df)),
        df,
        information,
    )


def _orthonormal(columns: FloatArray) -> FloatArray:
    """A basis of what the columns span: fewer vectors than columns where these depend on each other."""
    if columns.size == 0:
        return np.empty((columns.shape[0], 0))
    vectors, lengths, _ = np.linalg.svd(columns, full_matrices=False)
    return np.asarray(vectors[:, lengths > _NOTHING])
