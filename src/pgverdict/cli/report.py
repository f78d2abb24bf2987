"""`pgverdict report [RUN]`: show a run of the store again, without measuring anything."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pgverdict.cli.options import ReportAsJson, StoreUrl
from pgverdict.cli.outputs import check_outputs
from pgverdict.errors import UserError

if TYPE_CHECKING:
    from pgverdict.spec.published import Published


def report(
    run: Annotated[
        str | None,
        typer.Argument(metavar="RUN", help="A run's id, or its beginning.", show_default="the newest"),
    ] = None,
    other: Annotated[
        str | None,
        typer.Argument(
            metavar="OTHER",
            help="A run of the same cells on another machine: both are shown side by side, without a verdict.",
            show_default=False,
        ),
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
    beside: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Published numbers to show it beside, such as campaigns/published/v11-v12.toml.",
        ),
    ] = None,
    store: StoreUrl = None,
) -> None:
    """Judge a stored run anew and show its report."""
    from pgverdict.cli.show import show, show_calibration  # numpy: `--help` answers without
    from pgverdict.cli.stores import open_existing_store
    from pgverdict.records.run import Purpose

    if other is not None:
        if taken := next((path for path in (json, html, markdown, csv, beside) if path is not None), None):
            raise UserError(
                f"two runs are only shown side by side on the screen: {taken}", hint="name one run"
            )
        _show_machines(run, other, store)
        return
    check_outputs(json, html, markdown, csv)
    published = None if beside is None else _read_published(beside)
    with open_existing_store(store) as opened:
        record = opened.load_run(run)
        if record.purpose is Purpose.COMPARE:
            show(record, opened, json=json, html=html, markdown=markdown, csv=csv, published=published)
            return
    if html or markdown or csv or beside:
        raise UserError(
            f"run {record.id} is a calibration, which has no page: {html or markdown or csv or beside}",
            hint="`--json FILE`, or no option at all",
        )
    show_calibration(record, json=json)


def _read_published(file: Path) -> "Published":
    from pgverdict.spec.published_file import read_published  # pydantic: `--help` answers without

    try:
        text = file.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise UserError(
            f"not a text file in UTF-8: {file}", hint="campaigns/published/ has those of the studies"
        ) from None
    except OSError as error:
        raise UserError(
            f"cannot read the published numbers {file}: {error.strerror}",
            hint="campaigns/published/ has those of the studies",
        ) from None
    return read_published(str(file), text)


def _show_machines(run: str | None, other: str, store: str | None) -> None:
    from pgverdict.cli.stores import open_existing_store
    from pgverdict.report.machines import machine_screen

    with open_existing_store(store) as opened:
        print(machine_screen(opened.load_run(run), opened.load_run(other)), end="")
