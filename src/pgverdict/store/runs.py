"""The store: runs go in round by round and come out equal to what went in.

    with open_store("store.db") as store:
        store.begin_run(run)
        store.keep_round(run.id, 0, record)      # all of the round or nothing of it
        store.finish_run(run.id, RunState.DONE, seconds=291.5)
        assert store.load_run(run.id) == ...

What was measured is only ever added to. A run whose process was killed stays `running`, with every
round that was kept.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from types import TracebackType
from typing import Any, Self

from sqlalchemy import Connection, Engine, RowMapping, Table, func, insert, select, update

from pgverdict.errors import UserError, WorldError
from pgverdict.records.round import RoundRecord, RoundState
from pgverdict.records.run import Purpose, RunRecord, RunState
from pgverdict.store import explaining_rows, round_rows, run_rows, tables
from pgverdict.store.damage import understood
from pgverdict.store.loading import load_rounds
from pgverdict.store.summaries import CellSummary, RunSummary
from pgverdict.store.trouble import told


class Store:
    """Made by `opening.open_store`. `place` says where it is, without any password."""

    def __init__(self, engine: Engine, place: str) -> None:
        self.place = place
        self._engine = engine

    def close(self) -> None:
        self._engine.dispose()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def begin_run(self, run: RunRecord) -> None:
        """Keep a new run, with the rounds it already has (none, as a rule)."""
        assert tuple(cell.spec for cell in run.cells) == run.campaign.cells, "a run has its campaign's cells"
        with self.writing() as connection:
            taken = select(tables.runs.c.id).where(tables.runs.c.id == run.id)
            if connection.scalar(taken) is not None:
                raise WorldError(
                    f"cannot keep run {run.id}: there is one of this name in {self.place}",
                    hint="start it again",
                )
            _add(connection, tables.runs, [run_rows.run_row(run)])
            _add(connection, tables.arms, run_rows.arm_rows(run))
            for ordinal, cell in enumerate(run.cells):
                number = _number(connection, tables.cells, run_rows.cell_row(run.id, ordinal, cell))
                for place, record in enumerate(cell.rounds):
                    _add_round(connection, number, place, record)

    def keep_round(self, run_id: str, cell_ordinal: int, record: RoundRecord) -> None:
        """Add a round, measured or failed, to a cell of a run: all of it or nothing."""
        cells, rounds = tables.cells, tables.rounds
        with self.writing() as connection:
            # Locks the cell in PostgreSQL; SQLite has one writer anyway.
            wanted = select(cells.c.cell).where(cells.c.run_id == run_id, cells.c.ordinal == cell_ordinal)
            number = connection.scalar(wanted.with_for_update())
            if number is None:
                raise self._unknown(connection, run_id)
            kept = connection.scalar(select(func.count()).where(rounds.c.cell == number))
            _add_round(connection, number, kept or 0, record)

    def finish_run(self, run_id: str, state: RunState, seconds: float) -> None:
        """Say how a run ended."""
        change = update(tables.runs).where(tables.runs.c.id == run_id)
        with self.writing() as connection:
            if connection.execute(change.values(state=state.value, seconds=seconds)).rowcount == 0:
                raise self._unknown(connection, run_id)

    def resume_run(self, run_id: str, budget_s: float) -> None:
        """A stopped run goes on, with this budget for all of its rounds."""
        change = update(tables.runs).where(tables.runs.c.id == run_id)
        with self.writing() as connection:
            values = {"state": RunState.RUNNING.value, "budget_s": budget_s}
            if connection.execute(change.values(values)).rowcount == 0:
                raise self._unknown(connection, run_id)

    def note_trouble(self, run_id: str, cell_ordinal: int, trouble: str | None) -> None:
        """Say why a cell could not be prepared; None once it could."""
        cells = tables.cells
        change = update(cells).where(cells.c.run_id == run_id, cells.c.ordinal == cell_ordinal)
        with self.writing() as connection:
            if connection.execute(change.values(trouble=trouble)).rowcount == 0:
                raise self._unknown(connection, run_id)

    def keep_notes(self, run_id: str, notes: Sequence[tuple[str, ...]]) -> None:
        """What is to be said of each arm, in the arms' order: later cells may add to it."""
        arms = tables.arms
        with self.writing() as connection:
            for arm, said in enumerate(notes):
                change = update(arms).where(arms.c.run_id == run_id, arms.c.arm == arm)
                connection.execute(change.values(notes=list(said)))

    def stop_orphans(self, host_name: str) -> list[str]:
        """Runs of a host that never said how they ended are stopped; their ids.

        To be called where no run of that host can be going on.
        """
        runs = tables.runs
        with self.writing() as connection:
            running = _rows(connection, runs, runs.c.state == RunState.RUNNING.value)
            orphans = [row["id"] for row in running if dict(row["host"]).get("name") == host_name]
            connection.execute(
                update(runs).where(runs.c.id.in_(orphans)).values(state=RunState.STOPPED.value)
            )
        return sorted(orphans)

    def run_id(self, id_or_prefix: str | None = None) -> str:
        """The id of the run that `load_run` would load."""
        with self.reading() as connection:
            return self._find(connection, id_or_prefix)

    def run_ids(self) -> list[str]:
        """Of all runs, the oldest first."""
        with self.reading() as connection:
            return _newest(connection)[::-1]

    def load_run(self, id_or_prefix: str | None = None) -> RunRecord:
        """The run of that id, or of the only id that begins so; without one, the newest."""
        run_id = self.run_id(id_or_prefix)
        with understood(f"read run {run_id} in the store {self.place}"), self.reading() as connection:
            run_row = _rows(connection, tables.runs, tables.runs.c.id == run_id)[0]
            arm_rows = _rows(connection, tables.arms, tables.arms.c.run_id == run_id)
            cell_rows = _rows(connection, tables.cells, tables.cells.c.run_id == run_id, order=["ordinal"])
            rounds = load_rounds(connection, run_id)
            cells = tuple(run_rows.cell_record(row, tuple(rounds[row["cell"]])) for row in cell_rows)
            return run_rows.run_record(run_row, arm_rows, cells)

    def newest_calibration(self, host: Mapping[str, str], facts: Sequence[str]) -> RunRecord | None:
        """The newest run that calibrated a host which agrees with this one in these facts; None if there is none."""
        with self.reading() as connection:
            runs = tables.runs
            found = {
                row["id"]: dict(row["host"])
                for row in _rows(connection, runs, runs.c.purpose == Purpose.CALIBRATE.value)
            }
            ids = [
                run_id
                for run_id in _newest(connection)
                if run_id in found and all(found[run_id].get(fact) == host.get(fact) for fact in facts)
            ]
        return self.load_run(ids[0]) if ids else None

    def list_runs(self) -> list[RunSummary]:
        """All runs, the newest first."""
        rounds = tables.rounds
        counted = select(rounds.c.cell, rounds.c.state, func.count()).group_by(rounds.c.cell, rounds.c.state)
        with self.reading() as connection:
            listed = {row["id"]: row for row in _rows(connection, tables.runs)}
            ids = _newest(connection)
            counts = {(cell, state): count for cell, state, count in connection.execute(counted)}
            arms = defaultdict(list)
            for row in _rows(connection, tables.arms, order=["run_id", "arm"]):
                arms[row["run_id"]].append((row["name"], row["version"]))
            cells = defaultdict(list)
            for row in _rows(connection, tables.cells, order=["run_id", "ordinal"]):
                measured, failed = (counts.get((row["cell"], state.value), 0) for state in RoundState)
                summary = CellSummary(run_rows.cell_spec(row), row["primary_metric"], measured, failed)
                cells[row["run_id"]].append(summary)
        return [
            RunSummary(
                id=run_id,
                state=RunState(listed[run_id]["state"]),
                started=listed[run_id]["started"],
                seconds=listed[run_id]["seconds"],
                arms=tuple(arms[run_id]),
                cells=tuple(cells[run_id]),
                purpose=Purpose(listed[run_id]["purpose"]),
                path=(listed[run_id]["file"] or (None,))[0],
            )
            for run_id in ids
        ]

    def _find(self, connection: Connection, wanted: str | None) -> str:
        ids = _newest(connection)
        if wanted is None:
            if not ids:
                raise UserError(f"no run in the store {self.place}", hint="`pgverdict compare` makes one")
            return ids[0]
        if wanted in ids:
            return wanted
        begun = [run_id for run_id in ids if wanted and run_id.startswith(wanted)]
        if len(begun) > 1:
            raise UserError(f"more than one run begins with {wanted}", hint=f"one of: {', '.join(begun[:5])}")
        if not begun:
            raise self._unknown(connection, wanted)
        return begun[0]

    def _unknown(self, connection: Connection, run_id: str) -> UserError:
        ids = _newest(connection)
        near = get_close_matches(run_id, ids, n=3)
        hint = f"no run in the store {self.place}"
        if near:
            hint = f"did you mean {' or '.join(near)}?"
        elif ids:
            hint = f"the newest: {', '.join(ids[:5])}"
        return UserError(f"unknown run: {run_id}", hint=hint)

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """One transaction that writes, from its first statement on. For the modules of this package."""
        with told(f"write to the store {self.place}"):
            writer = self._engine.execution_options(writes=True)
            with writer.begin() as connection:
                yield connection

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """One transaction that sees one state of the store, whoever writes meanwhile. For this package, too."""
        with told(f"read the store {self.place}"), self._engine.begin() as connection:
            yield connection


