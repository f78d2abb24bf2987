"""The rounds of a run out of the store: one query per table, however many rounds there are.

A report reads tens of thousands of slices. So columns are asked for in the order of a record's fields, and records are
made of the very tuples that come: to look up every field of every row by its name took twice as long.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields, replace
from functools import cache
from typing import Any, TypeVar

from sqlalchemy import Connection, RowMapping, Table, select

from pgverdict.plan.rounds import Pair, RoundPlan
from pgverdict.records.host import Surroundings
from pgverdict.records.round import (
    ArmRecord,
    KindRecord,
    Latency,
    LogRecord,
    PreliminariesRecord,
    RoundRecord,
    RoundState,
    SecondsRecord,
    SliceRecord,
    StatementRecord,
    StepRecord,
    TableRecord,
    TaskRecord,
)
from pgverdict.store import tables
from pgverdict.store.fields import pairs, take
from pgverdict.store.round_rows import latency_column

Record = TypeVar("Record")
Values = Sequence[Any]
"""Of the columns that were asked for, in their order."""

_LATENCY = tuple(latency_column(field.name) for field in fields(Latency))
_APART = {
    ArmRecord: ("statements", "tables", "kinds", "tasks", "steps", "preliminaries"),
    SliceRecord: ("seconds",),
}
"""Fields that are tables of their own."""
_ARM = tuple(field.name for field in fields(ArmRecord) if field.name not in _APART[ArmRecord])


def load_rounds(connection: Connection, run_id: str) -> dict[int, list[RoundRecord]]:
    """The rounds of a run's cells, by the cell's number."""
    rounds = tables.rounds
    in_run = rounds.c.cell.in_(select(tables.cells.c.cell).where(tables.cells.c.run_id == run_id))
    numbers = select(rounds.c.round).where(in_run)

    def rows(table: Table, kind: type, *key: str) -> Iterator[tuple[tuple[int, ...], Values]]:
        """What a table holds of the run: the values of `key`, and those of the fields of that kind of record."""
        columns = [table.c[name] for name in (*key, *_columns(kind))]
        query = select(*columns).where(table.c.round.in_(numbers)).order_by(*table.primary_key.columns)
        for row in connection.execute(query):
            yield row[: len(key)], row[len(key) :]

    def by_arm(table: Table, kind: type, make: Callable[[Values], Record]) -> dict[Any, list[Record]]:
        """By round and place of the arm in it."""
        found: dict[Any, list[Record]] = defaultdict(list)
        for place, values in rows(table, kind, "round", "arm_place"):
            found[place].append(make(values))
        return found

    parts: dict[str, dict[Any, list[Any]]] = {
        "statements": by_arm(tables.statements, StatementRecord, lambda values: StatementRecord(*values)),
        "tables": by_arm(tables.round_tables, TableRecord, lambda values: TableRecord(*values)),
        "kinds": by_arm(tables.kinds, KindRecord, _kind),
        "tasks": by_arm(tables.round_tasks, TaskRecord, _task),
        "steps": by_arm(tables.steps, StepRecord, _step),
        "preliminaries": by_arm(
            tables.preliminaries, PreliminariesRecord, lambda values: PreliminariesRecord(*values)
        ),
    }
    arms = defaultdict(list)
    for place, values in rows(tables.round_arms, ArmRecord, "round", "place"):
        arm: dict[str, Any] = dict(zip(_ARM, _with_latency(ArmRecord, values), strict=True))
        arm |= {name: tuple(found.get(place, ())) for name, found in parts.items()}
        arms[place[0]].append(ArmRecord(**arm))
    seconds: dict[Any, list[SecondsRecord]] = defaultdict(list)
    for place, values in rows(tables.slice_seconds, SecondsRecord, "round", "slice_place"):
        seconds[place].append(_seconds(values))
    slices = defaultdict(list)
    for place, values in rows(tables.slices, SliceRecord, "round", "place"):
        one = SliceRecord(*_with_latency(SliceRecord, values))
        kept = seconds.get(place)
        slices[place[0]].append(replace(one, seconds=tuple(kept)) if kept else one)
    logs = defaultdict(list)
    for (number,), values in rows(tables.round_logs, LogRecord, "round"):
        logs[number].append(LogRecord(*values))

    loaded: dict[int, list[RoundRecord]] = defaultdict(list)
    query = select(rounds).where(in_run).order_by(rounds.c.cell, rounds.c.place)
    for row in connection.execute(query).mappings():
        loaded[row["cell"]].append(_round(row, slices[row["round"]], arms[row["round"]], logs[row["round"]]))
    return loaded


@cache
def _columns(kind: type) -> tuple[str, ...]:
    """Those of a record's fields, in their order; a latency's are seven."""
    names = [field.name for field in fields(kind) if field.name not in _APART.get(kind, ())]
    return tuple(column for name in names for column in (_LATENCY if name == "latency" else (name,)))


@cache
def _latency_at(kind: type) -> int:
    return _columns(kind).index(_LATENCY[0])


def _with_latency(kind: type, values: Values) -> tuple[Any, ...]:
    """The fields of a record, of which one is a latency."""
    begin = _latency_at(kind)
    end = begin + len(_LATENCY)
    return (*values[:begin], Latency(*values[begin:end]), *values[end:])


def _kind(values: Values) -> KindRecord:
    kind = KindRecord(*_with_latency(KindRecord, values))
    return kind if kind.count else replace(kind, latency=None)


def _step(values: Values) -> StepRecord:
    step = StepRecord(*_with_latency(StepRecord, values))
    return step if step.counts is not None else replace(step, latency=None)


def _task(values: Values) -> TaskRecord:
    task = TaskRecord(*values)
    return replace(task, variables=pairs(task.variables))


def _seconds(values: Values) -> SecondsRecord:
    kind, transactions, mean_ns = values
    return SecondsRecord(kind, tuple(transactions), tuple(mean_ns))


def _round(
    row: RowMapping, slices: Sequence[SliceRecord], arms: Sequence[ArmRecord], logs: Sequence[LogRecord]
) -> RoundRecord:
    plan = RoundPlan(
        ordinal=row["ordinal"],
        start_order=tuple(row["start_order"]),
        connect_order=tuple(row["connect_order"]),
        slots=tuple(row["slots"]),
        loads=tuple(row["loads"]),
        installs=tuple(row["installs"]),
        pairs=tuple(Pair(tuple(order), seed) for order, seed in row["pairs"]),
    )
    return RoundRecord(
        plan=plan,
        state=RoundState(row["state"]),
        slices=tuple(slices),
        arms=tuple(arms),
        placement=pairs(row["placement"]),
        surroundings=None if row["watched_ns"] is None else Surroundings(**take(Surroundings, row)),
        logs=tuple(logs),
        **take(RoundRecord, row, "plan", "state", "slices", "arms", "placement", "surroundings", "logs"),
    )
