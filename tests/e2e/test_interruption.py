"""Whatever ends a run: nothing is left running, and what was measured is kept."""

import contextlib
import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from pgverdict.servers.cgroups import Cgroup, hierarchies, obstacle
from pgverdict.servers.processes import children_of
from tests.e2e import cli

pytestmark = pytest.mark.slow

COMPARE = ("compare", "17", "17", "--scale", "1", "--budget", "10m", "--rounds", "5")


@contextmanager
def _running(home: Path, store: str) -> Iterator["subprocess.Popen[str]"]:
    """A run in its second round or later, killed at the end of the block if it still lives."""
    process = cli.start(*COMPARE, "--store", store, home=home)
    try:
        cli.until(lambda: _rounds(store) or process.poll() is not None, seconds=120, what="the first round")
        cli.until(
            lambda: cli.engines(home) or process.poll() is not None, seconds=30, what="an engine at work"
        )
        assert process.poll() is None, process.communicate()[1]
        yield process
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()


def _rounds(store: str) -> int:
    """How many rounds the store holds, read as another process would while the run goes on."""
    import sqlite3

    if not Path(store).exists():
        return 0
    with (
        contextlib.closing(sqlite3.connect(store)) as connection,
        contextlib.suppress(sqlite3.OperationalError),
    ):
        return int(connection.execute("SELECT count(*) FROM rounds").fetchone()[0])
    return 0


def _nothing_left(home: Path) -> bool:
    return not cli.servers_below(home) and not cli.engines(home)


def _cgroups() -> set[Cgroup]:
    """All that carry our mark on this host."""
    return {group for tree in hierarchies() for group in tree.ours()}


def test_ctrl_c_stops_the_servers_and_keeps_the_rounds(home: Path, store: str) -> None:
    with _running(home, store) as process:
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=30)

    assert process.returncode == 130, err
    assert "interrupted" in err
    assert _nothing_left(home)
    assert cli.report_of("report", "--store", store, home=home)["cells"][0]["rounds"] >= 1
    assert " stopped " in cli.run("list", "runs", "--store", store, home=home).stdout


def test_a_termination_signal_does_the_same(home: Path, store: str) -> None:
    with _running(home, store) as process:
        process.terminate()
        _, err = process.communicate(timeout=30)

    assert process.returncode == 130, err
    assert _nothing_left(home)


@pytest.mark.parametrize("frozen", [False, True], ids=["running", "frozen"])
def test_sigkill_leaves_no_process_for_longer_than_two_seconds(home: Path, store: str, frozen: bool) -> None:
    with _running(home, store) as process:
        if frozen:
            for pid in cli.until(lambda: cli.servers_below(home), seconds=10, what="servers"):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGSTOP)
        process.kill()
        cli.until(lambda: _nothing_left(home), seconds=2, what="no server and no engine")

    assert cli.report_of("report", "--store", store, home=home)["cells"][0]["rounds"] >= 1


def test_the_run_after_a_killed_one_says_what_it_found(home: Path, store: str) -> None:
    with _running(home, store) as process:
        process.kill()
        cli.until(lambda: _nothing_left(home), seconds=2, what="no server and no engine")

    done = cli.run("compare", "17", "17", "--scale", "1", "--rounds", "2", "--store", store, home=home)

    assert done.returncode == 0, done.stderr
    assert "found the remains of run" in done.stderr
    assert "had been killed; its rounds are kept" in done.stderr
    assert " running " not in cli.run("list", "runs", "--store", store, home=home).stdout


def test_a_server_that_dies_in_a_slice_costs_a_round_and_not_the_run(home: Path, store: str) -> None:
    process = cli.start("compare", "17", "17", "--scale", "1", "--rounds", "4", "--store", store, home=home)
    cli.until(lambda: cli.engines(home) or process.poll() is not None, seconds=120, what="an engine at work")
    cli.until(lambda: _rounds(store), seconds=120, what="the first round")
    for pid in cli.until(
        lambda: cli.engines(home) and cli.servers_below(home), seconds=30, what="servers under load"
    ):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    _, err = process.communicate(timeout=120)

    assert process.returncode == 0, err
    assert "a round failed and will be repeated" in err
    (cell,) = cli.report_of("report", "--store", store, home=home)["cells"]
    assert (cell["rounds"], cell["failed_rounds"]) == (4, 1)
    assert any("`pgverdict logs" in note for note in cell["notes"])
    assert "starting PostgreSQL 17." in cli.run("logs", "--store", store, home=home).stdout


@pytest.mark.parametrize("freeze", ["signal", "cgroup"])
def test_an_engine_that_is_killed_leaves_no_server_frozen(home: Path, store: str, freeze: str) -> None:
    if freeze == "cgroup" and obstacle(1) is not None and obstacle(2) is not None:
        pytest.skip("no cgroups that can freeze")
    cgroups = _cgroups()
    process = cli.start(
        "compare",
        "17",
        "17",
        "--scale",
        "1",
        "--rounds",
        "2",
        "--freeze",
        freeze,
        "--store",
        store,
        home=home,
    )
    cli.until(lambda: _rounds(store) or process.poll() is not None, seconds=120, what="the first round")
    assert process.poll() is None, process.communicate()[1]
    (engine,) = cli.until(
        lambda: set(cli.engines(home)) & set(children_of(process.pid)), seconds=30, what="an engine at work"
    )
    os.kill(engine, signal.SIGKILL)
    _, err = process.communicate(timeout=60)

    assert process.returncode == 0, err
    assert "a round failed and will be repeated" in err
    assert not cli.servers_below(home)
    assert _cgroups() <= cgroups
    (cell,) = cli.report_of("report", "--store", store, home=home)["cells"]
    assert cell["failed_rounds"] == 1
    assert not any("blamed" in note for note in cell["notes"]), "an engine's end is no arm's fault"


def test_two_runs_at_once_would_disturb_each_other(home: Path, store: str) -> None:
    with _running(home, store) as process:
        second = cli.run("compare", "17", "17", "--scale", "1", "--store", store, home=home)

    assert second.returncode == 1
    assert f"another run is measuring on this host: process {process.pid}" in second.stderr
