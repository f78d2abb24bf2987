"""Whether a file that somebody else made holds what its tables say, before anything of it comes into a store.

SQLite keeps a text in a column of numbers if it is told to, and follows no reference in a file that it reads. A run
that cannot be read again would be refused by every command that meets it; so it is refused at the door.
"""

from typing import Any

from sqlalchemy import JSON, Boolean, Column, Double, Integer, Table, text

from pgverdict.errors import WorldError
from pgverdict.records.run import RunRecord
from pgverdict.store import tables
from pgverdict.store.columns import Histogram, Measured
from pgverdict.store.runs import Store

HINT = "use another copy of it: `pgverdict export` writes files that can be imported"


def check_sound(store: Store) -> None:
    """WorldError for a value of another type than its column's, rows that belong to nothing, runs that do not load."""
    with store.reading() as connection:
        for table in tables.metadata.sorted_tables:
            found = connection.execute(text(_question(table))).first()
            if found is not None:
                raise _damaged(store, f"{table.name}.{found[0]} holds {found[1]}")
        broken = connection.exec_driver_sql("PRAGMA foreign_key_check").first()
        if broken is not None:
            raise _damaged(store, f"rows of {broken[0]} belong to no row of {broken[2]}")
    for run_id in store.run_ids():
        _check_plans(store, store.load_run(run_id))


def _check_plans(store: Store, run: RunRecord) -> None:
    """Every round names the arms that there are, each once: all that is judged is looked up by them."""
    arms = list(range(len(run.arms)))
    for cell in run.cells:
        for one in cell.rounds:
            orders = (one.plan.start_order, one.plan.connect_order, *(pair.order for pair in one.plan.pairs))
            if any(sorted(order) != arms for order in orders):
                raise _damaged(store, f"round {one.plan.ordinal} of run {run.id} has other arms than the run")


def _question(table: Table) -> str:
    """SQL for the first column with a value of a wrong type, and that type; no row where all is well."""
    wrong = {column.name: _wrong(column) for column in table.columns}
    cases = " ".join(f"WHEN {condition} THEN '{name}'" for name, condition in wrong.items())
    kinds = " ".join(f"WHEN {condition} THEN {_kind(name)}" for name, condition in wrong.items())
    return f"SELECT CASE {cases} END, CASE {kinds} END FROM {table.name} WHERE {' OR '.join(wrong.values())} LIMIT 1"


def _wrong(column: Column[Any]) -> str:
    kinds = _kinds(column)
    if column.nullable:
        kinds = (*kinds, "null")
    listed = ", ".join(f"'{kind}'" for kind in kinds)
    condition = f'typeof("{column.name}") NOT IN ({listed})'
    # No counter is infinite, and nothing that is computed with one is worth reading.
    return f'({condition} OR abs("{column.name}") = 9e999)' if "real" in kinds else condition


def _kind(name: str) -> str:
    return f"replace(typeof(\"{name}\"), 'real', 'no finite number')"


def _kinds(column: Column[Any]) -> tuple[str, ...]:
    """What SQLite calls the types that values of this column may have."""
    known: tuple[tuple[Any, tuple[str, ...]], ...] = (
        ((Measured, Double), ("real", "integer")),
        (Histogram, ("blob",)),
        (JSON, ("text",)),
        ((Boolean, Integer), ("integer",)),
    )
    return next((kinds for types, kinds in known if isinstance(column.type, types)), ("text",))


def _damaged(store: Store, what: str) -> WorldError:
    return WorldError(f"cannot read the store {store.place}: {what}", hint=HINT)
