"""What a host's own rounds say about the promises of pgverdict there: false alarms, and what is found how soon.

Numbers in, resolving power out. The chance comes from a generator that is given; the same one gives the same numbers.

    >>> exact_limits(0, 1000)[1] < 0.004
    True
"""

from dataclasses import dataclass

import numpy as np

from pgverdict.judge.interval import Kind, interval
from pgverdict.judge.resampling import Series, first_ends, made_up_runs, take_apart
from pgverdict.judge.verdict import Outcome

RUNS = 1000
"""Made-up runs per slow-down: half of them is known to within 3 %."""

ALARM_RUNS = 4000
"""Made-up runs of equal arms: a rate of 0.5 % is known to within 0.25 %."""

SURENESS = 0.95
"""Of the limits of a rate."""


@dataclass(frozen=True)
class Rate:
    """So many of so many, with exact binomial limits at SURENESS.

    The limits are about the number of made-up runs; how well the recorded rounds stand for the host is not in them.
    """

    count: int
    runs: int
    low: float
    high: float

    @property
    def share(self) -> float:
        return self.count / self.runs


@dataclass(frozen=True)
class Found:
    """What becomes of runs that compare the baseline with one candidate.

    `truth` is the candidate's log ratio as it is known otherwise: 0 for an equal arm, what a handicap really spun.
    """

    truth: float
    effect: float
    """The log ratio that all recorded rounds say, with its interval for one look at the end (Student's)."""
    low: float
    high: float
    rounds: int
    round_sd: float
    slower: Rate
    faster: Rate
    same: Rate
    undecided: Rate
    holding: Rate
    """Runs whose interval at their end holds the truth."""
    rounds_p50: float | None
    """Half of the runs have a verdict after so many rounds; None if fewer than half come to one."""
    rounds_p90: float | None


def rate(count: int, runs: int) -> Rate:
    """The rate with its limits."""
    return Rate(count, runs, *exact_limits(count, runs))


def exact_limits(count: int, runs: int, sureness: float = SURENESS) -> tuple[float, float]:
    """The interval of Clopper and Pearson for a share of `count` of `runs`.

    C. J. Clopper, E. S. Pearson. The use of confidence or fiducial limits illustrated in the case of the binomial.
    Biometrika 26 (1934).
    """
    # Imported late, as in judge.interval.
    from scipy.special import betaincinv

    tail = (1 - sureness) / 2
    low = 0.0 if count == 0 else float(betaincinv(count, runs - count + 1, tail))
    high = 1.0 if count == runs else float(betaincinv(count + 1, runs - count, 1 - tail))
    return low, high


def false_alarms(
    random: np.random.Generator,
    equal: Series,
    *,
    alpha: float,
    margin: float,
    rounds: int,
    runs: int = ALARM_RUNS,
) -> Rate | None:
    """How often runs of equal arms, roles flipped by lot, end in SLOWER or FASTER within so many rounds.

    None where the recorded rounds are too few to be taken apart.
    """
    fitted = take_apart(equal)
    if fitted is None:
        return None
    ends = first_ends(
        made_up_runs(random, fitted, runs=runs, rounds=rounds, flip=True), alpha=alpha, margin=margin
    )
    return rate(ends.count(Outcome.SLOWER, Outcome.FASTER), len(ends.outcomes))


def what_is_found(
    random: np.random.Generator,
    series: Series,
    *,
    truth: float,
    alpha: float,
    margin: float,
    rounds: int,
    runs: int = RUNS,
) -> Found | None:
    """What runs of so many rounds at most would have said of this candidate; None as for `false_alarms`."""
    fitted = take_apart(series)
    if fitted is None:
        return None
    ends = first_ends(made_up_runs(random, fitted, runs=runs, rounds=rounds), alpha=alpha, margin=margin)
    made = len(ends.outcomes)
    whole = series.result
    low, high = (float(limit) for limit in interval(whole, 1 - SURENESS, Kind.FIXED))
    return Found(
        truth=truth,
        effect=float(whole.log_ratio),
        low=low,
        high=high,
        rounds=series.log_ratios.size,
        round_sd=float(whole.sd),
        slower=rate(ends.count(Outcome.SLOWER), made),
        faster=rate(ends.count(Outcome.FASTER), made),
        same=rate(ends.count(Outcome.SAME), made),
        undecided=rate(ends.count(Outcome.UNDECIDED), made),
        holding=rate(int(((ends.low <= truth) & (truth <= ends.high)).sum()), made),
        rounds_p50=ends.rounds_quantile(0.5),
        rounds_p90=ends.rounds_quantile(0.9),
    )
