"""A run from one store into another, row by row: what is not read here cannot be lost here.

Numbers that a store gave out (of cells and rounds) are given anew; all else is the same. Which runs are the same
one is asked of the run, not of its name: two hosts may draw one name on one day.

    with open_store("here.sqlite") as here, open_store("postgresql://team/results") as team:
        taken = take_run(here, "2026-11-21-1002-3f9a", team)      # twice is nothing
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import chain, count
from typing import Any

from sqlalchemy import Connection, Table, func, insert, select, text, update

from pgverdict.errors import WorldError
from pgverdict.store import tables
from pgverdict.store.runs import Store

OF_ROUNDS = tuple(
    table for table in tables.metadata.sorted_tables if "round" in table.c and table is not tables.rounds
)
"""All tables whose rows belong to a round."""

_ROUNDS_AT_ONCE = 100
_CHANGING = ("state", "seconds", "budget_s")
"""Of a run; beside them the notes of its arms and the troubles of its cells change while it goes on. In all else two
runs agree only if they are one: begun in one millisecond, with one seed, on one host, and of the same cells."""

_TAKE_LOCK = 20261122
"""The advisory lock that lets one process at a time take runs into a PostgreSQL; any number would do."""


class Deed(Enum):
    """What taking a run did."""

    NEW = "new"
    GREW = "grew"
    """It was there with fewer rounds, or had not ended."""
    THERE = "there"


@dataclass(frozen=True)
class Taken:
    """`id`: what the run is called in the store it was taken into; `rounds`: how many of its rounds are new there."""

    id: str
    deed: Deed
    rounds: int


def take_run(source: Store, run_id: str, target: Store) -> Taken:
    """All of a run of `source`, or what `target` has not of it, in one transaction.

    WorldError if the two stores have rounds of it that the other has not: the run went on in both.
    """
    with source.reading() as reading, target.writing() as writing:
        if writing.dialect.name == "postgresql":
            writing.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _TAKE_LOCK})
        run = _one(reading, tables.runs, tables.runs.c.id == run_id)
        there = _the_same(writing, run, _cells(reading, run_id))
        if there is None:
            name = _free_name(writing, run_id)
            _insert(writing, tables.runs, [{**run, "id": name}])
            arms = _all(reading, tables.arms, tables.arms.c.run_id == run_id)
            _insert(writing, tables.arms, [{**arm, "run_id": name} for arm in arms])
            rounds = 0
            for cell in _cells(reading, run_id):
                added = {**_without(cell, "cell"), "run_id": name}
                number = _numbered(writing, tables.cells, "cell", [added])[0]
                rounds += _copy_rounds(reading, cell["cell"], writing, number, 0)
            return Taken(name, Deed.NEW, rounds)
        return _grown(reading, run, writing, there, target.place)


def _grown(reading: Connection, run: dict[str, Any], writing: Connection, there: str, place: str) -> Taken:
    """The rounds that are missing in a run that is there already."""
    sources, targets = _cells(reading, run["id"]), _cells(writing, there)
    more = fewer = 0
    pairs = list(zip(sources, targets, strict=True))
    for source, target in pairs:
        here, known = _marks(reading, source["cell"]), _marks(writing, target["cell"])
        common = min(len(here), len(known))
        if here[:common] != known[:common]:
            raise _went_apart(run["id"], place)
        more += len(here) - common
        fewer += len(known) - common
    if more and fewer:
        raise _went_apart(run["id"], place)
    ended = run["state"] != "running" and _state(writing, there) == "running"
    if fewer or not (more or ended):
        return Taken(there, Deed.THERE, 0)
    for source, target in pairs:
        kept = _count(writing, target["cell"])
        _copy_rounds(reading, source["cell"], writing, target["cell"], kept)
        writing.execute(
            update(tables.cells)
            .where(tables.cells.c.cell == target["cell"])
            .values(trouble=source["trouble"])
        )
    changed = {name: run[name] for name in _CHANGING}
    writing.execute(update(tables.runs).where(tables.runs.c.id == there).values(changed))
    for arm in _all(reading, tables.arms, tables.arms.c.run_id == run["id"]):
        change = update(tables.arms).where(tables.arms.c.run_id == there, tables.arms.c.arm == arm["arm"])
        writing.execute(change.values(notes=arm["notes"]))
    return Taken(there, Deed.GREW, more)


def _copy_rounds(reading: Connection, source: int, writing: Connection, target: int, begin: int) -> int:
    """The rounds of a cell from place `begin` on, with all that belongs to them; how many."""
    rounds = tables.rounds
    found = _all(reading, rounds, rounds.c.cell == source, rounds.c.place >= begin, order="place")
    for first in range(0, len(found), _ROUNDS_AT_ONCE):
        some = found[first : first + _ROUNDS_AT_ONCE]
        added = [{**_without(record, "round"), "cell": target} for record in some]
        numbers = _numbered(writing, rounds, "round", added)
        new = {record["round"]: number for record, number in zip(some, numbers, strict=True)}
        for table in OF_ROUNDS:
            belonging = _all(reading, table, table.c.round.in_(list(new)))
            _insert(writing, table, [{**row, "round": new[row["round"]]} for row in belonging])
    return len(found)


def _the_same(connection: Connection, run: dict[str, Any], cells: Sequence[dict[str, Any]]) -> str | None:
    """What the run is called in this store; None if it is not there."""
    runs = tables.runs
    begun = _all(connection, runs, runs.c.started == run["started"], runs.c.seed == run["seed"])
    for row in begun:
        alike = all(row[name] == value for name, value in run.items() if name not in ("id", *_CHANGING))
        if alike and list(map(_lasting, _cells(connection, row["id"]))) == list(map(_lasting, cells)):
            return str(row["id"])
    return None


def _lasting(cell: dict[str, Any]) -> dict[str, Any]:
    """What a cell has in every store, and as long as its run goes on."""
    return {name: value for name, value in cell.items() if name not in ("cell", "run_id", "trouble")}


def _free_name(connection: Connection, run_id: str) -> str:
    """Its own, or, where another run has that, with a number behind it."""
    runs = tables.runs
    taken = set(connection.scalars(select(runs.c.id).where(runs.c.id.startswith(run_id, autoescape=True))))
    names = chain([run_id], (f"{run_id}-{number}" for number in count(2)))
    return next(name for name in names if name not in taken)


def _went_apart(run_id: str, place: str) -> WorldError:
    return WorldError(
        f"run {run_id} went on in two stores, and its rounds in {place} are others",
        hint="import it into a store of its own",
    )


def _marks(connection: Connection, cell: int) -> list[tuple[Any, ...]]:
    """What tells the rounds of a cell apart, in their order."""
    rounds = tables.rounds
    wanted = select(rounds.c.started, rounds.c.ordinal, rounds.c.state, rounds.c.seconds)
    return [
        tuple(row) for row in connection.execute(wanted.where(rounds.c.cell == cell).order_by(rounds.c.place))
    ]


def _count(connection: Connection, cell: int) -> int:
    return connection.scalar(select(func.count()).where(tables.rounds.c.cell == cell)) or 0


def _state(connection: Connection, run_id: str) -> str | None:
    return connection.scalar(select(tables.runs.c.state).where(tables.runs.c.id == run_id))


def _cells(connection: Connection, run_id: str) -> list[dict[str, Any]]:
    return _all(connection, tables.cells, tables.cells.c.run_id == run_id, order="ordinal")


def _one(connection: Connection, table: Table, condition: Any) -> dict[str, Any]:
    return dict(connection.execute(select(table).where(condition)).mappings().one())


def _all(connection: Connection, table: Table, *conditions: Any, order: str = "") -> list[dict[str, Any]]:
    by = [table.c[order]] if order else table.primary_key.columns
    return list(map(dict, connection.execute(select(table).where(*conditions).order_by(*by)).mappings()))


def _insert(connection: Connection, table: Table, rows: Sequence[dict[str, Any]]) -> None:
    if rows:
        connection.execute(insert(table), rows)


def _numbered(connection: Connection, table: Table, key: str, rows: Sequence[dict[str, Any]]) -> list[int]:
    """Add rows; the numbers that the database gave them, in their order."""
    adding = insert(table).returning(table.c[key], sort_by_parameter_order=True)
    return list(connection.scalars(adding, rows))


def _without(row: dict[str, Any], key: str) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name != key}
