"""Every repetition in a row, in the order they were measured: the host's hours differ, and times with them. Pure."""

from collections.abc import Sequence
from statistics import median

from pgverdict.judge.decide import ROUNDS_MIN

from .figures import series
from .recorded import Cell, Repetition

HEAD = ("begun (UTC)", "line", "typical latency", "a round scatters by", "rounds", "seconds", "said")
TYPICAL = "latency_us_p50"


def rows(repetitions: Sequence[Repetition]) -> list[tuple[str, ...]]:
    """With the head; a row for each cell of each repetition."""
    found: list[tuple[str, ...]] = [HEAD]
    for one in sorted(repetitions, key=lambda one: one.begun):
        for number, cell in enumerate(one.cells):
            measured = one.measured(number)
            typical = [r.values[TYPICAL][0] for r in measured if TYPICAL in r.values]
            found.append(
                (
                    f"{one.begun[:10]} {one.begun[11:16]}",
                    f"`{one.line}`" + (f", {cell.key.split()[0]}" if len(one.cells) > 1 else ""),
                    f"{median(typical):.1f} us" if typical else "-",
                    _scatter(one, number, cell),
                    str(len(measured)),
                    f"{one.seconds:.0f}",
                    cell.outcome,
                )
            )
    return found


def _scatter(one: Repetition, number: int, cell: Cell) -> str:
    """Of the primary metric's log ratio, orders accounted for; nothing where too few rounds tell it."""
    told = [r for r in one.measured(number) if cell.primary in r.values]
    if len(told) < ROUNDS_MIN:
        return "-"
    return f"{float(series(told, cell.primary).result.sd) * 100:.2f} %"
