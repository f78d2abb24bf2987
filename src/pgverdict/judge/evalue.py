"""How strong the evidence is when one looks after every round.

The e-process of the t statistic of the estimate, with the effect, in units of the spread of a round, spread
as N(0, c2) over the alternatives. With n rounds' worth of information and nu degrees of freedom

    e = k^(-1/2) * [(1 + t^2 / nu) / (1 + t^2 / (nu k))]^((nu + 1) / 2),    k = 1 + n c2

While the null is true, the chance that e ever reaches 1 / alpha is at most alpha, at whatever round one
looks or stops (Ville). It is the ratio of two densities of the part of the data that neither the
unknown spread nor the unknown order effects can change, hence a martingale as long as the nuisances stay the
same: Lindon, Ham, Tingley, Bojinov, "Anytime-valid linear models and regression adjusted causal
inference in randomized experiments". METHODOLOGY.md#stopping has the story.

    >>> float(log_e_value(np.array(0.0), df=9, information=10.0).round(4))
    -1.1989
"""

import numpy as np

from pgverdict.judge.estimate import FloatArray

MIXTURE_VARIANCE = 1.0
"""c2 (METHODOLOGY.md#mixture)."""


def log_e_value(
    t: FloatArray, *, df: int, information: float, mixture_variance: float = MIXTURE_VARIANCE
) -> FloatArray:
    """log e of a t statistic (of the estimate minus the null). 0 while the rounds cannot tell."""
    if df < 1 or information <= 0:
        return np.zeros_like(t)
    k = 1 + information * mixture_variance
    # With t infinite (rounds that do not scatter at all) the bracket becomes k.
    square = np.where(np.isfinite(t), t, 0.0) ** 2 / df
    bracket = np.where(np.isfinite(t), (1 + square) / (1 + square / k), k)
    return np.asarray((df + 1) / 2 * np.log(bracket) - np.log(k) / 2)


def critical_t(
    alpha: float,
    *,
    df: int | FloatArray,
    information: float | FloatArray,
    mixture_variance: float = MIXTURE_VARIANCE,
) -> FloatArray:
    """The t at which e = 1 / alpha: half the width, in standard errors, of the interval right at any time.

    Infinite while so few rounds cannot be evidence enough, whatever they show.
    """
    nu = np.asarray(df, dtype=np.float64)
    k = 1 + np.asarray(information, dtype=np.float64) * mixture_variance
    # e = 1 / alpha says bracket = exp(needed), and the bracket stays below k for any t;
    # solved for t^2 / nu = (bracket - 1) / (1 - bracket / k).
    needed = (np.log(k) - 2 * np.log(alpha)) / (nu + 1)
    possible = (needed < np.log(k)) & (nu >= 1)
    above = np.expm1(np.where(possible, needed, 0.0))
    below = -np.expm1(np.where(possible, needed - np.log(k), -1.0))
    return np.asarray(np.where(possible, np.sqrt(nu * above / below), np.inf))
