"""`pgverdict report [RUN]`: show a run of the store again, without measuring anything."""

from pathlib import Path
from typing import Annotated

import typer

from pgverdict.cli.options import ReportAsJson, StoreUrl
from pgverdict.errors import UserError


def report(
    run: Annotated[
        str | None,
        typer.Argument(metavar="RUN", help="A run's id, or its beginning.", show_default="the newest"),
    ] = None,
    json: ReportAsJson = None,
    html: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the HTML report here.")] = None,
    markdown: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the report as Markdown; - is standard output.")
    ] = None,
    csv: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Write what every round said as CSV, a row per metric; - is standard output."
        ),
    ] = None,
    store: StoreUrl = None,
) -> None:
    """Judge a stored run anew and show its report."""
    from pgverdict.cli.show import (
        check_outputs,
        open_existing_store,
        show,
        show_calibration,
    )  # numpy and SQLAlchemy: `--help` answers without
    from pgverdict.records.run import Purpose

    check_outputs(json, html, markdown, csv)
    with open_existing_store(store) as opened:
        record = opened.load_run(run)
        if record.purpose is Purpose.COMPARE:
            show(record, opened, json=json, html=html, markdown=markdown, csv=csv)
            return
    if html or markdown or csv:
        raise UserError(
            f"run {record.id} is a calibration, which has no page: {html or markdown or csv}",
            hint="`--json FILE`, or no option at all",
        )
    show_calibration(record, json=json)
