"""From the repetitions of a line to its row of the table. Pure.

A repetition that ended with a wrong verdict or with none counts as if it had taken for ever. Quantiles are the value
at, or next above, their place among the sorted times: never a flattering one between two.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pgverdict.judge.decide import decide
from pgverdict.judge.estimate import FloatArray, estimate, order_columns
from pgverdict.judge.interval import Kind, interval
from pgverdict.judge.pulling import as_judged
from pgverdict.judge.resampling import Series
from pgverdict.judge.verdict import Outcome
from pgverdict.spec.metrics import Better, metric

from .injection import injected_log_ratio
from .lines import Line, Right
from .recorded import Cell, Repetition, Round


@dataclass(frozen=True)
class Figures:
    """What the repetitions of a line say."""

    repetitions: int
    right: int
    wrong: int
    open: int
    median_s: float
    p90_s: float
    longest_s: float
    rounds_median: float
    held: int
    """How many final intervals hold the slow-down that was really injected (or no change, where nothing was)."""
    injected: float
    """The share that was really injected, mean over repetitions; NaN where nothing was."""
    judged_alike: int
    """How many of them the product's judge, given the rounds of the file, judges as the file says."""


def figures(line: Line, repetitions: Sequence[Repetition]) -> Figures:
    """The figures of at least one repetition."""
    answers = [answer(line, one) for one in repetitions]
    times = [one.seconds if right else math.inf for one, right in zip(repetitions, answers, strict=True)]
    injected = [math.expm1(injected_log_ratio(one.cells[0], one.measured())) for one in repetitions]
    return Figures(
        repetitions=len(repetitions),
        right=sum(right is True for right in answers),
        wrong=sum(right is False for right in answers),
        open=sum(right is None for right in answers),
        median_s=quantile(times, 0.5),
        p90_s=quantile(times, 0.9),
        longest_s=max(times),
        rounds_median=quantile([float(len(one.measured())) for one in repetitions], 0.5),
        held=sum(holds(line, one) for one in repetitions),
        injected=float(np.mean(injected)) if line.injected else math.nan,
        judged_alike=sum(judged(one) == tuple(cell.outcome for cell in one.cells) for one in repetitions),
    )


def answer(line: Line, repetition: Repetition) -> bool | None:
    """Whether the verdicts are right; None if a cell has none, or was given up."""
    outcomes = {cell.outcome for cell in repetition.cells}
    if repetition.failure is not None or Outcome.UNDECIDED.value in outcomes:
        return None
    return line.right is Right.DECIDED or outcomes == {line.right.value}


def holds(line: Line, repetition: Repetition) -> bool:
    """Whether the interval of the first cell holds the truth, where it is known."""
    if line.right is Right.DECIDED:
        return False
    cell = repetition.cells[0]
    truth = injected_log_ratio(cell, repetition.measured()) if line.injected else 0.0
    if metric(cell.primary).better is Better.HIGHER:
        truth = -truth
    return cell.low <= math.exp(truth) <= cell.high


def quantile(values: Sequence[float], share: float) -> float:
    """The smallest value with at least `share` of the others at or below it.

    >>> quantile([1.0, 2.0, 3.0, math.inf], 0.5), quantile([1.0, 2.0, 3.0, math.inf], 0.9)
    (3.0, inf)
    """
    return float(sorted(values)[math.ceil(share * (len(values) - 1))])


def series(rounds: Sequence[Round], name: str) -> Series:
    """The rounds that have the metric, as log ratios that grow as the candidate gets slower, and their orders."""
    used = [r for r in rounds if name in r.values]
    sign = 1.0 if metric(name).better is Better.LOWER else -1.0
    return Series(sign * log_ratios(used, name), order_columns([r.plan for r in used]), name)


def log_ratios(rounds: Sequence[Round], name: str) -> FloatArray:
    """The rounds' log ratios of a metric they all have."""
    return np.array([r.values[name][2] for r in rounds], dtype=np.float64)


def judged(repetition: Repetition) -> tuple[str, ...]:
    """The outcome of every cell's primary, made anew by the product's judge from the rounds of the file."""
    return tuple(
        judge(cell, repetition.measured(number), repetition).value
        for number, cell in enumerate(repetition.cells)
    )


def judge(cell: Cell, measured: Sequence[Round], repetition: Repetition) -> Outcome:
    """The outcome of one cell."""
    used = [r for r in measured if cell.primary in r.values]
    fixed = repetition.fixed_rounds
    if fixed is not None and len(measured) != fixed:
        return Outcome.UNDECIDED
    kind = Kind.ANYTIME if fixed is None else Kind.FIXED
    orders = order_columns([r.plan for r in used])
    low, high = interval(
        estimate(as_judged(cell.primary, log_ratios(used, cell.primary)), orders), cell.alpha, kind
    )
    return decide(
        float(low),
        float(high),
        margin=repetition.margin,
        better=metric(cell.primary).better,
        rounds=len(used),
    )[0]


def standing(line: Line, found: Figures | None) -> str:
    """Whether the goal is met, and whether there are enough repetitions to say so."""
    if found is None:
        return "nothing measured"
    said = ""
    if line.goal_s is not None:
        goal_median, goal_p90 = line.goal_s
        met = found.median_s <= goal_median and (goal_p90 is None or found.p90_s <= goal_p90)
        said = "met" if met else "missed"
    if found.repetitions < line.repetitions:
        so_far = f", {said} so far" if said else ""
        return f"incomplete: {found.repetitions} of {line.repetitions}{so_far}"
    return said or "complete"
