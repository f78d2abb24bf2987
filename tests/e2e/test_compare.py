"""The main job on real servers."""

import contextlib
import json
import os
import re
import resource
import time
from pathlib import Path
from typing import Any

import pytest

from pgverdict.engine.process import EPOLL, IO_URING, Engine
from pgverdict.plan.rounds import PAIRS, PAIRS_FRESH
from pgverdict.records.host import Level
from pgverdict.servers.cgroups import obstacle
from pgverdict.store.opening import open_store
from pgverdict.workloads.workload import Script
from tests.e2e import cli

pytestmark = pytest.mark.slow

METRICS = [
    "latency_us_mean",
    "latency_us_p50",
    "latency_us_p95",
    "latency_us_p99",
    "latency_us_stddev",
    "server_cpu_us_per_txn",
    "tps",
    "tps_p50",
]


def _verdicts(report: dict[str, Any], cell: int = 0) -> dict[tuple[str, str], dict[str, Any]]:
    return {(v["metric"], v["subject"]): v for v in report["cells"][cell]["verdicts"]}


def test_two_releases_are_compared_on_two_workloads_and_the_store_tells_the_same(
    home: Path, store: str, tmp_path: Path
) -> None:
    page = tmp_path / "report.html"
    report = cli.report_of(
        "compare", "17", "18", "--workload", "select-only", "--workload", "simple-update", "--scale", "1",
        "--rounds", "2", "--seed", "1", "--store", store, "--html", str(page), home=home,
    )  # fmt: skip

    assert report["schema"] == "pgverdict.report/1"
    assert [arm["role"] for arm in report["arms"]] == ["baseline", "candidate"]
    assert [arm["version"].split(".")[0] for arm in report["arms"]] == ["17", "18"]
    assert [(c["workload"], c["primary"], c["rounds"], c["pairs"]) for c in report["cells"]] == [
        ("select-only", "latency_us_p50", 2, 2 * PAIRS),
        ("simple-update", "latency_us_p50", 2, 2 * PAIRS_FRESH),
    ]
    # BEGIN and END are not judged: as prepared statements, releases from 14 on count them only once.
    for number, statements in ((0, 1), (1, 3)):
        verdicts = _verdicts(report, number)
        assert sorted(metric for metric, subject in verdicts if subject == "cell") == METRICS
        assert sum(metric == "server_ms_mean" for metric, _ in verdicts) == statements
        # Two rounds can tell nothing; whatever is said must be that.
        assert {v["verdict"] for v in verdicts.values()} == {"UNDECIDED"}
    assert page.read_text().startswith("<!DOCTYPE html>")

    again = cli.report_of("report", "--store", store, home=home)
    assert again == report
    assert {one["level"] for one in report["run"]["diagnoses"]} <= {level.value for level in Level}
    with open_store(store) as opened:
        for cell in opened.load_run().cells:
            for record in cell.measured:
                assert record.surroundings is not None
                assert record.surroundings.own_cpu_ns > 0
                worked_ns = sum(s.ended_at_ns - s.begun_at_ns for s in record.slices)
                assert record.surroundings.watched_ns > worked_ns


def test_a_hobbled_arm_is_found_slower_and_fail_on_says_so(home: Path, store: str, tmp_path: Path) -> None:
    out = tmp_path / "report.json"
    done = cli.run(
        "compare", "17", "17", "--scale", "1", "--set", "candidate:shared_buffers=1MB", "--budget", "2m",
        "--store", store, "--json", str(out), "--fail-on", "slower", home=home,
    )  # fmt: skip

    assert done.returncode == 3, done.stderr
    verdict = _verdicts(json.loads(out.read_text()))["latency_us_p50", "cell"]
    assert verdict["verdict"] == "SLOWER"
    assert (verdict["baseline"], verdict["candidate"]) == ("17", "17#2")
    assert 1 < verdict["low"] < verdict["effect"] < verdict["high"]


def test_the_oldest_release_is_compared_with_the_newest(home: Path, store: str) -> None:
    report = cli.report_of(
        "compare", "9.6", "18", "--workload", "select-only", "--workload", "simple-update", "--scale", "1",
        "--rounds", "2", "--store", store, home=home,
    )  # fmt: skip

    assert [cell["rounds"] for cell in report["cells"]] == [2, 2]
    assert ("server_ms_mean", "SELECT abalance FROM pgbench_accounts WHERE aid = :aid") in _verdicts(report)


