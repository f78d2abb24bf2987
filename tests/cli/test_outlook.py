"""What is said before a run begins whose budget does not hold eight rounds of every cell."""

import dataclasses
from pathlib import Path

import pytest

from pgverdict.cli.outlook import warn_of_budget
from pgverdict.errors import UserError
from pgverdict.observe.host import host_name
from pgverdict.spec.arms import make_arms
from pgverdict.spec.campaign import Campaign, CellSpec
from pgverdict.store.opening import open_store
from pgverdict.store.runs import Store
from tests.run.test_execute import Silence
from tests.store import made

READS = made.a_run().campaign.cells[0]


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """Rounds of one cell took ten seconds here."""
    opened = open_store(tmp_path / "runs.sqlite")
    record = dataclasses.replace(made.a_round(0), seconds=10.0)
    opened.begin_run(dataclasses.replace(made.a_run(rounds=(record,)), host=(("name", host_name()),)))
    return opened


def said(store: Store, budget_s: float, *cells: CellSpec) -> list[str]:
    notes = Silence()
    warn_of_budget(Campaign(make_arms(("17", "18")), cells, budget_s=budget_s), store, notes)
    return notes.noted


def test_a_budget_that_is_enough_needs_no_words(store: Store) -> None:
    assert said(store, 80.0, READS) == []


def test_a_budget_for_some_cells_is_told_and_the_run_begins(store: Store) -> None:
    (note,) = said(store, 300.0, READS, CellSpec("full-scan", 2000, 1))

    assert note.startswith(
        "the budget of 5 min is enough for 8 rounds of 1 of 2 cells, as far as can be guessed"
    )


def test_a_budget_for_no_cell_is_refused_where_that_is_known(store: Store) -> None:
    with pytest.raises(UserError) as caught:
        said(store, 79.0, READS)

    assert caught.value.message == "the budget of 1 min 19 s is enough for 8 rounds of no cell"
    assert caught.value.hint == "--budget 2m is enough for all"
    (note,) = said(store, 5.0, CellSpec("full-scan", 2000, 1))
    assert "of no cell, as far as can be guessed" in note
