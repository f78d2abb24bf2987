"""Campaigns from a file, on real servers: a matrix measured, killed at any moment, and gone on with."""

import contextlib
import json
import random
import sqlite3
import subprocess
from pathlib import Path

import pytest

from pgverdict.plan.rounds import arrange
from pgverdict.records.round import RoundState
from pgverdict.records.run import RunState
from pgverdict.store.opening import open_store
from tests.campaign_page import OWN_WORK, write_sql_files
from tests.e2e import cli

MATRIX = """
arms = ["17", "again=17"]
rounds = 2
seed = 11
budget = "2h"

[[workload]]
name = ["select-only", "simple-update"]
scale = 1
pairs = 4
settings = { shared_buffers = ["16MB", "64MB"] }
"""


def _file(directory: Path, text: str) -> str:
    path = directory / "matrix.toml"
    path.write_text(text)
    return str(path)


def _rounds(store: str) -> int:
    if not Path(store).exists():
        return 0
    with (
        contextlib.closing(sqlite3.connect(store)) as connection,
        contextlib.suppress(sqlite3.OperationalError),
    ):
        return int(connection.execute("SELECT count(*) FROM rounds").fetchone()[0])
    return 0


OTHERS = "another run is measuring on this host"
"""Tests of another checkout, say; they are waited for."""


def _wait_for_a_round(process: "subprocess.Popen[str]", store: str, kept: int) -> None:
    cli.until(
        lambda: process.poll() is not None or _rounds(store) > kept, seconds=300, what="a round that is kept"
    )


def _to_the_end(file: str, store: str, home: Path) -> "subprocess.CompletedProcess[str] | None":
    done = cli.run("run", file, "--resume", "--store", store, home=home)
    return None if OTHERS in done.stderr else done


@pytest.mark.slow
def test_a_matrix_runs_from_a_file_and_a_cell_that_cannot_does_not_stop_the_others(
    home: Path, tmp_path: Path, store: str
) -> None:
    text = """
arms = ["17", "again=17"]
rounds = 2
[[workload]]
name = "select-only"
scale = 1
settings = { work_mem = ["4MB", "lots"] }
"""
    done = cli.run(
        "run", _file(tmp_path, text), "--store", store, "--json", str(tmp_path / "report.json"), home=home
    )

    assert done.returncode == 1
    assert "could not prepare select-only scale=1 clients=1 work_mem=lots" in done.stderr
    assert "work_mem" in done.stdout
    good, bad = json.loads((tmp_path / "report.json").read_text())["cells"]
    assert (good["rounds"], bad["rounds"]) == (2, 0)
    assert any("could not be prepared" in note for note in bad["notes"])


@pytest.mark.slow
def test_the_example_of_own_work_runs_as_the_page_shows_it(home: Path, tmp_path: Path, store: str) -> None:
    write_sql_files(tmp_path)
    file = _file(tmp_path, f"rounds = 2\n{OWN_WORK}")
    done = cli.run("run", file, "--store", store, home=home)

    assert done.returncode == 0, done.stderr
    with open_store(store) as opened:
        run = opened.load_run()
    assert [cell.spec.workload for cell in run.cells] == ["buy+look", "buy+look", "top", "top"]
    assert [len(cell.measured) for cell in run.cells] == [2, 2, 2, 2]
    assert [dict(cell.spec.parameters).get("partitions", 0) for cell in run.cells] == [0, 0, 0, 4]
    own = run.cells[0].spec.own
    assert own is not None
    assert [script.path for script in own.scripts] == [
        str(tmp_path / name) for name in ("shop/buy.sql", "shop/look.sql")
    ]


def test_a_dry_run_lists_the_cells_and_starts_nothing(home: Path, tmp_path: Path, store: str) -> None:
    done = cli.run("run", _file(tmp_path, MATRIX), "--dry-run", "--store", store, home=home)

    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("again against 17: 4 cells, seed 11\n")
    assert "simple-update scale=1 clients=1 shared_buffers=64MB" in done.stdout
    for word in ("time:", "disk:", "memory:"):
        assert word in done.stdout
    assert not Path(store).exists()


ROUNDS = 12


@pytest.mark.long
@pytest.mark.timeout(1500)
def test_a_run_that_is_killed_at_ten_random_moments_ends_with_the_same_cells_and_loses_nothing(
    home: Path, tmp_path: Path, store: str
) -> None:
    # So long that it cannot end between two kills.
    file, chance = _file(tmp_path, MATRIX.replace("rounds = 2", f"rounds = {ROUNDS}")), random.Random(5)
    kept = kills = 0
    while kills < 10:
        process = cli.start("run", file, "--resume", "--store", store, home=home)
        # Moments of all kinds: while data is loaded or copied, servers started, rounds measured or kept.
        with contextlib.suppress(subprocess.TimeoutExpired):
            if kills % 2:
                _wait_for_a_round(process, store, kept)
            process.wait(timeout=chance.uniform(0, 12))
        if process.poll() is not None:
            if OTHERS in process.communicate()[1]:
                continue
            break
        process.kill()
        process.communicate()
        kills += 1
        cli.until(
            lambda: not cli.servers_below(home) and not cli.engines(home),
            seconds=3,
            what="no server and no engine",
        )
        assert _rounds(store) >= kept, "a round that was kept is gone"
        kept = _rounds(store)
    done = cli.until(lambda: _to_the_end(file, store, home), seconds=900, what="a host for ourselves")

    assert done.returncode == 0, done.stderr
    assert kills == 10
    assert not cli.servers_below(home)
    assert not cli.engines(home)
    with open_store(store) as opened:
        run = opened.load_run()
        assert [summary.id for summary in opened.list_runs()] == [run.id]
    assert run.state is RunState.DONE
    assert run.campaign.seed == 11
    assert len(run.cells) == 4
    for cell in run.cells:
        assert [record.plan.ordinal for record in cell.measured] == list(range(ROUNDS))
        for record in cell.measured:
            planned = arrange(cell.spec.key, seed=11, ordinal=record.plan.ordinal)
            assert (record.plan.start_order, record.plan.slots) == (planned.start_order, planned.slots)
        assert all(record.state is RoundState.MEASURED or record.story for record in cell.rounds)
