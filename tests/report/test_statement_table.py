"""Statements of a campaign in one table, with what was published beside them."""

import dataclasses

from pgverdict.report.beside import BesideReport
from pgverdict.report.html import to_html
from pgverdict.report.markdown import to_markdown
from pgverdict.report.model import make_report
from pgverdict.report.section import Grid
from pgverdict.report.statement_table import JudgedCell, statements_section
from pgverdict.spec.campaign import Written

from . import samples
from .test_beside import SELECTS, beside
from .test_beside import report as beside_report

LABELS = ("17.7", "18.1")
READS = JudgedCell(samples.READ_ONLY, LABELS, samples.READ_ONLY_VERDICTS)
UPDATES = JudgedCell(samples.FRESH, LABELS, samples.FRESH_VERDICTS)


def grid(published: BesideReport | None = None, cells: tuple[JudgedCell, ...] = (READS, UPDATES)) -> Grid:
    section = statements_section(cells, published)
    assert section is not None
    return section.grids[0]


def test_mean_and_spread_of_a_statement_stand_in_one_row_with_intervals_and_verdicts() -> None:
    found = grid()

    assert found.header == (
        "cell", "statement", "mean ms, 17.7", "18.1", "change %", "spread ms, 17.7", "18.1", "change %",
    )  # fmt: skip
    assert found.rows[0] == (
        "select-only",
        "SELECT abalance FROM pgbench_accounts...",
        "0.005120",
        "0.005284",
        "+3.20 (+2.08 to +4.34) SLOWER",
        "0.002140",
        "0.002130",
        "-0.47 (-2.69 to +1.80) UNDECIDED",
    )


def test_what_has_no_verdict_or_no_interval_says_so() -> None:
    _, update, insert = grid().rows

    assert update[4:] == ("+0.73 (-0.98 to +2.47) UNDECIDED", "-", "-", "-")
    assert insert[4] == "- UNDECIDED"


def test_the_published_change_stands_beside_the_row_it_is_about() -> None:
    reads, update, _ = grid(beside(SELECTS)).rows

    assert grid(beside(SELECTS)).header[4:6] == ("change %", "there %")
    assert (reads[5], reads[9]) == ("+4", "-"), "the mean has a figure, the spread has none"
    assert (update[5], update[9]) == ("-", "-")


def test_statements_that_execute_nothing_are_left_out() -> None:
    control = dataclasses.replace(samples.READ_ONLY_VERDICTS[-2], subject="BEGIN;")
    with_control = dataclasses.replace(READS, verdicts=(*READS.verdicts, control))

    assert grid(cells=(with_control, UPDATES)) == grid()


def test_there_is_a_table_for_every_candidate_and_none_of_a_single_cell() -> None:
    other = dataclasses.replace(READS, labels=("17.7", "19"))
    section = statements_section((READS, other, UPDATES), None)

    assert section is not None
    assert [one.title for one in section.grids] == ["18.1 against 17.7", "19 against 17.7"]
    assert statements_section((READS,), None) is None
    bare = dataclasses.replace(UPDATES, verdicts=UPDATES.verdicts[:6])
    assert statements_section((READS, bare), None) is None, "only one cell has statements"


def test_reports_of_campaigns_from_files_have_the_table_in_every_format() -> None:
    run = samples.a_run()
    written = dataclasses.replace(run.campaign, written=Written("c.toml", ""))
    report = make_report(dataclasses.replace(run, campaign=written), samples.VERDICTS)

    for text in (to_markdown(report), to_html(report)):
        assert "Statement by statement" in text
        assert "+3.20 (+2.08 to +4.34) SLOWER" in text
    assert "Statement by statement" not in to_markdown(samples.a_report())
    assert [section.title for section in beside_report(SELECTS).sections][1] == "Statement by statement"
