"""A run beside published numbers, in every format."""

import dataclasses
import json
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from pgverdict.judge.cell import judge_run
from pgverdict.judge.published import Agreement
from pgverdict.plan.matrix import HostSize, campaign_of
from pgverdict.records.run import RunRecord
from pgverdict.report import matching
from pgverdict.report.beside import BesideReport, BesideRow
from pgverdict.report.html import to_html
from pgverdict.report.machine import to_json
from pgverdict.report.markdown import to_markdown
from pgverdict.report.matching import is_about, where_data_lies
from pgverdict.report.model import Report, make_report
from pgverdict.report.terminal import print_report
from pgverdict.spec.campaign import CellSpec
from pgverdict.spec.document import read_document
from pgverdict.spec.published import Where
from pgverdict.spec.published_file import read_published
from pgverdict.spec.tuning import Disk

from . import samples

CAMPAIGNS = Path(__file__).parents[2] / "campaigns"

PUBLISHED = """
claims = ["nobody knows why"]
[source]
author = "A. Author"
title = "Seventeen and eighteen"
date = "2025"
address = "https://example.org/17-18"
[arms]
baseline = "17.7"
candidate = "18.1"
[conditions]
compiler = "clang"
shared_buffers = "512MB"
"""

SELECTS = """
[[figure]]
name = "reads"
workload = "select-only"
data = "in shared buffers"
statement = "SELECT abalance"
metric = "server_ms_mean"
baseline = "0.0050"
candidate = "0.0052"
"""


def beside(more: str, run: RunRecord | None = None) -> BesideReport:
    found = report(more, run).beside
    assert found is not None
    return found


def report(more: str, run: RunRecord | None = None) -> Report:
    run = run or samples.a_run()
    made = matching.beside(run, samples.VERDICTS, read_published("p.toml", PUBLISHED + more))
    return make_report(run, samples.VERDICTS, beside=made)


def row(more: str) -> BesideRow:
    (found,) = (row for table in beside(more).tables for row in table.rows)
    return found


def test_a_figure_is_found_in_its_cell_and_statement() -> None:
    found = row(SELECTS)

    assert found.published == ("0.0050", "0.0052")
    assert found.ours == (0.005120, 0.005284)
    assert (found.effect, found.low, found.high) == (1.0320, 1.0208, 1.0434)
    assert found.verdict == "SLOWER"
    assert found.agreement is Agreement.AGREES


def test_a_cell_whose_builds_or_settings_are_others_deviates() -> None:
    assert row(SELECTS).deviates == (
        "compiler: gcc (Debian 4.9.2-10+deb8u2) 4.9.2, not clang",
        "compiler: gcc (Ubuntu 7.5.0-3ubuntu1~18.04) 7.5.0, not clang",
    )
    assert row(SELECTS).said == "agrees; deviates"


@pytest.mark.parametrize(
    "change",
    [
        ('"in shared buffers"', '"beyond memory"'),
        ('"select-only"', '"tpcb-like"'),
        ('"SELECT abalance"', '"DELETE"'),
        ("[[figure]]", "[[figure]]\nclients = 8"),
        ("[[figure]]", "[[figure]]\nparameters = { partitions = 16 }"),
        ("[[figure]]", '[[figure]]\nagainst = "19"'),
    ],
)
def test_a_figure_no_cell_is_about_was_not_run(change: tuple[str, str]) -> None:
    found = row(SELECTS.replace(*change))

    assert found.agreement is Agreement.NOT_RUN
    assert found.cell is None


def test_the_mean_over_cells_has_an_interval_of_its_own_and_no_verdict() -> None:
    run = samples.a_run()
    text = PUBLISHED + '[[figure]]\nname = "all"\nmetric = "latency_us_mean"\nchange = "+1 %"\nmean = true\n'

    made = matching.beside(run, judge_run(run), read_published("p.toml", text))

    found = made.tables[0].rows[0]
    assert found.cell == "mean over 2 cells"
    assert found.verdict == ""
    # The rounds are drawn around + 2.1 % and + 0.8 %.
    assert 1.0 < found.low < found.effect < found.high < 1.025
    assert found.effect == pytest.approx((1.0209 / 0.9925) ** 0.5, rel=0.002)


def test_a_mean_over_a_cell_is_that_cell() -> None:
    assert row(SELECTS + "mean = true\n").verdict == "SLOWER"


