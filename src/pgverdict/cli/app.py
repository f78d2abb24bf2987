"""The commands, and how errors become exit codes.

Exit codes: 0 done, 1 the world failed, 2 the input is wrong, 3 --fail-on matched, 130 interrupted.
"""

import signal
import sys
from types import FrameType
from typing import Annotated, NoReturn

import typer

import pgverdict
from pgverdict.cli import compare, listing, report
from pgverdict.errors import PgverdictError

app = typer.Typer(
    name="pgverdict",
    help="Is this PostgreSQL slower than that one, by how much, how surely?",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
app.command("compare")(compare.compare)
app.command("report")(report.report)
app.add_typer(listing.app, name="list")


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


def main() -> NoReturn:
    """Run the command line and exit."""
    # A termination signal ends a run as Ctrl-C does: servers stopped, what was measured kept.
    signal.signal(signal.SIGTERM, _interrupt)
    try:
        app(prog_name="pgverdict")
    except PgverdictError as error:
        print(f"error: {error.message}", file=sys.stderr)
        if error.hint:
            print(f"hint: {error.hint}", file=sys.stderr)
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        print("error: interrupted", file=sys.stderr)
        sys.exit(130)
    raise AssertionError("typer exits by itself")


def _interrupt(_signal: int, _frame: FrameType | None) -> NoReturn:
    raise KeyboardInterrupt
