"""Runs go from one store to another and stay what they are, whatever the stores are."""

import dataclasses
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from pgverdict.errors import WorldError
from pgverdict.records.round import RoundRecord
from pgverdict.records.run import RunRecord, RunState
from pgverdict.store import tables
from pgverdict.store.opening import open_store
from pgverdict.store.runs import Store
from pgverdict.store.transfer import OF_ROUNDS, Deed, Taken, take_run

from . import made


@pytest.fixture
def here(tmp_path: Path) -> Iterator[Store]:
    """Where runs come from."""
    with open_store(tmp_path / "here.db") as opened:
        yield opened


def with_rounds(*rounds: RoundRecord, state: RunState = RunState.DONE) -> RunRecord:
    return dataclasses.replace(made.a_run(rounds=rounds), state=state)


def test_every_table_belongs_to_a_run() -> None:
    assert {tables.runs, tables.arms, tables.cells, tables.rounds, *OF_ROUNDS} == set(
        tables.metadata.sorted_tables
    )


def test_a_run_is_the_same_in_another_store(here: Store, store: Store) -> None:
    run = with_rounds(made.a_round(0), made.a_failed_round(1), made.a_round(1))
    store.begin_run(made.a_run("2026-11-20-ffff", started="2026-11-20T10:00:00Z", rounds=(made.a_round(3),)))
    here.begin_run(run)

    assert take_run(here, run.id, store) == Taken(run.id, Deed.NEW, 3)
    assert store.load_run(run.id) == run


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(run=made.runs())
def test_any_run_is_the_same_in_another_store(here: Store, store: Store, run: RunRecord) -> None:
    if run.id in here.run_ids():
        return
    run = dataclasses.replace(run, started=f"when {run.id} began")  # so that no two of them are one
    here.begin_run(run)
    taken = take_run(here, run.id, store)
    assert taken.deed is Deed.NEW
    assert dataclasses.replace(store.load_run(taken.id), id=run.id) == run


def test_a_run_that_is_taken_twice_is_there_once(here: Store, store: Store) -> None:
    run = with_rounds(made.a_round(0))
    here.begin_run(run)
    take_run(here, run.id, store)

    assert take_run(here, run.id, store) == Taken(run.id, Deed.THERE, 0)
    assert store.run_ids() == [run.id]
    assert store.load_run(run.id) == run


def test_two_runs_of_one_name_are_told_apart(here: Store, store: Store) -> None:
    """Another host drew the same name on the same day."""
    run = with_rounds(made.a_round(0))
    theirs = dataclasses.replace(with_rounds(made.a_round(1)), host=(("cpu", "another"),))
    here.begin_run(run)
    store.begin_run(theirs)

    assert [take_run(here, run.id, store) for _ in range(2)] == [
        Taken(f"{run.id}-2", Deed.NEW, 1),
        Taken(f"{run.id}-2", Deed.THERE, 0),
    ]
    assert store.load_run(run.id) == theirs
    assert store.load_run(f"{run.id}-2") == dataclasses.replace(run, id=f"{run.id}-2")


def test_runs_of_other_cells_are_not_one_even_if_they_began_together(here: Store, store: Store) -> None:
    run = with_rounds(made.a_round(0))
    fewer = dataclasses.replace(
        run, cells=run.cells[:1], campaign=dataclasses.replace(run.campaign, cells=run.campaign.cells[:1])
    )
    here.begin_run(run)
    store.begin_run(fewer)

    assert take_run(here, run.id, store) == Taken(f"{run.id}-2", Deed.NEW, 1)
    assert store.load_run(run.id) == fewer


def test_a_run_that_went_on_gets_the_rounds_it_has_not(here: Store, store: Store) -> None:
    run = with_rounds(made.a_round(0), state=RunState.RUNNING)
    here.begin_run(run)
    take_run(here, run.id, store)
    here.keep_round(run.id, 0, made.a_failed_round(1))
    here.keep_round(run.id, 1, made.a_round(0))
    here.note_trouble(run.id, 1, "no room")
    here.keep_notes(run.id, [("later", "said"), ()])
    here.finish_run(run.id, RunState.DONE, 9.75)

    assert take_run(here, run.id, store) == Taken(run.id, Deed.GREW, 2)
    assert store.load_run(run.id) == here.load_run(run.id)
    assert take_run(here, run.id, store) == Taken(run.id, Deed.THERE, 0)


def test_an_earlier_state_of_a_run_changes_nothing(here: Store, store: Store) -> None:
    early = with_rounds(made.a_round(0), state=RunState.STOPPED)
    late = with_rounds(made.a_round(0), made.a_round(1))
    here.begin_run(early)
    store.begin_run(late)

    assert take_run(here, early.id, store) == Taken(early.id, Deed.THERE, 0)
    assert store.load_run(late.id) == late


@pytest.mark.parametrize("elsewhere", [0, 1], ids=["other rounds", "rounds of other cells"])
def test_a_run_that_went_on_in_both_stores_is_refused(here: Store, store: Store, elsewhere: int) -> None:
    for opened, cell, ordinal in ((here, 0, 1), (store, elsewhere, 2)):
        opened.begin_run(with_rounds(made.a_round(0)))
        opened.keep_round("2026-11-21-3f9a", cell, made.a_round(ordinal))
    before = store.load_run()

    with pytest.raises(WorldError, match="run 2026-11-21-3f9a went on in two stores"):
        take_run(here, "2026-11-21-3f9a", store)
    assert store.load_run() == before


def test_what_cannot_be_taken_whole_is_not_taken(here: Store, tmp_path: Path) -> None:
    here.begin_run(with_rounds(made.a_round(0)))
    with open_store(tmp_path / "there.db") as there:
        with sqlite3.connect(tmp_path / "there.db") as connection:
            connection.execute("DROP TABLE steps")
        connection.close()
        with pytest.raises(WorldError, match="no such table: steps"):
            take_run(here, "2026-11-21-3f9a", there)
        assert there.run_ids() == []
