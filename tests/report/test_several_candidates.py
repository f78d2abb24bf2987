"""A run of three releases: every candidate is shown against the baseline, in every format, and the trend over all."""

import dataclasses
import json
import math
from io import StringIO

import pytest
from rich.console import Console

from pgverdict.judge.cell import judge_run
from pgverdict.judge.trend import judge_trends
from pgverdict.records.run import ArmFacts, CellRecord, RunRecord
from pgverdict.report.command import compare_command
from pgverdict.report.html import to_html
from pgverdict.report.machine import to_json
from pgverdict.report.markdown import to_markdown
from pgverdict.report.model import Report, make_report
from pgverdict.report.terminal import print_report
from pgverdict.spec.arms import make_arms
from tests.judge.many import plans_of, round_of_arms

from . import samples
from .test_html import Page

SLOWER_17 = "17.7 is 5.00 % slower than 16.11 on select-only (typical latency)"
SLOWER_18 = "18.1 is 10.00 % slower than 16.11 on select-only (typical latency)"
TREND = "Trend of typical latency on select-only over 16.11, 17.7 and 18.1: +4.88 % per release, 99 % interval +4."


def a_run() -> RunRecord:
    rounds = [
        round_of_arms(plan, [0.0, math.log(1.05) + noise, math.log(1.10) - noise])
        for plan, noise in zip(plans_of(3, 24), [0.001, -0.002, 0.001] * 8, strict=True)
    ]
    cell = CellRecord(samples.READ_ONLY, "latency_us_p50", "read-only", tuple(rounds), (0, 0, 1), (0, 1, 2))
    return run_of(("16", "17", "18"), cell)


def run_of(servers: tuple[str, ...], *cells: CellRecord) -> RunRecord:
    versions = {"16": "16.11", "17": "17.7", "18": "18.1"}
    arms = make_arms(servers)
    return dataclasses.replace(
        samples.a_run(),
        campaign=dataclasses.replace(samples.CAMPAIGN, arms=arms, cells=(samples.READ_ONLY,)),
        arms=tuple(
            ArmFacts(arm.name, arm.role, arm.server, versions[arm.server], (("version", arm.server),), ())
            for arm in arms
        ),
        cells=cells,
    )


@pytest.fixture
def report() -> Report:
    run = a_run()
    return make_report(run, judge_run(run), judge_trends(run))


def printed(report: Report) -> str:
    file = StringIO()
    print_report(
        report, Console(file=file, width=100, color_system=None, highlight=False, force_terminal=True)
    )
    return file.getvalue()


def test_a_cell_is_reported_once_for_each_candidate(report: Report) -> None:
    assert report.title == "17.7 and 18.1 against 16.11"
    assert [(cell.arms, cell.labels) for cell in report.cells] == [
        (("16", "17"), ("16.11", "17.7")),
        (("16", "18"), ("16.11", "18.1")),
    ]
    assert [cell.headline.split(",")[0] for cell in report.cells] == [SLOWER_17, SLOWER_18]


def test_rounds_and_conditions_are_those_of_the_candidate(report: Report) -> None:
    effects = [cell.round_effects[0].effect for cell in report.cells]
    assert effects == [pytest.approx(1.05 * math.exp(0.001)), pytest.approx(1.10 * math.exp(-0.001))]
    orders = [r.plan.start_order for r in a_run().cells[0].rounds]
    for candidate, cell in enumerate(report.cells, start=1):
        first = [order.index(0) < order.index(candidate) for order in orders]
        assert [effect.baseline_first for effect in cell.round_effects] == first
        assert {len(condition.values) for condition in cell.conditions} == {2}


def test_the_notes_say_which_luck_cancels_and_which_does_not(report: Report) -> None:
    assert [cell.notes[0] for cell in report.cells] == [
        "both arms took turns on the same 8 independent loads, so that the luck of these cancels;"
        " each arm had one install of its own: how much others would differ is in no interval",
        "each arm's data came from 8 independent loads and one install: how much others would differ is in no"
        " interval",
    ]