@pytest.mark.parametrize(
    ("scale", "memory", "host", "where"),
    [
        (10, None, None, Where.BUFFERS),
        (100, None, None, Where.MEMORY),
        (100, 1 << 30, 1 << 34, Where.BEYOND),
        (100, 2 << 30, 1 << 34, Where.MEMORY),
        (100, None, 1 << 30, Where.BEYOND),
        (100, None, 1 << 34, Where.MEMORY),
    ],
)
def test_where_data_lies_follows_from_sizes(
    scale: int, memory: int | None, host: int | None, where: Where
) -> None:
    run = samples.a_run()
    campaign = dataclasses.replace(run.campaign, memory_bytes=memory)
    facts = () if host is None else (("memory_bytes", str(host)),)

    found = where_data_lies(
        CellSpec("select-only", scale, 1), dataclasses.replace(run, campaign=campaign, host=facts)
    )

    assert found is where


@pytest.mark.parametrize("small", [False, True])
@pytest.mark.parametrize("study", ["insert-benchmark", "standard-workloads", "v11-v12", "v15-v16"])
def test_figures_of_a_study_are_about_cells_of_its_campaign(study: str, small: bool) -> None:
    document = read_document(study, (CAMPAIGNS / f"{study}.toml").read_text())
    campaign = campaign_of(document, HostSize(32 << 30, 8, Disk.SSD), seed=1, small=small)
    run = dataclasses.replace(samples.a_run(), campaign=campaign, host=(("memory_bytes", str(32 << 30)),))
    published = read_published(study, (CAMPAIGNS / "published" / f"{study}.toml").read_text())

    missing = [
        one.name for one in published.figures if not any(is_about(one, c, run) for c in campaign.cells)
    ]

    # Small, the Insert Benchmark has nothing larger than the memory of a host.
    assert [name for name in missing if not (small and name.startswith("IO-bound"))] == []


def test_every_format_shows_theirs_and_ours() -> None:
    shown = report(SELECTS)
    screen = StringIO()
    print_report(shown, Console(file=screen, width=200))

    for text in (screen.getvalue(), to_markdown(shown), to_html(shown)):
        assert "Seventeen and eighteen" in text
        assert "https://example.org/17-18" in text
        assert "0.0052" in text
        assert "agrees; deviates" in text
        assert "nobody knows why" in text


def test_json_has_the_numbers_and_no_word_for_what_is_not_known() -> None:
    told = json.loads(to_json(report(SELECTS)))["beside"]
    assert told["tables"][0]["rows"][0]["agreement"] == "agrees"
    assert told["tables"][0]["rows"][0]["published_ratio"] == 1.04

    told = json.loads(to_json(report(SELECTS.replace('"select-only"', '"tpcb-like"'))))["beside"]
    assert told["tables"][0]["rows"][0]["effect"] is None


def test_a_report_alone_has_nothing_beside_it() -> None:
    assert json.loads(to_json(samples.a_report()))["beside"] is None
    assert samples.a_report().sections == ()


def test_numbers_of_the_same_kind_stand_in_one_table_and_are_counted() -> None:
    made = beside(SELECTS + SELECTS.replace('"0.0052"', '"0.0070"') + SELECTS.replace("_mean", "_stddev"))

    assert [(table.metric, len(table.rows)) for table in made.tables] == [
        ("server_ms_mean", 2),
        ("server_ms_stddev", 1),
    ]
    assert made.sentence.startswith("Of 3 comparisons with published figures, agrees: 1")


def test_another_minor_release_stands_for_the_sources_and_deviates() -> None:
    run = samples.a_run()
    text = PUBLISHED.replace('"17.7"', '"17.0"').replace('"18.1"', '"18.0"') + SELECTS

    made = matching.beside(run, samples.VERDICTS, read_published("p.toml", text))

    assert made.tables[0].rows[0].deviates[:2] == ("17.7 in place of 17.0", "18.1 in place of 18.0")


def test_jit_without_llvm_is_told_in_its_cell() -> None:
    run = samples.a_run()
    arms = tuple(dataclasses.replace(arm, build=(*arm.build, ("llvm", "no"))) for arm in run.arms)
    asked = tuple(
        dataclasses.replace(arm, settings=(*arm.settings, ("jit", "on"))) for arm in run.campaign.arms
    )
    changed = dataclasses.replace(run, arms=arms, campaign=dataclasses.replace(run.campaign, arms=asked))

    notes = make_report(changed, samples.VERDICTS).cells[0].notes

    assert "deviates: jit = on does nothing on 17.7 and 18.1, built without llvm" in notes
    assert not any("deviates" in note for note in samples.a_report().cells[0].notes)
