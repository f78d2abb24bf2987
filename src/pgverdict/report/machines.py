"""Two runs of the same cells on two machines, side by side: medians and quartiles of rounds, and no verdict.

Rounds of one run were never interleaved with those of another: another hour, kernel, disk and neighbours are in the
ratio as well as the machine, and no number of rounds takes them out.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from statistics import median, quantiles

from pgverdict.errors import UserError
from pgverdict.judge.values import Question, values
from pgverdict.records.run import CellRecord, RunRecord
from pgverdict.report.words import arm_label, count, quantity, visible
from pgverdict.servers.space import show_bytes

WARNING = (
    "The two were not measured in turns: the ratio is of two machines at two times, with whatever else differed\n"
    "between them. There is no interval and no verdict; within each run, `pgverdict report RUN` has both."
)

_FACTS = ("name", "processor", "cores", "memory_bytes", "system")


@dataclass(frozen=True)
class MachineRow:
    """An arm in a cell on both machines, by the cell's primary metric. `spread`: its lower and upper quartile."""

    cell: str
    metric: str
    labels: tuple[str, str]
    median: tuple[float, float]
    spread: tuple[tuple[float, float], tuple[float, float]]
    rounds: tuple[int, int]

    @property
    def ratio(self) -> float:
        """Second / first, of the medians."""
        return self.median[1] / self.median[0]


def machine_rows(first: RunRecord, second: RunRecord) -> list[MachineRow]:
    """The cells of one key and the arms of one name that both have, with at least two rounds in each.

    UserError if there are none.
    """
    found = list(_rows(first, second))
    if not found:
        raise UserError(
            f"runs {first.id} and {second.id} have no cell, arm and metric in common that was measured in both",
            hint="they must be of the same campaign file, or of the same options",
        )
    return found


def _rows(first: RunRecord, second: RunRecord) -> Iterator[MachineRow]:
    others = {cell.spec.key: cell for cell in second.cells}
    names = [arm.name for arm in second.arms]
    for cell in first.cells:
        other = others.get(cell.spec.key)
        if other is None or other.primary != cell.primary:
            continue
        for place, arm in enumerate(first.arms):
            if arm.name not in names:
                continue
            there = names.index(arm.name)
            told = _told(cell, place), _told(other, there)
            if all(len(one) >= 2 for one in told):
                yield MachineRow(
                    cell.spec.key,
                    cell.primary,
                    (arm_label(arm), arm_label(second.arms[there])),
                    (median(told[0]), median(told[1])),
                    (_quartiles(told[0]), _quartiles(told[1])),
                    (len(told[0]), len(told[1])),
                )


def _told(cell: CellRecord, arm: int) -> list[float]:
    """What every measured round said of an arm."""
    question, candidate = Question(cell.primary), max(1, arm)
    found = [values(one, question, clients=cell.spec.clients, candidate=candidate) for one in cell.measured]
    return [one.baseline if arm == 0 else one.candidate for one in found if one is not None]


def _quartiles(numbers: list[float]) -> tuple[float, float]:
    low, _, high = quantiles(numbers, n=4, method="inclusive")
    return low, high


def machine_screen(first: RunRecord, second: RunRecord) -> str:
    """For a terminal."""
    rows = machine_rows(first, second)
    lines = [f"{run.id} on {_host(run)}" for run in (first, second)] + ["", WARNING]
    cell = None
    for row in rows:
        if row.cell != cell:
            cell = row.cell
            lines += ["", f"{cell}, {row.metric}: median of rounds (quartiles), the second / the first"]
        same = row.labels[0] == row.labels[1]
        name = row.labels[0] if same else f"{row.labels[0]} and {row.labels[1]}"
        sides = [
            f"{quantity(middle)} ({quantity(low)} to {quantity(high)}, {count(number, 'round')})"
            for middle, (low, high), number in zip(row.median, row.spread, row.rounds, strict=True)
        ]
        lines.append(f"  {name}: {sides[0]}; {sides[1]}; {row.ratio:.3f}")
    return visible("\n".join(lines) + "\n")


def _host(run: RunRecord) -> str:
    told = dict(run.host)
    if (memory := str(told.get("memory_bytes"))).isdecimal():
        told["memory_bytes"] = show_bytes(int(memory))
    return ", ".join(f"{fact.removesuffix('_bytes')} {told[fact]}" for fact in _FACTS if fact in told)
