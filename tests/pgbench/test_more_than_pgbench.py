"""What ours tells and pgbench does not."""

import json
from pathlib import Path

import pytest
from hdrh.histogram import HdrHistogram

from pgverdict.servers.server import Server

from .program import Program

pytestmark = pytest.mark.slow


@pytest.fixture
def ours(our_pgbench: Path, server: Server, tmp_path: Path) -> Program:
    renamed = tmp_path / "pgbench"
    renamed.symlink_to(our_pgbench)
    return Program.on(renamed, server, tmp_path)


def test_percentiles_stand_behind_pgbenchs_own_lines(ours: Program) -> None:
    plain = ours.run("-n", "-t", "20", script="select 1;\n")
    more = ours.run("-n", "-t", "20", "--percentiles", script="select 1;\n")

    assert [line.split("=")[0] for line in more.out[: len(plain.out)]] == [
        line.split("=")[0] for line in plain.out
    ]
    response, service = more.out[len(plain.out) :]
    assert response.startswith("response time (from when it was due) in milliseconds: p50 = ")
    assert service.startswith("service time (from its beginning) in milliseconds: p50 = ")


def test_the_results_can_be_read_by_programs(ours: Program) -> None:
    said = ours.run("-n", "-t", "30", "-c", "2", "-r", "--json=results", script="select 1;\n\\sleep 1 ms\n")
    results = json.loads((ours.folder / "results").read_text())

    assert said.code == 0
    assert (results["transactions"], results["clients"], results["finished"]) == (60, 2, True)
    [script] = results["scripts"]
    assert [command["count"] for command in script["commands"]] == [60, 60]
    histogram = HdrHistogram.decode(results["service_us"]["histogram"])
    assert histogram.get_total_count() == 60
    assert histogram.get_max_value() / 1000 == pytest.approx(results["service_us"]["max"], rel=0.002)
    assert results["service_us"]["p50"] > 1000


def test_every_arrival_ends_as_done_or_as_not_begun(ours: Program) -> None:
    def run(script: str) -> "dict[str, float]":
        # Connecting anew each time, so that no time is lost before the first arrival.
        ours.run("-n", "-C", "-T", "2", "-R", "200", "--random-seed=4", "--json=results", script=script)
        results: dict[str, float] = json.loads((ours.folder / "results").read_text())
        return results

    quick, slow = run("select 1;\n"), run("\\sleep 20 ms\n")

    assert slow["transactions"] < 110
    assert slow["due_and_not_begun"] > 200
    arrived = [results["transactions"] + results["due_and_not_begun"] for results in (quick, slow)]
    assert arrived[0] == pytest.approx(arrived[1], abs=40), "the schedule is the seed's"


def test_the_names_of_our_own_options_cannot_be_shortened(ours: Program) -> None:
    assert ours.run("--js", "1").code == 1
    assert "--jobs" in ours.run("--j", "0").err[0]
