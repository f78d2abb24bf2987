"""Whether an injected slow-down is found as large as it is: the coverage of intervals, and the part that is found.

What was injected is what the server really spun, counted beside every round. Pure.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pgverdict.judge.estimate import estimate, order_columns
from pgverdict.judge.interval import Kind, interval
from pgverdict.judge.pulling import as_judged

from .figures import log_ratios
from .injection import injected_log_ratio
from .recorded import Repetition, Round


@dataclass(frozen=True)
class Recovery:
    """Rounds with one injected slow-down. Everything but the nanoseconds is a log ratio of the time."""

    rounds: int
    spun_ns: float
    """Per transaction, as counted."""
    found_ns: float
    """Candidate's median latency beyond the baseline's, mean over rounds."""
    found_mean_ns: float
    """The same of the mean latency."""
    injected: float
    estimate: float
    half_95: float
    half_99: float
    held_95: bool
    held_99: bool
    parts_held_95: int
    parts_held_99: int
    parts: int
    """The repetitions, each with an interval of its own."""


def recovery(repetitions: Sequence[Repetition], name: str = "latency_us_p50") -> Recovery:
    """From repetitions with a fixed number of rounds, all with the same handicap."""
    rounds = [r for one in repetitions for r in one.measured() if name in r.values and r.spun_us]
    injected = injected_log_ratio(repetitions[0].cells[0], rounds)
    whole = [_interval(rounds, name, confidence) for confidence in (0.95, 0.99)]
    parts = [[r for r in one.measured() if name in r.values and r.spun_us] for one in repetitions]
    held = [
        sum(_holds(_interval(part, name, confidence), injected) for part in parts)
        for confidence in (0.95, 0.99)
    ]
    return Recovery(
        rounds=len(rounds),
        spun_ns=1e3 * float(np.mean([r.spun_us[1] - r.spun_us[0] for r in rounds if r.spun_us])),
        found_ns=_difference_ns(rounds, name),
        found_mean_ns=_difference_ns(rounds, "latency_us_mean"),
        injected=injected,
        estimate=whole[0][0],
        half_95=whole[0][1],
        half_99=whole[1][1],
        held_95=_holds(whole[0], injected),
        held_99=_holds(whole[1], injected),
        parts_held_95=held[0],
        parts_held_99=held[1],
        parts=len(parts),
    )


def _difference_ns(rounds: Sequence[Round], name: str) -> float:
    return 1e3 * float(np.mean([r.values[name][1] - r.values[name][0] for r in rounds if name in r.values]))


def _interval(rounds: Sequence[Round], name: str, confidence: float) -> tuple[float, float]:
    """The estimate and half the width of Student's interval."""
    orders = order_columns([r.plan for r in rounds])
    low, high = interval(
        estimate(as_judged(name, log_ratios(rounds, name)), orders), 1 - confidence, Kind.FIXED
    )
    return float(low + high) / 2, float(high - low) / 2


def _holds(limits: tuple[float, float], truth: float) -> bool:
    return abs(limits[0] - truth) <= limits[1]


@dataclass(frozen=True)
class Proportion:
    """found = share * injected + offset, by least squares with each injection's own error, and their errors (1 sd).

    A share below 1 says that part of the delay disappears in other waiting; an offset, that the two servers differ.
    """

    share: float
    share_sd: float
    offset: float
    offset_sd: float


def proportion(recoveries: Sequence[Recovery]) -> Proportion:
    """From at least two different injections."""
    weights = np.array([1 / (one.half_95 / 1.96) ** 2 for one in recoveries])
    design = np.array([[one.injected, 1.0] for one in recoveries])
    covariance = np.linalg.inv(design.T @ (weights[:, None] * design))
    share, offset = covariance @ (design.T @ (weights * np.array([one.estimate for one in recoveries])))
    return Proportion(float(share), math.sqrt(covariance[0, 0]), float(offset), math.sqrt(covariance[1, 1]))