def _add_round(connection: Connection, cell: int, place: int, record: RoundRecord) -> None:
    number = _number(connection, tables.rounds, round_rows.round_row(cell, place, record))
    _add(connection, tables.slices, round_rows.slice_rows(number, record))
    _add(connection, tables.round_arms, round_rows.round_arm_rows(number, record))
    _add(connection, tables.statements, round_rows.statement_rows(number, record))
    _add(connection, tables.round_tables, round_rows.table_rows(number, record))
    _add(connection, tables.kinds, round_rows.kind_rows(number, record))
    _add(connection, tables.round_tasks, round_rows.task_rows(number, record))
    _add(connection, tables.steps, round_rows.step_rows(number, record))
    _add(connection, tables.slice_seconds, explaining_rows.seconds_rows(number, record))
    _add(connection, tables.round_logs, explaining_rows.log_rows(number, record))
    _add(connection, tables.preliminaries, explaining_rows.preliminaries_rows(number, record))


def _add(connection: Connection, table: Table, new: Sequence[dict[str, Any]]) -> None:
    if new:
        connection.execute(insert(table), new)


def _number(connection: Connection, table: Table, new: dict[str, Any]) -> int:
    """Add one row and return the number the database gave it."""
    key = connection.execute(insert(table), new).inserted_primary_key
    assert key is not None
    return int(key[0])


def _newest(connection: Connection) -> list[str]:
    runs = tables.runs
    return list(connection.scalars(select(runs.c.id).order_by(runs.c.started.desc(), runs.c.id.desc())))


def _rows(
    connection: Connection, table: Table, *conditions: Any, order: Sequence[str] = ()
) -> list[RowMapping]:
    by = [table.c[name] for name in order] or list(table.primary_key.columns)
    return list(connection.execute(select(table).where(*conditions).order_by(*by)).mappings())
