"""From the runs of both programs to the table. Pure."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from .cases import CASES, Case, Figure, Goal

OURS, THEIRS = "pgverdict", "pgbench"


@dataclass(frozen=True)
class Run:
    """One run of a program for a case: seconds of processor time, and what came of it.

    Of a case with a number of transactions each, what one transaction each takes is taken away already. Of a load,
    transactions are rows, and `tps` rows per second of the step that sends them.
    """

    case: str
    round: int
    program: str
    transactions: int
    user_s: float
    system_s: float
    tps: float
    rss_bytes: int


def figure_us(run: Run, figure: Figure, units: int) -> float:
    """Microseconds per unit of a transaction, or transactions per second."""
    if figure in (Figure.TPS, Figure.ROWS):
        return run.tps
    seconds = run.user_s if figure is Figure.USER else run.user_s + run.system_s
    return 1e6 * seconds / run.transactions / units


@dataclass(frozen=True)
class Compared:
    """A goal with what was measured: medians over rounds, and the rounds' ratios."""

    case: Case
    goal: Goal
    ours: float
    theirs: float
    ratio: float
    lowest: float
    highest: float
    rounds: int


def compare(runs: Sequence[Run]) -> list[Compared]:
    """Every goal of every case that was run with both programs."""
    by_case: dict[str, dict[tuple[int, str], Run]] = {}
    for run in runs:
        by_case.setdefault(run.case, {})[run.round, run.program] = run
    return [
        found
        for case in CASES
        for goal in case.goals
        if (found := _compare(case, goal, by_case.get(case.name, {}), by_case.get(case.less or "", {})))
        is not None
    ]


def _compare(
    case: Case, goal: Goal, own: Mapping[tuple[int, str], Run], less: Mapping[tuple[int, str], Run]
) -> Compared | None:
    def value(number: int, program: str) -> float:
        run, base = own[number, program], less.get((number, program))
        if base is None:
            return figure_us(run, goal.figure, case.units)
        # The other script has one such command too, so that what is left is of all but one.
        return (figure_us(run, goal.figure, 1) - figure_us(base, goal.figure, 1)) / (case.units - 1)

    rounds = sorted({number for number, _ in own if (number, OURS) in own and (number, THEIRS) in own})
    if not rounds:
        return None
    ours = [value(number, OURS) for number in rounds]
    theirs = [value(number, THEIRS) for number in rounds]
    ratios = [one / other if other else math.nan for one, other in zip(ours, theirs, strict=True)]
    return Compared(
        case, goal, median(ours), median(theirs), median(ratios), min(ratios), max(ratios), len(rounds)
    )


IDLE_BYTES_MOST = 10_000
FEW, MANY = "null-8", "many"


def bytes_per_connection(runs: Sequence[Run]) -> dict[str, float]:
    """By program: what a connection more takes of memory, from the case with many and one with few; medians."""
    clients = {case.name: case.clients for case in CASES}
    told = {}
    for program in (OURS, THEIRS):
        few, many = (
            [run.rss_bytes for run in runs if (run.case, run.program) == (name, program) and run.rss_bytes]
            for name in (FEW, MANY)
        )
        if few and many:
            told[program] = (median(many) - median(few)) / (clients[MANY] - clients[FEW])
    return told


def table(compared: Sequence[Compared]) -> str:
    """Markdown."""
    lines = [
        "| case | figure | ours | pgbench | ratio: median (lowest to highest) | goal | |",
        "|---|---|---|---|---|---|---|",
    ]
    for one in compared:
        if one.goal.figure in (Figure.TPS, Figure.ROWS):
            shown = [f"{value:,.0f} /s" for value in (one.ours, one.theirs)]
        else:
            shown = [f"{value:.3g} us" for value in (one.ours, one.theirs)]
        lines.append(
            f"| {one.case.title} | {one.goal.figure.value} | {shown[0]} | {shown[1]} |"
            f" **{one.ratio:.2f}** ({one.lowest:.2f} to {one.highest:.2f}) | {one.goal.spelled()} |"
            f" {'met' if one.goal.met(one.ratio, one.ours) else 'missed'} |"
        )
    return "\n".join(lines)
