"""Which effects the rounds do not exclude: the interval of the log ratio, at any time or at a fixed end.

Two kinds. ANYTIME inverts the e-process of `judge.evalue`: it may be looked at after every round, and the
run may end because of what it shows. FIXED is Student's t interval: narrower, and right only where the number
of rounds was chosen before the first one and has been reached.

    >>> from pgverdict.judge.estimate import estimate
    >>> e = estimate(np.array([0.1, 0.3, 0.2]), np.empty((3, 0)))
    >>> [round(float(limit), 4) for limit in interval(e, 0.05, Kind.FIXED)]
    [-0.0484, 0.4484]
"""

from enum import Enum

import numpy as np

from pgverdict.judge.estimate import Estimate, FloatArray
from pgverdict.judge.evalue import critical_t


class Kind(Enum):
    """What the interval promises."""

    ANYTIME = "anytime"
    FIXED = "fixed"


def half_width_t(
    alpha: float, kind: Kind, *, df: int | FloatArray, information: float | FloatArray
) -> FloatArray:
    """Half the interval's width, in standard errors."""
    if kind is Kind.ANYTIME:
        return critical_t(alpha, df=df, information=information)
    # Imported late: a run that never fixes its rounds does without scipy.
    from scipy.special import stdtrit

    return np.asarray(-stdtrit(df, alpha / 2))


def interval(result: Estimate, alpha: float, kind: Kind) -> tuple[FloatArray, FloatArray]:
    """Lower and upper limit of the log ratio; infinite where the rounds cannot tell."""
    if not result.known:
        nothing = np.full_like(result.log_ratio, np.inf)
        return -nothing, nothing
    t = half_width_t(alpha, kind, df=result.df, information=result.information)
    # Not the product where t is infinite: rounds without any scatter would make it NaN.
    half = np.asarray(t * result.standard_error) if np.isfinite(t) else np.full_like(result.log_ratio, np.inf)
    return result.log_ratio - half, result.log_ratio + half
