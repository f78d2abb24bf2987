"""What partitions cost against tables without, arm by arm, and what that consists of as far as rounds tell.

The time of a transaction, as clients see it, is split in two by pg_stat_statements: inside the executor, and all that
is outside: parsing, planning, taking locks, commits, the protocol and the client. What of this is planning, and how
many relations are locked, is asked after the slices (`conduct.preliminaries`), of a client that works alone. So the
split says where to look, and proves no cause.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median

from pgverdict.judge.apart import Apart, apart
from pgverdict.records.round import ArmRecord, PreliminariesRecord, RoundRecord, StatementRecord
from pgverdict.records.run import CellRecord, RunRecord
from pgverdict.report import words
from pgverdict.report.section import Grid, Section
from pgverdict.spec.campaign import CellSpec
from pgverdict.spec.partitions import partitions_of as partitions_in
from pgverdict.spec.partitions import unpartitioned
from pgverdict.workloads.control import is_control


@dataclass(frozen=True)
class Part:
    """Something per transaction: without partitions and with them, medians over rounds; None where it is not known."""

    name: str
    unit: str
    without: float | None
    with_: float | None
    is_of_time: bool
    """Whether it is a part of the transaction's time, so that its share of the penalty means something."""


@dataclass(frozen=True)
class Penalty:
    """An arm in two cells that differ only in their partitions."""

    label: str
    partitions: int
    time: Apart
    """Mean time of a transaction, with / without."""
    parts: tuple[Part, ...]

    @property
    def sentence(self) -> str:
        """'16 partitions on 15.4: a transaction takes 12.1 % longer (8.0 to 16.0), ...', without a full stop."""
        change = words.percent(self.time.ratio)
        known = self.time.low > 0 and math.isfinite(self.time.high)
        limits = (
            f", between {words.limit(self.time.low)} and {words.limit(self.time.high)} %" if known else ""
        )
        said = f"{self.partitions} partitions on {self.label}: time of a transaction {change}{limits}"
        if not known or self.time.low <= 1 <= self.time.high:
            return f"{said}, which may be nothing"
        inside, outside = (self._difference(name) for name in (_INSIDE, _OUTSIDE))
        if inside is None or outside is None:
            return f"{said}; where it is spent is not known, without times inside the server"
        planning, rest = (self._difference(name) for name in (_PLANNING, _REST))
        if planning is None or rest is None:
            said += f"; {_signed(inside)} us inside the executor and {_signed(outside)} us outside it"
        else:
            said += (
                f"; {_signed(inside)} us inside the executor, {_signed(planning)} us planning,"
                f" {_signed(rest)} us neither"
            )
        return said + self._locks()

    def _locks(self) -> str:
        """'; 19 relations are locked in place of 2, 3 of them in the shared lock table in place of 0'."""
        locked, shared = self._part(_LOCKED), self._part(_SHARED)
        figures = (locked.with_, locked.without, shared.with_, shared.without)
        if any(figure is None for figure in figures):
            return ""
        many, few, many_shared, few_shared = map(_shown, figures)
        return (
            f"; {many} relations are locked in place of {few}, {many_shared} of them in the shared lock table in"
            f" place of {few_shared}"
        )

    def _part(self, name: str) -> Part:
        return next(part for part in self.parts if part.name == name)

    def _difference(self, name: str) -> float | None:
        return _less(self._part(name).with_, self._part(name).without)


@dataclass(frozen=True)
class PartitionsReport:
    """Cells that differ only in their partitions, of which one has none."""

    spec: CellSpec
    title: str
    penalties: tuple[Penalty, ...]


def partitions_of(run: RunRecord) -> tuple[PartitionsReport, ...]:
    """Every set of measured cells that differ only in their partitions, if one of them has none."""
    sets: dict[str, list[CellRecord]] = {}
    for cell in run.cells:
        if cell.measured and not cell.measured[0].arms[0].steps:
            sets.setdefault(unpartitioned(cell.spec).key, []).append(cell)
    found = []
    for cells in sets.values():
        cells.sort(key=lambda cell: partitions_in(cell.spec))
        without, *with_ = cells
        if with_ and partitions_in(without.spec) == 0:
            penalties = tuple(
                _penalty(run, without, cell, arm) for cell in with_ for arm in range(len(run.arms))
            )
            found.append(
                PartitionsReport(without.spec, words.cell_title(unpartitioned(without.spec)), penalties)
            )
    return tuple(found)


