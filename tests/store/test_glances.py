"""A list of runs says what the store holds, whichever way it is read."""

import dataclasses
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from pgverdict.errors import WorldError
from pgverdict.records.run import RunRecord
from pgverdict.spec.campaign import CellSpec
from pgverdict.store.glances import CELLS_TOLD, glance, glance_at
from pgverdict.store.opening import open_store
from pgverdict.store.runs import Store
from pgverdict.store.tables import VERSION_TABLE

from . import made


def with_cells(run: RunRecord, count: int) -> RunRecord:
    """The run with so many cells of one round each."""
    specs = tuple(CellSpec("select-only", 1, clients) for clients in range(1, count + 1))
    cells = tuple(dataclasses.replace(run.cells[0], spec=spec, rounds=(made.a_round(0),)) for spec in specs)
    return dataclasses.replace(run, cells=cells, campaign=dataclasses.replace(run.campaign, cells=specs))


def test_a_glance_tells_few_cells_by_name_and_counts_many(store: Store) -> None:
    store.begin_run(made.a_run("2026-11-20-aaaa", started="2026-11-20T10:00:00Z"))
    store.begin_run(made.a_run(rounds=(made.a_round(0), made.a_failed_round(1), made.a_round(1))))
    store.begin_run(
        with_cells(made.a_run("2026-11-22-large", started="2026-11-22T10:00:00Z"), CELLS_TOLD + 1)
    )

    many, newer, older = glance_at(store)

    assert (many.id, many.cells, many.measured, many.told) == ("2026-11-22-large", 4, 4, ())
    summaries = {summary.id: summary for summary in store.list_runs()}
    for one in (newer, older):
        summary = summaries[one.id]
        assert (one.state, one.arms, one.purpose, one.told) == (
            summary.state, summary.arms, summary.purpose, summary.cells,
        )  # fmt: skip
    assert (newer.id, newer.cells, newer.measured) == ("2026-11-21-3f9a", 2, 2)
    assert (older.cells, older.measured) == (2, 0)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(run=made.runs())
def test_a_store_says_the_same_by_its_place_and_opened(url: str, run: RunRecord) -> None:
    with open_store(url) as store:
        if run.id not in store.run_ids():
            store.begin_run(run)
        opened = glance_at(store)
        summaries = {summary.id: summary for summary in store.list_runs()}

    assert glance(url) == opened
    assert {one.id: one.told for one in opened} == {name: one.cells for name, one in summaries.items()}


def test_a_file_of_this_version_is_listed_without_sqlalchemy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "runs.sqlite"
    with open_store(place) as store:
        store.begin_run(made.a_run())
    monkeypatch.setitem(sys.modules, "pgverdict.store.opening", None)

    assert [run.id for run in glance(str(place))] == ["2026-11-21-3f9a"]


def test_a_file_of_no_version_yet_is_brought_up_to_date_and_listed(tmp_path: Path) -> None:
    assert glance(str(tmp_path / "new.sqlite")) == []


def test_what_is_no_store_is_told_as_by_every_command(tmp_path: Path) -> None:
    foreign, text_file = tmp_path / "foreign.sqlite", tmp_path / "notes.txt"
    with closing(sqlite3.connect(foreign)) as connection:
        connection.execute("CREATE TABLE runs_of_somebody_else (id int)")
    text_file.write_text("not a database, and longer than the header of one: " * 9)

    with pytest.raises(WorldError, match="not a pgverdict store"):
        glance(str(foreign))
    with pytest.raises(WorldError, match="cannot open the store"):
        glance(str(text_file))


def test_a_store_of_a_later_version_is_not_listed(url: str) -> None:
    with open_store(url) as store, store.writing() as connection:
        connection.exec_driver_sql(f"UPDATE {VERSION_TABLE} SET version_num = '9999'")

    with pytest.raises(WorldError, match="written by a newer pgverdict"):
        glance(url)
