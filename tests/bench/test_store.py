"""The store that showing runs is timed with is one of the product's, and the page says what was timed."""

import dataclasses
from pathlib import Path

from bench.store.__main__ import SERIES, page
from bench.store.filled import fill
from pgverdict.judge.cell import judge_run
from pgverdict.report.model import make_report
from pgverdict.store.glances import glance_at
from pgverdict.store.opening import open_store


def test_a_filled_store_holds_runs_that_differ_in_name_day_and_seed_alone(tmp_path: Path) -> None:
    fill(tmp_path / "runs.sqlite", SERIES, runs=3, cells=2, rounds=9)

    with open_store(tmp_path / "runs.sqlite") as store:
        newest, *_, oldest = glance_at(store)
        first, last = store.load_run(oldest.id), store.load_run(newest.id)
    assert (newest.cells, newest.measured) == (2, 18)
    assert last.started > first.started
    assert first.campaign.seed != last.campaign.seed
    assert last.cells == first.cells
    assert dataclasses.replace(last.campaign, seed=1) == first.campaign
    command = make_report(last, judge_run(last)).command
    assert command.startswith("pgverdict run made-up.toml"), "there is a command to show"
    assert all(verdicts for by_candidate in judge_run(last) for verdicts in by_candidate)


def test_medians_stand_beside_their_goals() -> None:
    document = {
        "date": "2026-11-22T05:00:00+00:00", "revision": "abc", "runs": 250, "cells_of_run": 40, "rounds_of_cell": 20,
        "store_bytes": 3_000_000_000, "goals_s": {"report": 2.0},
        "seconds": {"report": [1.5, 1.0, 9.0], "--version": [0.1]},
    }  # fmt: skip
    said = page(document)

    assert "10,000 cells of 20 rounds in 250 runs, 3.00 GB of SQLite" in said
    assert "pgverdict report       1.50 s (1.00 to 9.00), goal 2 s" in said
    assert "--version    0.10 s (0.10 to 0.10), nothing but the start of the program" in said