def _penalty(run: RunRecord, without: CellRecord, with_: CellRecord, arm: int) -> Penalty:
    both = [_rounds(cell, arm) for cell in (without, with_)]
    times = [[found.latency.mean_ns for _, found in rounds] for rounds in both]
    parts = [
        Part(name, unit, _typical(both[0], figure), _typical(both[1], figure), is_of_time)
        for name, unit, is_of_time, figure in _PARTS
    ]
    return Penalty(
        label=words.arm_label(run.arms[arm]),
        partitions=partitions_in(with_.spec),
        time=apart(times[0], times[1], 1 - run.campaign.confidence),
        parts=_with_rest(parts),
    )


def _with_rest(parts: Sequence[Part]) -> tuple[Part, ...]:
    """The parts with what is neither execution nor planning: of typical values, since few rounds are asked to plan."""
    named = {part.name: part for part in parts}
    outside, planning = named[_OUTSIDE], named[_PLANNING]
    rest = Part(
        _REST, "us", _less(outside.without, planning.without), _less(outside.with_, planning.with_), True
    )
    place = parts.index(planning) + 1
    return (*parts[:place], rest, *parts[place:])


def _rounds(cell: CellRecord, arm: int) -> list[tuple[RoundRecord, ArmRecord]]:
    return [(r, found) for r in cell.measured for found in r.arms if found.arm == arm and found.transactions]


_Figure = Callable[[RoundRecord, ArmRecord], float | None]


def _typical(rounds: Sequence[tuple[RoundRecord, ArmRecord]], figure: _Figure) -> float | None:
    known = [value for record, arm in rounds if (value := figure(record, arm)) is not None]
    return float(median(known)) if known else None


def _inside_us(_: RoundRecord, arm: ArmRecord) -> float | None:
    """All statements of a transaction; one without a time makes the sum unknown."""
    times = [None if s.server_ms_mean is None else s.count * s.server_ms_mean * 1e3 for s in _work(arm)]
    known = [time for time in times if time is not None]
    return sum(known) / arm.transactions if known and len(known) == len(times) else None


def _work(arm: ArmRecord) -> list[StatementRecord]:
    """The statements that were sent, without those that begin and end transactions, which nothing executes."""
    return [s for s in arm.statements if s.count and not is_control(s.text)]


def _outside_us(record: RoundRecord, arm: ArmRecord) -> float | None:
    inside = _inside_us(record, arm)
    return None if inside is None else arm.latency.mean_ns / 1e3 - inside


def _server_cpu_us(record: RoundRecord, arm: ArmRecord) -> float | None:
    slices = [s for s in record.slices if s.arm == arm.arm]
    counted = [s.server_cpu_ns for s in slices if s.server_cpu_ns is not None]
    executed = sum(s.transactions + s.failed + s.discarded for s in slices)
    return sum(counted) / executed / 1e3 if executed and len(counted) == len(slices) else None


def _client_cpu_us(record: RoundRecord, arm: ArmRecord) -> float | None:
    slices = [s for s in record.slices if s.arm == arm.arm]
    executed = sum(s.transactions + s.failed + s.discarded for s in slices)
    return sum(s.engine_cpu_ns for s in slices) / executed / 1e3 if executed else None


def _counted(name: str) -> _Figure:
    """Of all statements, per transaction: calls are of every execution, transactions of the counted ones."""

    def figure(_: RoundRecord, arm: ArmRecord) -> float | None:
        found = [(getattr(s, name), s.server_calls, s.count) for s in _work(arm)]
        if not found or any(total is None or not calls for total, calls, _ in found):
            return None
        return float(sum(total / calls * count for total, calls, count in found) / arm.transactions)

    return figure


def _asked(figure: Callable[[PreliminariesRecord], float | None]) -> _Figure:
    """Of the script, where there is but one: of several, how often each was run would have to be known."""

    def of_arm(_: RoundRecord, arm: ArmRecord) -> float | None:
        return figure(arm.preliminaries[0]) if len(arm.preliminaries) == 1 else None

    return of_arm


