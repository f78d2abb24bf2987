"""What the interval of a cell does not cover, looked for in its rounds: drift, dependence, modes, trends, stalls.

Each check is a fixed-time test at the end, with its own part of FALSE_FINDINGS, so that a cell whose rounds are
independent repetitions of one thing has a finding in at most that share of cells (Bonferroni; simulated in
tests/judge/test_shape.py). A finding is a remark beside a verdict. It changes none: the verdict's guarantee was given
before the rounds were looked at in this way, and dropping a cell for its looks would spoil it.

A check is a function from a `Series` to its results; another kind of check is one more such function in `_CHECKS`, and
its results are counted in TESTS. Where arms did not take turns, trends and stalls are not looked for, and the arms'
checkpoints and vacuums are: a cell never has all kinds.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pgverdict.judge.decide import ROUNDS_MIN
from pgverdict.judge.dip import chance, dip
from pgverdict.judge.neighbours import likeness
from pgverdict.judge.series import Series
from pgverdict.judge.spread import residuals

FALSE_FINDINGS = 0.01
"""The share of cells without anything to find that have a finding all the same."""

TESTS = 10
"""Results of all checks of a cell and candidate together."""

MODES_ROUNDS_MIN = 12
"""In fewer rounds the orders leave residuals that mirror each other, whatever the noise, and so have two modes."""

DRIFT, CORRELATION, MODES, TREND, OUTLIER, STALLS, CYCLES = (
    "drift", "correlation", "modes", "trend", "outlier", "stalls", "cycles",
)  # fmt: skip
EFFECT, BASELINE_ARM, CANDIDATE_ARM = "effect", "baseline", "candidate"
CHECKPOINTS, VACUUMS = "checkpoints", "vacuums"


@dataclass(frozen=True)
class Check:
    """One result, found or not. What `strength` is depends on the check:

    drift: last round / first, of the effect or of an arm's level; correlation: of neighbouring rounds; modes: the
    dip; trend: last pair / first, within a round; outlier: standard deviations from the other rounds;
    stalls: how many more rounds of the candidate than of the baseline were hit; cycles: how many more checkpoints, or
    vacuums of hot tables, a round of the candidate has than one of the baseline, on average.
    """

    name: str
    subject: str
    strength: float
    low: float | None
    """Where there is an interval of the strength, it holds at 1 - FALSE_FINDINGS / TESTS."""
    high: float | None
    p: float
    """How likely so much is where there is nothing."""
    at: int | None = None
    """outlier: which round, from 0, among those that have a value of the primary metric."""
    found: bool = False


def checks(found: Series, *, margin: float) -> tuple[Check, ...]:
    """All results of a cell and candidate; none with fewer rounds than a verdict takes.

    A trend within rounds that both arms may share (it cancels in their ratio) is a finding only beyond the margin.
    """
    if found.rounds < ROUNDS_MIN:
        return ()
    results = []
    for check in _CHECKS:
        for result in check(found):
            small = (
                result.name == TREND
                and result.subject != EFFECT
                and abs(math.log(result.strength)) <= math.log1p(margin)
            )
            results.append(_judged(result, small))
    assert len(results) <= TESTS
    return tuple(results)


def findings(results: tuple[Check, ...]) -> tuple[Check, ...]:
    """Those that say something."""
    return tuple(result for result in results if result.found)


def _judged(result: Check, small: bool) -> Check:
    return Check(
        result.name, result.subject, result.strength, result.low, result.high, result.p, result.at,
        found=result.p <= FALSE_FINDINGS / TESTS and not small,
    )  # fmt: skip


def _drift(found: Series) -> Iterator[Check]:
    """Least squares on the round's number, beside the orders: of the effect, and of each arm's level."""
    n = found.rounds
    time = np.arange(n, dtype=np.float64)
    along, _, _ = residuals(time, found.orders)
    length = float(along @ along)
    for subject, y in (
        (EFFECT, found.log_ratios), (BASELINE_ARM, found.levels[0]), (CANDIDATE_ARM, found.levels[1]),
    ):  # fmt: skip
        rest, _, df = residuals(y, found.orders, time)
        if df < 1 or length < 1e-9:
            continue
        slope = float(along @ y) / length
        error = math.sqrt(float(rest @ rest) / df / length)
        yield _of_t(DRIFT, subject, slope * (n - 1), error * (n - 1), df)


def _correlation(found: Series) -> Iterator[Check]:
    """Of neighbouring rounds' residuals, one-sided: only likeness does harm (METHODOLOGY.md#errors)."""
    # Imported late, here and below: a run that is not reported does without scipy.
    from scipy.special import ndtri

    told = likeness(found.log_ratios, found.orders)
    if told is None:
        return
    half = -float(ndtri(FALSE_FINDINGS / TESTS / 2)) * told.sd
    limits = max(-1.0, told.correlation - half), min(1.0, told.correlation + half)
    yield Check(CORRELATION, EFFECT, told.correlation, *limits, told.p)


