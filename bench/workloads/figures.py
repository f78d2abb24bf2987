"""From the runs of both programs to the table. Pure."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from .case import Case, Goal

OURS = "pgverdict"


@dataclass(frozen=True)
class Run:
    """One repetition of one program for a case: its figures by name."""

    case: str
    repetition: int
    program: str
    figures: dict[str, float]


@dataclass(frozen=True)
class Compared:
    """A goal with what was measured: medians over repetitions, and the repetitions' ratios."""

    case: Case
    goal: Goal
    ours: float
    theirs: float
    ratio: float
    lowest: float
    highest: float
    repetitions: int


def compare(runs: Sequence[Run], cases: Sequence[Case]) -> list[Compared]:
    """Every goal of every case that was run with both programs."""
    return [found for case in cases for goal in case.goals if (found := _compare(runs, case, goal))]


def _compare(runs: Sequence[Run], case: Case, goal: Goal) -> Compared | None:
    by_program: dict[str, dict[int, float]] = {OURS: {}, case.rival: {}}
    for run in runs:
        if run.case == case.name:
            by_program[run.program][run.repetition] = run.figures[goal.figure]
    ours, theirs = by_program[OURS], by_program[case.rival]
    both = sorted(ours.keys() & theirs.keys())
    if not both:
        return None
    ratios = [ours[number] / theirs[number] if theirs[number] else math.nan for number in both]
    return Compared(
        case,
        goal,
        median(ours[number] for number in both),
        median(theirs[number] for number in both),
        median(ratios),
        min(ratios),
        max(ratios),
        len(both),
    )


def table(compared: Sequence[Compared]) -> str:
    """Markdown."""
    lines = [
        "| case | figure | ours | theirs | ratio: median (lowest to highest) | goal | |",
        "|---|---|---|---|---|---|---|",
    ]
    for one in compared:
        lines.append(
            f"| {one.case.title} | {one.goal.figure} | {one.ours:.4g} | {one.case.rival} {one.theirs:.4g} |"
            f" **{one.ratio:.2f}** ({one.lowest:.2f} to {one.highest:.2f}, {one.repetitions} repetitions) |"
            f" {one.goal.spelled()} | {'met' if one.goal.met(one.ratio) else 'missed'} |"
        )
    return "\n".join(lines)