def test_what_is_said_of_the_whole_cell_is_shown_once() -> None:
    run = a_run()
    failed = samples.a_failed_round(run.cells[0].rounds[0].plan)
    cell = dataclasses.replace(run.cells[0], rounds=(*run.cells[0].rounds, failed))
    run = dataclasses.replace(run, cells=(cell,))
    report = make_report(run, judge_run(run))
    story = "1 round failed, in no interval"
    assert [story in " ".join(cell.notes) for cell in report.cells] == [True, True]
    for shown in (printed(report), to_markdown(report), to_html(report)):
        assert " ".join(shown.replace("\u00a0", " ").split()).count(story) == 1


def test_the_terminal_has_a_table_for_each_candidate_and_one_for_the_trend(report: Report) -> None:
    seen = printed(report)
    assert seen.index(SLOWER_17) < seen.index(SLOWER_18)
    assert "select-only, scale 10, 1 client: 17.7 against 16.11  read-only, 24 rounds" in seen
    assert "select-only, scale 10, 1 client: 18.1 against 16.11  read-only, 24 rounds" in seen
    assert TREND in " ".join(seen.split())
    assert "metric                 change per release %       interval %" in seen


def test_markdown_has_a_section_for_each_candidate_and_one_for_the_trend(report: Report) -> None:
    written = to_markdown(report)
    assert written.startswith("# 17.7 and 18.1 against 16.11\n\n- **SLOWER**: 17.7 is 5.00 %")
    headings = [line for line in written.splitlines() if line.startswith("## ")]
    assert headings[:3] == [
        "## select-only, scale 10, 1 client: 17.7 against 16.11",
        "## select-only, scale 10, 1 client: 18.1 against 16.11",
        "## Trend: select-only, scale 10, 1 client",
    ]
    assert TREND in written
    assert "|  | name | 16.11 | 17.7 | 18.1 |\n| :-- | :-- | :-- | :-- | :-- |" in written


def test_the_page_has_a_section_for_each_candidate_and_one_for_the_trend(report: Report) -> None:
    page = to_html(report)
    assert Page(page).tags[0][0] == "html"
    assert "<h1>17.7 and 18.1 <i>against</i> 16.11</h1>" in page
    assert page.count('<section id="cell-') == 2
    assert page.count("<title>latency_us_p50: ") == 2
    words = " ".join(Page(page.replace("\u00a0", " ")).words)
    assert words.index(SLOWER_17) < words.index(SLOWER_18) < words.index(TREND)
    assert "Each round starts all servers afresh" in words


def test_json_says_who_is_compared_with_whom_and_the_trend_in_numbers(report: Report) -> None:
    document = json.loads(to_json(report))
    assert [(cell["baseline"], cell["candidate"]) for cell in document["cells"]] == [
        ("16", "17"),
        ("16", "18"),
    ]
    (trend,) = document["trends"]
    assert trend["arms"] == ["16", "17", "18"]
    first = trend["per_release"][0]
    assert first["metric"] == "latency_us_p50"
    assert first["low"] < first["effect"] < first["high"]
    assert first["effect"] == pytest.approx(math.sqrt(1.10), abs=0.001)


def test_two_releases_have_no_trend() -> None:
    run = samples.a_run()
    assert make_report(run, judge_run(run), judge_trends(run)).trends == ()


def test_a_trend_before_there_are_rounds_enough_says_so() -> None:
    run = a_run()
    cell = dataclasses.replace(run.cells[0], rounds=run.cells[0].rounds[:2])
    run = dataclasses.replace(run, cells=(cell,))
    report = make_report(run, judge_run(run), judge_trends(run))
    assert report.trends[0].sentence.endswith("over 16.11, 17.7 and 18.1: too little to go by after 2 rounds")
    assert "too little to go by" in to_html(report)


def test_the_command_addresses_all_candidates_or_one_by_the_name_it_will_have() -> None:
    run = a_run()
    settings = (
        (None, "jit", "off"), ("baseline", "work_mem", "1MB"), ("candidate", "work_mem", "4MB"),
        ("18", "io_method", "sync"),
    )  # fmt: skip
    campaign = dataclasses.replace(run.campaign, arms=make_arms(("16", "17", "18"), settings))
    assert compare_command(dataclasses.replace(run, campaign=campaign)) == (
        "pgverdict compare 16.11 17.7 18.1 --workload select-only --scale 10 --clients 1 --set jit=off"
        " --set baseline:work_mem=1MB --set candidate:work_mem=4MB --set 18.1:io_method=sync"
        " --budget 5m --seed 20261121"
    )