def _modes(found: Series) -> Iterator[Check]:
    """The dip of the effect's residuals."""
    if found.rounds < MODES_ROUNDS_MIN:
        return
    rest, _, _ = residuals(found.log_ratios, found.orders)
    if not np.ptp(rest) > 1e-12:
        return
    strength = dip(rest)
    yield Check(MODES, EFFECT, strength, None, None, chance(strength, found.rounds))


def _trends(found: Series) -> Iterator[Check]:
    """Warm-up that is not over: Student's t over rounds of how an arm moves within them, and of how the ratio does."""
    known = np.isfinite(found.trends).all(axis=0)
    for subject, y in (
        (EFFECT, found.trends[1] - found.trends[0]),
        (BASELINE_ARM, found.trends[0]),
        (CANDIDATE_ARM, found.trends[1]),
    ):
        told = y[known]
        if len(told) < ROUNDS_MIN:
            continue
        error = float(told.std(ddof=1)) / math.sqrt(len(told))
        yield _of_t(TREND, subject, float(told.mean()), error, len(told) - 1)


def _outliers(found: Series) -> Iterator[Check]:
    """The round farthest from what the others let expect, in their standard deviations; each round is a chance."""
    from scipy.special import stdtr

    rest, left, df = residuals(found.log_ratios, found.orders)
    told = left > 1e-9
    if df < 2 or not told.any():
        return
    own = np.where(told, rest**2 / np.where(told, left, 1.0), 0.0)
    others = (float(rest @ rest) - own) / (df - 1)
    if (others <= 1e-24).any():
        return
    far = np.sqrt(own / others)
    at = int(far.argmax())
    p = min(1.0, found.rounds * 2 * float(stdtr(df - 1, -far[at])))
    yield Check(OUTLIER, EFFECT, float(far[at]), None, None, p, at)


def _stalls(found: Series) -> Iterator[Check]:
    """Rounds hit by a stall, candidate against baseline: the sign test of those in which one arm alone was hit."""
    if found.cycles.any():
        return
    hit = (found.stalls > 0).astype(np.int64)
    more = hit[1] - hit[0]
    yield Check(STALLS, EFFECT, float(more.sum()), None, None, _sign_test(more))


def _cycles(found: Series) -> Iterator[Check]:
    """Rounds in which one arm went through more checkpoints, or vacuums, than the other: the sign test of these."""
    if not found.cycles.any():
        return
    for subject, (baseline, candidate) in zip((CHECKPOINTS, VACUUMS), found.cycles, strict=True):
        more = candidate - baseline
        yield Check(CYCLES, subject, float(more.mean()), None, None, _sign_test(more))


def _sign_test(more: NDArray[np.int64]) -> float:
    """How likely the signs are so uneven, exactly, where both are equally likely; ties say nothing."""
    from scipy.special import bdtr

    up, down = int((more > 0).sum()), int((more < 0).sum())
    return min(1.0, 2 * float(bdtr(min(up, down), up + down, 0.5))) if up + down else 1.0


_CHECKS: tuple[Callable[[Series], Iterator[Check]], ...] = (
    _drift, _correlation, _modes, _trends, _outliers, _stalls, _cycles,
)  # fmt: skip


def _of_t(name: str, subject: str, log: float, error: float, df: int) -> Check:
    """A logarithm with its standard error, told as a ratio."""
    from scipy.special import stdtr, stdtrit

    t = abs(log) / error if error > 1e-15 else (math.inf if abs(log) > 1e-12 else 0.0)
    half = -float(stdtrit(df, FALSE_FINDINGS / TESTS / 2)) * error
    p = 2 * float(stdtr(df, -t)) if math.isfinite(t) else 0.0
    low, middle, high = (math.exp(min(max(one, -700.0), 700.0)) for one in (log - half, log, log + half))
    return Check(name, subject, middle, low, high, p)
