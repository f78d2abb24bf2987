"""Relative throughput by step and release, as the Insert Benchmark's author prints it, with intervals."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pgverdict.judge.steps import missed_rate
from pgverdict.judge.verdict import Verdict
from pgverdict.records.run import CellRecord, RunRecord
from pgverdict.report import words
from pgverdict.spec.campaign import CellSpec

_METRIC = "step_rate"


@dataclass(frozen=True)
class Relative:
    """A candidate's throughput in a step, as a share of the baseline's; NaN where it is not known."""

    effect: float
    low: float
    high: float
    """0 and infinity: there is no interval yet."""
    value: float
    missed: int
    """Rounds in which it did not keep the rate at which rows were to be inserted."""

    @property
    def spelled(self) -> str:
        """'0.98', as everywhere where such tables are printed."""
        return words.NOTHING if math.isnan(self.effect) else f"{self.effect:.2f}"

    @property
    def interval(self) -> str:
        """'0.96 to 1.01', or nothing."""
        known = self.low > 0 and math.isfinite(self.high)
        return f"{self.low:.2f} to {self.high:.2f}" if known else words.NOTHING


@dataclass(frozen=True)
class StepRow:
    """A step: the baseline's throughput, and every candidate's beside it."""

    name: str
    counts: str
    baseline_value: float
    baseline_missed: int
    candidates: tuple[Relative, ...]


@dataclass(frozen=True)
class StepsReport:
    """A cell that is a chain."""

    spec: CellSpec
    labels: tuple[str, ...]
    rounds: int
    rows: tuple[StepRow, ...]
    notes: tuple[str, ...]


def steps_report(
    run: RunRecord, cell: CellRecord, verdicts: Sequence[Sequence[Verdict]]
) -> StepsReport | None:
    """Of a cell and its verdicts by candidate; None where it is no chain, or nothing was measured."""
    if not cell.measured or not cell.measured[0].arms[0].steps:
        return None
    by_candidate = [
        {v.subject: v for v in judged if v.metric == _METRIC and v.rounds > 0} for judged in verdicts
    ]
    missed = missed_rate(cell)
    rows = tuple(
        _row(step.name, step.counts, by_candidate, missed)
        for step in cell.measured[0].arms[0].steps
        if step.counts is not None
    )
    labels = tuple(words.arm_label(arm) for arm in run.arms)
    return StepsReport(cell.spec, labels, len(cell.measured), rows, _notes(cell, labels, missed))


def _row(
    name: str,
    counts: str,
    by_candidate: Sequence[Mapping[str, Verdict]],
    missed: Mapping[tuple[int, str], int],
) -> StepRow:
    told = [verdicts.get(name) for verdicts in by_candidate]
    first = next((verdict for verdict in told if verdict is not None), None)
    return StepRow(
        name=name,
        counts=counts,
        baseline_value=math.nan if first is None else first.baseline_value,
        baseline_missed=missed.get((0, name), 0),
        candidates=tuple(
            _relative(verdict, missed.get((candidate, name), 0))
            for candidate, verdict in enumerate(told, start=1)
        ),
    )


def _relative(verdict: Verdict | None, missed: int) -> Relative:
    if verdict is None:
        return Relative(math.nan, 0.0, math.inf, math.nan, missed)
    # Before there is an estimate, the plain quotient is what everybody else prints.
    plain = verdict.candidate_value / verdict.baseline_value
    effect = verdict.effect if math.isfinite(verdict.effect) else plain
    return Relative(effect, verdict.low, verdict.high, verdict.candidate_value, missed)


def _notes(cell: CellRecord, labels: Sequence[str], missed: Mapping[tuple[int, str], int]) -> tuple[str, ...]:
    notes = []
    for arm, label in enumerate(labels):
        failed = [(name, count) for (one, name), count in missed.items() if one == arm]
        if failed:
            steps = words.listed(
                f"{name} in {words.count(count, 'round')} of {len(cell.measured)}" for name, count in failed
            )
            notes.append(
                f"{label} failed its SLA: fewer than 95 % of the rows that were to be inserted a second in {steps};"
                " its queries there ran beside fewer inserts than others', and its steps took longer"
            )
    return tuple(notes)