def test_every_client_of_many_works_beside_its_server_process(home: Path, store: str) -> None:
    report = cli.report_of(
        "compare", "17", "17", "--scale", "1", "--clients", "5", "--rounds", "2", "--store", store, home=home
    )

    (verdict,) = (v for v in report["cells"][0]["verdicts"] if v["metric"] == "tps")
    assert verdict["baseline_value"] > 0


@pytest.mark.parametrize(("freeze", "event_loop"), [("signal", IO_URING), ("cgroup", EPOLL)])
def test_the_idle_arm_is_frozen_and_the_report_says_how_and_by_what_the_engine_waited(
    home: Path, store: str, freeze: str, event_loop: str
) -> None:
    if freeze == "cgroup" and obstacle(1) is not None and obstacle(2) is not None:
        pytest.skip("no cgroups that can freeze")
    report = cli.report_of(
        "compare", "17", "17", "--workload", "simple-update", "--scale", "1", "--rounds", "2",
        "--freeze", freeze, "--event-loop", event_loop, "--store", store, home=home,
    )  # fmt: skip

    (cell,) = report["cells"]
    assert cell["rounds"] == 2
    assert cell["placement"]["freeze"].startswith(freeze)
    with Engine.start(Path(cli.environment(home)["PGVERDICT_ENGINE"])) as engine:
        # Where the kernel does not allow io_uring it is epoll.
        one = Script("one", "SELECT 1", 1)
        had = engine.setup(
            clients=1, threads=1, cpus=None, scripts=[one], variables={}, event_loop=event_loop
        )
    assert cell["placement"]["event_loop"] == had.event_loop
    assert "data_locked" not in cell["placement"], "it is in shared buffers"
    for name in ("freeze_ns_median", "freeze_ns_max", "thaw_ns_median", "thaw_ns_max"):
        assert int(cell["placement"][name]) > 0
    assert f"--freeze {freeze}" in report["run"]["command"]
    assert cli.report_of("report", "--store", store, home=home) == report


@pytest.mark.parametrize("placement", ["pinned", "free"])
def test_backends_run_on_one_core_or_on_any_and_the_report_says_which(
    home: Path, store: str, placement: str
) -> None:
    process = cli.start(
        "compare",
        "17",
        "17",
        "--scale",
        "1",
        "--rounds",
        "2",
        "--placement",
        placement,
        "--store",
        store,
        home=home,
    )
    seen = set()
    while process.poll() is None:
        for pid in cli.servers_below(home):
            with contextlib.suppress(ProcessLookupError):
                seen.add(frozenset(os.sched_getaffinity(pid)))
        time.sleep(0.02)
    assert process.returncode == 0, process.communicate()[1]
    process.communicate()
    report = cli.report_of("report", "--store", store, home=home)

    everywhere = frozenset(os.sched_getaffinity(0))
    assert seen == ({everywhere} if placement == "free" else {everywhere, frozenset({min(everywhere)})})
    (cell,) = report["cells"]
    assert report["campaign"]["placement"] == cell["placement"]["placement"] == placement
    assert any("placement free" in note for note in cell["notes"]) == (placement == "free")


def test_a_run_is_listed_with_its_arms_and_rounds(home: Path, store: str) -> None:
    cli.report_of("compare", "17", "17", "--scale", "1", "--rounds", "2", "--store", store, home=home)

    listed = cli.run("list", "runs", "--store", store, home=home).stdout

    assert re.search(
        r"done +17 \(17\.\d+\) against 17#2 \(17\.\d+\)  select-only scale=1 clients=1: 2 rounds", listed
    )


def test_data_in_the_page_cache_is_locked_there_while_a_round_lasts(home: Path, store: str) -> None:
    # Some 30 MB of data; where it may not be locked (RLIMIT_MEMLOCK) the record says so.
    words = ("compare", "17", "17", "--scale", "2", "--set", "shared_buffers=8MB", "--rounds", "2")
    report = cli.report_of(*words, "--store", store, home=home)

    (cell,) = report["cells"]
    may = os.geteuid() == 0 or resource.getrlimit(resource.RLIMIT_MEMLOCK)[0] > 200 << 20
    assert cell["placement"]["data_locked"] == ("yes" if may else "no")
    assert cell["failed_rounds"] == 0