def _less(value: float | None, other: float | None) -> float | None:
    return None if value is None or other is None else value - other


_INSIDE, _OUTSIDE = "inside the executor", "outside it"
_PLANNING, _REST = "of that planning, asked apart", "of that neither"
_LOCKED, _SHARED = "relations locked", "of them in the shared lock table"

_PARTS: tuple[tuple[str, str, bool, _Figure], ...] = (
    ("time of a transaction, mean", "us", True, lambda _, arm: arm.latency.mean_ns / 1e3),
    (_INSIDE, "us", True, _inside_us),
    (_OUTSIDE, "us", True, _outside_us),
    (_PLANNING, "us", True, _asked(lambda one: one.planning_us_mean)),
    (
        "plans made",
        "",
        False,
        _asked(lambda one: None if one.plans is None else one.plans / one.transactions),
    ),
    (_LOCKED, "", False, _asked(lambda one: one.relations_locked)),
    (_SHARED, "", False, _asked(lambda one: one.relations_locked - one.relations_locked_fast_path)),
    ("CPU of the server", "us", False, _server_cpu_us),
    ("CPU of the load engine", "us", False, _client_cpu_us),
    ("blocks hit in shared buffers", "", False, _counted("server_buffers_hit")),
    ("blocks from outside shared buffers", "", False, _counted("server_buffers_read")),
    ("WAL", "bytes", False, _counted("server_wal_bytes")),
)


def partitions_section(report: PartitionsReport) -> Section:
    """A table for every arm and number of partitions."""
    return Section(
        title=f"What partitions cost: {report.title}",
        sentences=tuple(penalty.sentence for penalty in report.penalties),
        grids=tuple(_grid(penalty) for penalty in report.penalties),
        notes=(
            *_outside_notes(report),
            "cells with and without partitions were measured in different rounds: these ratios are no verdicts, and"
            " each interval is of one look, by itself",
        ),
    )


def _outside_notes(report: PartitionsReport) -> tuple[str, ...]:
    """What is known of the time outside the executor."""
    said = (
        "outside the executor: parsing, planning, locks, commits, protocol and client; statements are prepared once per"
        " connection, and a server that keeps a generic plan plans them no more"
    )
    known = {
        name: any(
            part.name == name and part.with_ is not None for one in report.penalties for part in one.parts
        )
        for name in (_PLANNING, _LOCKED)
    }
    if not any(known.values()):
        return (
            f"{said}. Neither planning alone nor locks were counted, so that it is not told apart further",
        )
    asked = (
        "planning and locks were asked after the slices, in the first rounds of a cell, of one client that works"
        " alone, with planning tracked in its session: with more clients planning may take longer, and waiting for"
        " locks is in neither"
    )
    return (
        (said, asked)
        if known[_PLANNING]
        else (said, f"{asked}. Releases before 13 do not tell planning apart")
    )


def _grid(penalty: Penalty) -> Grid:
    whole = penalty.parts[0]
    total = None if whole.without is None or whole.with_ is None else whole.with_ - whole.without
    return Grid(
        title=f"{penalty.label}, per transaction, typical round",
        header=("", "unit", "none", f"{penalty.partitions} partitions", "difference", "of the penalty %"),
        alignment="llrrrr",
        rows=tuple(
            _row(part, total) for part in penalty.parts if part.without is not None or part.with_ is not None
        ),
    )


def _row(part: Part, total: float | None) -> tuple[str, ...]:
    known = part.without is not None and part.with_ is not None
    difference = (
        part.with_ - part.without if part.without is not None and part.with_ is not None else math.nan
    )
    share = f"{100 * difference / total:.0f}" if known and part.is_of_time and total else ""
    return (part.name, part.unit, _shown(part.without), _shown(part.with_), _signed(difference), share)


def _shown(value: float | None) -> str:
    if value is None:
        return words.NOTHING
    return f"{value:,.0f}" if value == round(value) else words.quantity(value)


def _signed(value: float) -> str:
    return words.NOTHING if math.isnan(value) else f"{'-' if value < 0 else '+'}{_shown(abs(value))}"
