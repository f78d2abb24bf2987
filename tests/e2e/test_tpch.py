"""Rounds of streams, really run."""

from pathlib import Path
from typing import Any

import pytest

from pgverdict.judge.plans import query_plans
from pgverdict.records.run import RunRecord
from pgverdict.store.opening import open_store
from pgverdict.workloads.tpch import QUERIES
from tests.e2e import cli

pytestmark = pytest.mark.slow

TPCH = (
    "--workload",
    "tpch",
    "--scale",
    "1",
    "--parameter",
    "scale_factor=0.01",
    "--rounds",
    "2",
    "--seed",
    "3",
)
NAMES = [f"q{number:02}" for number in QUERIES]


def compared(
    *more: str, home: Path, store: str, arms: tuple[str, str] = ("12", "18")
) -> tuple[dict[str, Any], RunRecord]:
    report = cli.report_of("compare", *arms, *TPCH, *more, "--store", store, home=home)
    with open_store(store) as kept:
        return report, kept.load_run()


def test_a_round_is_one_stream_of_whole_queries_on_all_arms(home: Path, store: str) -> None:
    report, run = compared(home=home, store=store)

    (cell,) = report["cells"]
    assert (cell["primary"], cell["regime"], cell["rounds"], cell["pairs"]) == (
        "latency_us_geomean", "read-only", 2, 44,
    )  # fmt: skip
    by_metric: dict[str, list[str]] = {}
    for verdict in cell["verdicts"]:
        by_metric.setdefault(verdict["metric"], []).append(verdict["subject"])
    assert by_metric["latency_us_geomean"] == ["cell"]
    assert by_metric["kind_us_p50"] == NAMES
    assert len(by_metric["server_ms_mean"]) == 22
    assert any("plan" in note for note in cell["notes"])

    first, second = run.cells[0].measured
    for record in (first, second):
        asked = [[(task.script, task.variables) for task in arm.tasks] for arm in record.arms]
        assert asked[0] == asked[1]
        assert sorted(script for script, _ in asked[0]) == NAMES
        assert all(arm.transactions == 22 for arm in record.arms)
        assert all(s.transactions == 1 for s in record.slices)
        assert all("Scan" in task.plan for arm in record.arms for task in arm.tasks)
    assert [t.script for t in first.arms[0].tasks] != [t.script for t in second.arms[0].tasks]
    answers = [[task.answer_sha256 for task in arm.tasks] for arm in first.arms]
    assert answers[0] == answers[1]
    assert None not in answers[0]
    assert {task.answer_sha256 for arm in second.arms for task in arm.tasks} == {None}
    assert [plans.script for plans in query_plans(run.cells[0])] == NAMES


@pytest.mark.long
def test_several_clients_run_their_streams_at_once(home: Path, store: str) -> None:
    report, run = compared("--clients", "2", home=home, store=store)

    (cell,) = report["cells"]
    assert (cell["primary"], cell["pairs"]) == ("tps", 2)
    for record in run.cells[0].measured:
        assert [arm.transactions for arm in record.arms] == [44, 44]
        streams = [[t.script for t in record.arms[0].tasks if t.client == client] for client in (0, 1)]
        assert streams[0] != streams[1]
        assert sorted(streams[0]) == sorted(streams[1]) == NAMES
        assert {kind.name: kind.count for kind in record.arms[0].kinds} == dict.fromkeys(NAMES, 2)


@pytest.mark.long
@pytest.mark.parametrize("clients", [1, 2])
def test_rounds_with_refresh_functions_begin_alike_on_fresh_copies(
    home: Path, store: str, clients: int
) -> None:
    """That they were done, whole, is what every round is checked for."""
    more = ("--clients", str(clients), "--parameter", "refresh_sets=2")
    # Arms of one build, and as many sets for either number of clients: all share two loads.
    report, run = compared(*more, home=home, store=store, arms=("18", "18"))

    (cell,) = report["cells"]
    assert (cell["regime"], cell["rounds"]) == ("fresh", 2)
    for record in run.cells[0].measured:
        for arm in record.arms:
            assert {kind.name: kind.count for kind in arm.kinds} == dict.fromkeys(
                (*NAMES, "rf1", "rf2"), clients
            )
            scripts = [task.script for task in arm.tasks if task.script.startswith("rf")]
            assert scripts == ["rf1", "rf2"] * clients
            assert all("Insert on" in task.plan for task in arm.tasks if task.script == "rf1")
    if clients == 1:
        tasks = run.cells[0].measured[0].arms[0].tasks
        assert [tasks[0].script, tasks[-1].script] == ["rf1", "rf2"]
        assert (tasks[0].answer_sha256, tasks[-1].answer_sha256) == (None, None)


def test_what_a_round_of_streams_cannot_have_is_refused_before_anything_is_loaded(
    home: Path, store: str
) -> None:
    for more, said in (
        (("--pairs", "3"), "as many pairs as a stream"),
        (("--cache", "cold"), "nothing is cold any more"),
    ):
        done = cli.run("compare", "12", "18", *TPCH, *more, "--store", store, home=home)
        assert done.returncode == 2
        assert said in done.stderr
        assert "hint: leave out" in done.stderr
