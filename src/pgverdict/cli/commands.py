"""The commands, put together. Importing this takes a while; `app` does it when it can be interrupted."""

from typing import Annotated

import typer

import pgverdict
from pgverdict.cli import (
    cache,
    calibrate,
    compare,
    doctor,
    export,
    listing,
    logs,
    pgbench,
    report,
    run,
    schema,
)

app = typer.Typer(
    name="pgverdict",
    help="Is this PostgreSQL slower than that one, by how much, how surely?",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
app.command("compare")(compare.compare)
app.command("run")(run.run)
app.command("schema")(schema.schema)
app.command("calibrate")(calibrate.calibrate)
app.command("report")(report.report)
app.command("logs")(logs.logs)
app.command("export")(export.export)
app.command("import")(export.import_)
app.command("cache")(cache.cache)
app.command("doctor")(doctor.doctor)
app.add_typer(listing.app, name="list")
app.command("pgbench", context_settings=pgbench.PASSED_ON)(pgbench.pgbench)


def _show_version(wanted: bool) -> None:
    if wanted:
        print(f"pgverdict {pgverdict.__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool,
        typer.Option("--version", help="Print the version and exit.", callback=_show_version, is_eager=True),
    ] = False,
) -> None:
    """Is this PostgreSQL slower than that one, by how much, how surely?"""
