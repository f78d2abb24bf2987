"""How many more rounds an open verdict would take: the middle of what today's rounds let expect, and a range.

Not the round at which today's estimate would be decisive if it stayed what it is: it will not. Today's rounds
leave effect and scatter uncertain, and the estimate wanders on as rounds come in, until it meets either edge.
So the distribution of the deciding round is worked out: its posterior, with a prior N(0, (EFFECT_MARGINS margins)^2)
for the log ratio and 1 / sd for the scatter. Given the scatter, the estimates after more and more rounds are a Markov
chain of normal steps, followed here on a grid of estimates and of rounds, with what has been decided taken out. The
scatter stands for three sixths of its distribution. No random number is drawn: the same rounds give the same
forecast. METHODOLOGY.md#forecast says how good it is.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from pgverdict.judge.decide import MORE_ROUNDS_MAX, ROUNDS_MIN
from pgverdict.judge.estimate import Estimate, FloatArray
from pgverdict.judge.interval import Kind, half_width_t

SHARE = 0.8
"""So much of the distribution lies in the range."""

EFFECT_MARGINS = 3.0
"""Effects expected are of a few margins. It matters where rounds scatter by much more than that: without it, their
estimate would be believed, and a great effect be forecast that is soon decided."""

_STEP = 1.25  # rounds looked at are so far apart, as a ratio; the first ones stand one by one
_ESTIMATES = 61
_REACH = 4.5  # standard errors of today's estimate on either side
_SCATTERS = (1 / 6, 1 / 2, 5 / 6)
_FAR = 5.0  # standard deviations, beyond which less than 1e-6 lies
_NOTHING = 1e-7  # too small a probability to move a quantile by more than a round in a thousand

BoolArray = NDArray[np.bool_]


@dataclass(frozen=True)
class Forecast:
    """Further rounds: the median, and the range that holds SHARE of the distribution.

    `high` is None where it lies beyond MORE_ROUNDS_MAX.
    """

    rounds: int
    low: int
    high: int | None


def forecast(
    result: Estimate, *, rounds: int, alpha: float, margin: float, kind: Kind, alpha_same: float | None = None
) -> Forecast | None:
    """What would settle it. `alpha` is that of a difference, and of SAME unless `alpha_same` is.

    None where there is no estimate yet, and where it would rather take more than MORE_ROUNDS_MAX. With FIXED it
    is about a new run of `rounds` and so many more, since this one has had its look.
    """
    if not result.known:
        return None
    more = _rounds_looked_at(max(1, ROUNDS_MIN - rounds))
    decided = _decided(
        _shares_decided(result, more, alphas=(alpha, alpha_same or alpha), margin=margin, kind=kind)
    )
    middle = _quantile(more, decided, 0.5)
    if middle is None:
        return None
    low = _quantile(more, decided, (1 - SHARE) / 2)
    assert low is not None
    return Forecast(middle, low, _quantile(more, decided, (1 + SHARE) / 2))


@cache
def _rounds_looked_at(first: int) -> FloatArray:
    looked = [first]
    while looked[-1] < MORE_ROUNDS_MAX:
        looked.append(min(MORE_ROUNDS_MAX, max(looked[-1] + 1, int(looked[-1] * _STEP))))
    return np.array(looked, dtype=np.float64)


def _decided(courses: Iterator[FloatArray]) -> FloatArray:
    """The mean over scatters, look by look, until the highest quantile that is asked for."""
    found: list[float] = []
    for shares in courses:
        found.append(float(shares.sum()) / len(shares))
        if found[-1] >= (1 + SHARE) / 2:
            break
    return np.array(found)


def _shares_decided(
    result: Estimate, more: FloatArray, *, alphas: tuple[float, float], margin: float, kind: Kind
) -> Iterator[FloatArray]:
    """The probabilities that it is decided after so many more rounds, one for each scatter. `alphas`: of a
    difference, and of SAME.

    Scatters are the first axis of all that differs between them, and `look` the second.
    """
    # Imported late: a run whose verdict is there needs no forecast.
    from scipy.special import chdtri

    df, sd = result.df, float(result.sd)
    information = result.information + more  # balanced orders lose nothing
    true_sd = sd * np.sqrt(df / chdtri(df, _SCATTERS))[:, None]
    shown_sd = np.sqrt((df * sd**2 + more * true_sd**2) / (df + more))
    half, half_same = (
        np.where(np.isfinite(t), np.where(np.isfinite(t), t, 0.0) * shown_sd / np.sqrt(information), np.inf)
        for t in (half_width_t(alpha, kind, df=df + more, information=information) for alpha in alphas)
    )
    now = float(result.log_ratio)
    before = np.concatenate([[result.information], information[:-1]])
    if kind is Kind.FIXED:  # one look only, at the number chosen: nothing is taken out on the way
        before = np.full_like(information, result.information)
    prior = (EFFECT_MARGINS * math.log1p(margin)) ** 2
    variance = true_sd**2 / before  # of the estimate so far
    kept = prior / (prior + variance)  # of the estimate so far, in the mean of further rounds
    # Rounds that do not scatter leave a grid of no width: the smallest one that floats can hold.
    reach = np.maximum(_REACH * true_sd[:, 0] / math.sqrt(result.information), 1e-12 * max(1.0, abs(now)))
    ends = np.minimum(now, kept[:, 0] * now) - reach, np.maximum(now, kept[:, 0] * now) + reach
    edges = np.linspace(*ends, _ESTIMATES + 1, axis=1)
    middles = (edges[:, :-1] + edges[:, 1:]) / 2
    far = np.abs(middles)[:, None]
    settled = (far > half[..., None]) | (far + half_same[..., None] <= math.log1p(margin))

    weight = 1 - before / information  # of further rounds, in the estimate to come
    drawn_in = 1 - weight * (1 - kept)
    moved = weight * np.sqrt(true_sd**2 / (information - before) + kept * variance)
    moved = np.maximum(moved, reach[:, None] * 1e-6)
    here = np.ones((len(_SCATTERS), 1))
    places = np.full_like(here, now)
    gone = np.zeros(len(_SCATTERS))
    for look in range(len(more)):
        # Where it is decided, or off the grid, it does not matter how probable each estimate is.
        open_ = _hull(~settled[:, look])
        likely = _hull(here > _NOTHING)
        from_ = drawn_in[:, look, None] * places[:, likely]
        to = edges[:, None, open_.start : open_.stop + 1]
        below = _normal((to - from_[..., None]) / moved[:, look, None, None])
        there = (here[:, None, likely] @ (below[..., 1:] - below[..., :-1]))[:, 0]
        there[settled[:, look, open_]] = 0.0
        gone = np.maximum(gone, 1 - there.sum(axis=1))
        if kind is Kind.ANYTIME:
            here, places = there, middles[:, open_]
        yield gone


def _hull(marked: BoolArray) -> slice:
    """The fewest neighbours that hold all that are marked for any scatter; none where none is."""
    places = np.flatnonzero(marked.any(axis=0))
    return slice(int(places[0]), int(places[-1]) + 1) if len(places) else slice(0, 0)


def _normal(z: FloatArray) -> FloatArray:
    """The distribution function of a normal variable.

    Most steps lie so far out that it is as good as 0 or 1, and a report asks for fifty million of them.
    """
    from scipy.special import ndtr  # as above

    made = (z > 0).astype(np.float64)
    near = np.abs(z) < _FAR
    # Not `ndtr(z, out=made, where=near)`: scipy 1.17.1 was seen to corrupt its memory with that.
    made[near] = ndtr(z[near])
    return made


def _quantile(more: FloatArray, decided: FloatArray, share: float) -> int | None:
    """The fewest further rounds by which that share is decided; between rounds looked at, by proportion."""
    if decided[-1] < share:
        return None
    place = int(np.argmax(decided >= share))
    if place == 0:
        return int(more[0])
    looked = [float(one) for one in more[place - 1 : place + 1]]
    below, above = (float(one) for one in decided[place - 1 : place + 1])
    return math.ceil(looked[0] + (looked[1] - looked[0]) * (share - below) / (above - below))
