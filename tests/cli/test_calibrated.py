"""Pairs per round by what this host's calibration found."""

import dataclasses
from pathlib import Path

import pytest

from pgverdict.cli.calibrated import with_calibrated_pairs
from pgverdict.judge.calibration import calibration
from pgverdict.judge.levels import usable_pairs
from pgverdict.observe.host import host_facts
from pgverdict.records.run import RunRecord, RunState
from pgverdict.spec.arms import make_arms
from pgverdict.spec.cache import Cache
from pgverdict.spec.campaign import Campaign, CellSpec
from pgverdict.store.opening import open_store
from pgverdict.store.runs import Store
from tests.judge.calibrated import a_calibration


@pytest.fixture(scope="module")
def calibrated() -> RunRecord:
    return dataclasses.replace(a_calibration(40), host=host_facts())


@pytest.fixture
def store(tmp_path: Path, calibrated: RunRecord) -> Store:
    opened = open_store(tmp_path / "runs.sqlite")
    (cell,) = calibrated.cells
    bare = dataclasses.replace(calibrated, cells=(dataclasses.replace(cell, rounds=()),))
    opened.begin_run(dataclasses.replace(bare, state=RunState.RUNNING, seconds=0.0))
    for record in cell.rounds:
        opened.keep_round(calibrated.id, 0, record)
    return opened


def a_campaign(*cells: CellSpec, servers: tuple[str, ...] = ("17", "18")) -> Campaign:
    return Campaign(make_arms(servers, ()), cells)


def test_a_comparison_like_the_calibrated_one_has_the_best_number_of_pairs(
    store: Store, calibrated: RunRecord
) -> None:
    best = calibration(calibrated).best_pairs
    assert best is not None

    planned = with_calibrated_pairs(a_campaign(calibrated.cells[0].spec), store)

    assert planned.campaign.cells[0].pairs == usable_pairs(best)
    (note,) = planned.notes
    assert note.startswith(f"{usable_pairs(best)} pairs per round, as calibrated on ")


def test_other_work_and_what_was_chosen_stay_as_they_are(store: Store, calibrated: RunRecord) -> None:
    like = calibrated.cells[0].spec
    for campaign in (
        a_campaign(dataclasses.replace(like, pairs=9)),
        a_campaign(dataclasses.replace(like, clients=8)),
        a_campaign(like, CellSpec("simple-update", like.scale, 1)),
        a_campaign(like, servers=("16", "17", "18")),
        a_campaign(dataclasses.replace(like, cache=Cache.COLD)),
        dataclasses.replace(a_campaign(like), memory_bytes=256 << 20),
    ):
        planned = with_calibrated_pairs(campaign, store)
        assert (planned.campaign, planned.notes) == (campaign, ())


def test_without_a_calibration_nothing_changes(tmp_path: Path, calibrated: RunRecord) -> None:
    with open_store(tmp_path / "empty.sqlite") as store:
        campaign = a_campaign(calibrated.cells[0].spec)
        assert with_calibrated_pairs(campaign, store).campaign == campaign
