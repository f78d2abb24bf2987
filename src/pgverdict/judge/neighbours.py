"""Whether neighbouring rounds are alike: their lag-1 correlation, orders accounted for.

Residuals of least squares are a little unlike their neighbours where the rounds are independent. The correlation is a
ratio of quadratic forms of what is left, z'Bz / z'z, with B the rounds' neighbourhood inside the space that effect and
orders leave. Its mean and variance are exact for normal noise, its tail is that of a beta distribution with the same.

J. Durbin, G. Watson. Testing for serial correlation in least squares regression I. Biometrika 37 (1950).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np

from pgverdict.judge.estimate import FloatArray

_NOTHING = 1e-9


@dataclass(frozen=True)
class Likeness:
    """Of neighbouring rounds; positive where they are alike."""

    correlation: float
    """Beyond what independent rounds give."""
    sd: float
    """Its standard deviation where rounds are independent."""
    p: float
    """How likely so much, or more, is there. One-sided: only likeness does harm (METHODOLOGY.md#errors)."""


def likeness(log_ratios: FloatArray, orders: FloatArray, *, lengths: Sequence[int] = ()) -> Likeness | None:
    """None where fewer than three degrees of freedom are left, or nothing scatters.

    `lengths`: the rounds of each of several runs, one after another; neighbours are of the same run.
    """
    rounds = orders.shape[0]
    assert sum(lengths) in (0, rounds), (lengths, rounds)
    columns = np.column_stack([np.ones(rounds), orders])
    vectors, sizes, _ = np.linalg.svd(columns, full_matrices=True)
    inside = vectors[:, int((sizes > _NOTHING).sum()) :]
    df = inside.shape[1]
    left = inside.T @ log_ratios
    total = float(left @ left)
    shift = np.eye(rounds, k=1)
    for end in accumulate(lengths):
        shift[end - 1] = 0.0
    if df < 3 or total <= 1e-24 or not shift.any():
        return None
    forms = inside.T @ ((shift + shift.T) / 2) @ inside
    values = np.linalg.eigvalsh(forms)
    mean, variance = float(values.mean()), 2 * float(values.var()) / (df + 2)
    least, most = float(values[0]), float(values[-1])
    share = (mean - least) / (most - least)
    weight = share * (1 - share) * (most - least) ** 2 / variance - 1
    r = float(left @ forms @ left) / total
    # Imported late, as in judge.interval.
    from scipy.special import betainc

    at = min(max((r - least) / (most - least), 0.0), 1.0)
    p = float(betainc((1 - share) * weight, share * weight, 1 - at))
    return Likeness(r - mean, float(np.sqrt(variance)), p)
