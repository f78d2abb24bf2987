"""All runs of a store at a glance, in the time that people wait for a list: cells of large runs stay unread.

A file is read with Python's own sqlite3. To import SQLAlchemy takes longer than all the rest of a list
(bench/results/store), and four questions that every database understands alike need none of it.
"""

import json
import sqlite3
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pgverdict.records.run import Purpose, RunState
from pgverdict.store.damage import understood
from pgverdict.store.place import file_of, reading_uri
from pgverdict.store.run_rows import cell_spec
from pgverdict.store.summaries import CellSummary, RunGlance
from pgverdict.store.version import VERSION, VERSION_TABLE

if TYPE_CHECKING:
    from pgverdict.store.runs import Store

CELLS_TOLD = 3
"""A list of runs names the cells of a run that has no more."""

Ask = Callable[[str], Iterable[Sequence[Any]]]
"""The rows that answer a question in SQL."""

_RUNS = "SELECT id, state, purpose FROM runs ORDER BY started DESC, id DESC"

_ARMS = "SELECT run_id, name, version FROM arms ORDER BY run_id, arm"

_MEASURED, _FAILED = (
    f"(SELECT count(*) FROM rounds WHERE rounds.cell = cells.cell AND rounds.state = '{state}')"
    for state in ("measured", "failed")
)

_COUNTS = f"SELECT run_id, count(*), sum({_MEASURED}) FROM cells GROUP BY run_id"

_PLAIN = (
    "workload",
    "scale",
    "clients",
    "pairs",
    "cache",
    "chosen_primary",
    "chosen_regime",
    "primary_metric",
)
_JSON = ("parameters", "own_work", "settings")
"""Read as text, which is the same whatever a driver makes of JSON."""

_CELLS = (
    f"SELECT run_id, {_MEASURED}, {_FAILED}, {', '.join(_PLAIN)},"
    f" {', '.join(f'CAST({name} AS text)' for name in _JSON)}"
    f" FROM cells WHERE run_id IN (SELECT run_id FROM cells GROUP BY run_id HAVING count(*) <= {CELLS_TOLD})"
    " ORDER BY run_id, ordinal"
)


def glance(place: str) -> list[RunGlance]:
    """All runs of the store at a path or URL, the newest first.

    Errors are those of `opening.open_store`.
    """
    file = file_of(place)
    found = None if file is None else _glance_at_file(file)
    if found is not None:
        return found
    from pgverdict.store.opening import open_store  # late: see above

    with open_store(place) as store:
        return glance_at(store)


def glance_at(store: "Store") -> list[RunGlance]:
    """The same of a store that is open, whatever its database."""
    with understood(f"list the runs of the store {store.place}"), store.reading() as connection:
        return _glances(lambda question: connection.exec_driver_sql(question).all())


def _glance_at_file(file: Path) -> list[RunGlance] | None:
    """None where it is not as this version leaves it, or cannot be read: opening it mends that, or says what it is."""
    try:
        with closing(sqlite3.connect(reading_uri(file), uri=True, isolation_level=None)) as connection:
            connection.execute("BEGIN")  # one state of the store, whoever writes meanwhile
            if connection.execute(f"SELECT version_num FROM {VERSION_TABLE}").fetchall() != [(VERSION,)]:
                return None
            with understood(f"list the runs of the store {file}"):
                return _glances(connection.execute)
    except sqlite3.Error:
        return None


def _glances(ask: Ask) -> list[RunGlance]:
    counts = {run_id: (int(cells), int(measured)) for run_id, cells, measured in ask(_COUNTS)}
    arms: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for run_id, name, version in ask(_ARMS):
        arms[run_id].append((name, version))
    told: dict[str, list[CellSummary]] = defaultdict(list)
    for run_id, measured, failed, *values in ask(_CELLS):
        told[run_id].append(_cell(values, measured, failed))
    runs = list(ask(_RUNS))
    if bare := [run_id for run_id, *_ in runs if not arms[run_id]]:
        raise ValueError(f"run {bare[0]} has no arms")
    return [
        RunGlance(
            run_id,
            RunState(state),
            tuple(arms[run_id]),
            Purpose(purpose),
            *counts[run_id],
            tuple(told[run_id]),
        )
        for run_id, state, purpose in runs
    ]


def _cell(values: Sequence[Any], measured: int, failed: int) -> CellSummary:
    plain, json_texts = values[: len(_PLAIN)], values[len(_PLAIN) :]
    row = dict(zip(_PLAIN, plain, strict=True))
    row |= {
        name: None if text is None else json.loads(text) for name, text in zip(_JSON, json_texts, strict=True)
    }
    return CellSummary(cell_spec(row), row["primary_metric"], measured, failed)
