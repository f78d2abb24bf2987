"""Showing one run in the formats asked for."""

import sys
from pathlib import Path

from pgverdict.cli.outputs import STANDARD_OUTPUT, write_report
from pgverdict.judge.calibration import calibration
from pgverdict.judge.cell import CellVerdicts, judge_run
from pgverdict.judge.summary import summarize
from pgverdict.judge.trend import judge_trends
from pgverdict.records.run import RunRecord
from pgverdict.report.beside import BesideReport
from pgverdict.report.calibration import (
    HOST_FACTS,
    calibration_json,
    calibration_line,
    calibration_screen,
)
from pgverdict.report.machine import to_json
from pgverdict.report.markdown import to_markdown
from pgverdict.report.model import Report, make_report
from pgverdict.report.table import to_csv
from pgverdict.report.terminal import print_report
from pgverdict.spec.published import Published
from pgverdict.store.runs import Store


def show_calibration(run: RunRecord, *, json: Path | None) -> None:
    """Work out what a calibration says, and print it unless standard output is taken by JSON."""
    found = calibration(run)
    if json != STANDARD_OUTPUT:
        sys.stdout.write(calibration_screen(found, run))
    if json is not None:
        write_report(json, calibration_json(found, run))


def _calibrated(run: RunRecord, store: Store) -> str | None:
    """What the newest calibration of the run's host says; None if there is none."""
    found = store.newest_calibration(dict(run.host), HOST_FACTS)
    return None if found is None else calibration_line(calibration(found), found)


def show(
    run: RunRecord,
    store: Store,
    *,
    json: Path | None,
    html: Path | None,
    markdown: Path | None,
    csv: Path | None = None,
    published: Published | None = None,
) -> Report:
    """Judge the run, print its report unless standard output is taken by a format, write what was asked for.

    `store` is where the run was, and where calibrations of its host may be. `published`: what it is shown beside.
    """
    verdicts = judge_run(run)
    report = make_report(
        run,
        verdicts,
        judge_trends(run),
        summarize(run),
        calibrated=_calibrated(run, store),
        beside=None if published is None else _beside(run, verdicts, published),
    )
    if STANDARD_OUTPUT not in (json, html, markdown, csv):
        print_report(report)
    if json is not None:
        write_report(json, to_json(report))
    if html is not None:
        from pgverdict.report.html import to_html  # Jinja: a report on the screen does without

        write_report(html, to_html(report))
    if markdown is not None:
        write_report(markdown, to_markdown(report))
    if csv is not None:
        write_report(csv, to_csv(run))
    if html is not None and html != STANDARD_OUTPUT:
        print(f"report: {html}", file=sys.stderr)
    return report


def _beside(run: RunRecord, verdicts: tuple[CellVerdicts, ...], published: Published) -> BesideReport:
    from pgverdict.report.matching import beside  # campaign files and datasets: most reports do without

    return beside(run, verdicts, published)
