"""Several processes, and processes that are killed."""

import os
import subprocess
import sys
from pathlib import Path

from pgverdict.records.run import RunState
from pgverdict.store.opening import open_store

from .made import a_round

ROOT = Path(__file__).parents[2]


def start_writing(url: str, run_id: str, rounds: int) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])}
    return subprocess.Popen(
        [sys.executable, "-m", "tests.store.writing", url, run_id, str(rounds)],
        stdout=subprocess.PIPE,
        env=environment,
        text=True,
    )


def test_a_killed_process_loses_at_most_the_round_it_was_writing(url: str) -> None:
    writer = start_writing(url, "killed", 100_000)
    assert writer.stdout is not None
    with writer:
        said = [int(writer.stdout.readline()) for _ in range(20)]
        writer.kill()
        said += [int(line) for line in writer.stdout]
    with open_store(url) as store:
        run = store.load_run("killed")
        rounds = run.cells[0].rounds
        assert run.state is RunState.RUNNING
        assert len(rounds) - len(said) in (0, 1)
        assert rounds == tuple(a_round(ordinal % 50) for ordinal in range(len(rounds)))
        store.keep_round("killed", 0, a_round(0))


def test_two_processes_make_and_fill_one_store(url: str) -> None:
    writers = [start_writing(url, run_id, 20) for run_id in ("one", "two")]
    for writer in writers:
        with writer:
            writer.communicate()
        assert writer.returncode == 0
    with open_store(url) as store:
        counted = {run.id: run.cells[0].measured for run in store.list_runs()}
    assert counted == {"one": 20, "two": 20}
