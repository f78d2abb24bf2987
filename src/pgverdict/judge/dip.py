"""The dip: how far rounds are from having one mode (Hartigan & Hartigan 1985), with its own table of chances.

The dip of n values is the least distance, as the largest difference of distribution functions, to any distribution
with a single mode. It leans on no shape of noise: heavy tails and skew do not raise it. The chances are those of
uniform noise, of all with one mode the likeliest to look as if it had two, so that they are upper bounds.
"""

import numpy as np

from pgverdict.judge.estimate import FloatArray

SIZES = (8, 10, 12, 16, 20, 24, 32, 48, 64, 100, 200)
SHARES = (0.1, 0.01, 0.001)
QUANTILES = (
    (0.401, 0.489, 0.552),
    (0.412, 0.505, 0.569),
    (0.415, 0.513, 0.578),
    (0.429, 0.529, 0.606),
    (0.435, 0.540, 0.623),
    (0.441, 0.550, 0.629),
    (0.448, 0.556, 0.649),
    (0.456, 0.568, 0.658),
    (0.465, 0.583, 0.653),
    (0.470, 0.593, 0.682),
    (0.480, 0.603, 0.693),
)
"""sqrt(n) * dip of n uniform values is larger with these shares: a row per size.

Simulated by tests/judge/test_dip.py, which says how and checks the table.
"""


def dip(values: FloatArray) -> float:
    """Between 1 / (2 n) and 1/4.

    The values between which the mode lies are narrowed down: on the interval so far the distribution function lies
    between its greatest convex minorant and its least concave majorant. Where these are farthest apart the next
    interval begins and ends; what lies outside it must be convex on the left and concave on the right, and how far it
    is from that is a lower bound of twice the dip. Over when the two are no farther apart than that.
    """
    x = np.sort(np.asarray(values, dtype=np.float64))
    n = len(x)
    below, above = np.arange(n) / n, np.arange(1, n + 1) / n  # the distribution function beside each value
    first, last = 0, n - 1
    found = 1.0 / n
    while last > first:
        span = np.arange(first, last + 1)
        convex_at = _hull(x, below, span, 1.0)
        concave_at = _hull(x, above, span, -1.0)
        convex = _line(x, below, span, convex_at)
        concave = _line(x, above, span, concave_at)
        apart = concave - convex
        touching = np.union1d(convex_at, concave_at)
        widest = touching[np.argmax(apart[touching - first])]
        if apart[widest - first] <= found:
            break
        if widest in convex_at:
            left, right = widest, concave_at[concave_at >= widest][0]
        else:
            left, right = convex_at[convex_at <= widest][-1], widest
        outside_left = (above[first : left + 1] - convex[: left - first + 1]).max()
        outside_right = (concave[right - first :] - below[right : last + 1]).max()
        found = max(found, outside_left, outside_right)
        if (left, right) == (first, last):
            break
        first, last = int(left), int(right)
    return float(found / 2)


def chance(found: float, n: int) -> float:
    """At most so likely is a dip as large among n values with one mode; 1 / 10 000 is the least it says."""
    size = float(np.clip(n, SIZES[0], SIZES[-1]))
    limits = [np.interp(np.log(size), np.log(SIZES), column) for column in np.array(QUANTILES).T]
    scaled = found * np.sqrt(n)
    if scaled <= limits[0]:
        return 1.0
    logs = np.log(SHARES)
    # Beyond the table the last slope goes on: the tail falls faster than that.
    slope = (logs[-1] - logs[-2]) / (limits[-1] - limits[-2])
    beyond = logs[-1] + slope * (scaled - limits[-1])
    return float(np.exp(beyond if scaled > limits[-1] else np.interp(scaled, limits, logs)).clip(1e-4, 1.0))


def _hull(x: FloatArray, y: FloatArray, span: np.ndarray, sign: float) -> np.ndarray:
    """Which values a convex minorant (sign 1) or a concave majorant (-1) of the points touches."""
    kept: list[int] = []
    for i in span:
        while kept and x[kept[-1]] == x[i] and sign * y[kept[-1]] >= sign * y[i]:
            kept.pop()
        if kept and x[kept[-1]] == x[i]:
            continue
        while (
            len(kept) > 1
            and sign
            * (
                (y[kept[-1]] - y[kept[-2]]) * (x[i] - x[kept[-1]])
                - (y[i] - y[kept[-1]]) * (x[kept[-1]] - x[kept[-2]])
            )
            >= 0
        ):
            kept.pop()
        kept.append(int(i))
    return np.array(kept)


def _line(x: FloatArray, y: FloatArray, span: np.ndarray, at: np.ndarray) -> FloatArray:
    return np.asarray(np.interp(x[span], x[at], y[at]))
