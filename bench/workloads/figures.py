"""From the runs of both programs to the table. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from bench.compared import Compared, compared

from .case import Case, Goal

OURS = "pgverdict"


@dataclass(frozen=True)
class Run:
    """One repetition of one program for a case: its figures by name, when it was done and of which revision."""

    case: str
    repetition: int
    program: str
    figures: dict[str, float]
    date: str = ""
    revision: str = ""


Found = Compared[Case, Goal]


def compare(runs: Sequence[Run], cases: Sequence[Case]) -> list[Found]:
    """Every goal of every case that was run with both programs."""
    return [found for case in cases for goal in case.goals if (found := _compare(runs, case, goal))]


def _compare(runs: Sequence[Run], case: Case, goal: Goal) -> Found | None:
    by_program: dict[str, dict[int, float]] = {OURS: {}, case.rival: {}}
    for run in runs:
        if run.case == case.name:
            by_program[run.program][run.repetition] = run.figures[goal.figure]
    return compared(case, goal, by_program[OURS], by_program[case.rival])


def table(found: Sequence[Found]) -> str:
    """Markdown."""
    lines = [
        "| case | figure | ours | theirs | ratio: median (lowest to highest) | goal | |",
        "|---|---|---|---|---|---|---|",
    ]
    for one in found:
        lines.append(
            f"| {one.case.title} | {one.goal.figure} | {_shown(one.ours)} | {one.case.rival} {_shown(one.theirs)} |"
            f" **{one.ratio:.2f}** ({one.lowest:.2f} to {one.highest:.2f}, {one.repetitions} repetitions) |"
            f" {one.goal.spelled()} | {'met' if one.goal.met(one.ratio) else 'missed'} |"
        )
    return "\n".join(lines)


def _shown(value: float) -> str:
    """Three digits that count, without powers of ten.

    >>> _shown(123456.0), _shown(23.456), _shown(0.51234)
    ('123,456', '23.5', '0.512')
    """
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
