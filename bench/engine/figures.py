"""From the runs of both programs to the table. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from bench.compared import Compared, compared

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


Found = Compared[Case, Goal]


def compare(runs: Sequence[Run]) -> list[Found]:
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
) -> Found | None:
    def values(program: str) -> dict[int, float]:
        return {number: value(number, program) for number, of in own if of == program}

    def value(number: int, program: str) -> float:
        run, base = own[number, program], less.get((number, program))
        if base is None:
            return figure_us(run, goal.figure, case.units)
        # The other script has one such command too, so that what is left is of all but one.
        return (figure_us(run, goal.figure, 1) - figure_us(base, goal.figure, 1)) / (case.units - 1)

    return compared(case, goal, values(OURS), values(THEIRS))


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


def table(found: Sequence[Found]) -> str:
    """Markdown."""
    lines = [
        "| case | figure | ours | pgbench | ratio: median (lowest to highest) | goal | |",
        "|---|---|---|---|---|---|---|",
    ]
    for one in found:
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
