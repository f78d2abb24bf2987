"""`pgverdict logs [RUN]`: what servers wrote in the rounds of a run that failed."""

from typing import Annotated

import typer

from pgverdict.cli.options import StoreUrl


def logs(
    run: Annotated[
        str | None,
        typer.Argument(metavar="RUN", help="A run's id, or its beginning.", show_default="the newest"),
    ] = None,
    store: StoreUrl = None,
) -> None:
    """Show what servers wrote in rounds that failed: the end of each log, 64 KiB at most."""
    from pgverdict.cli.stores import open_existing_store  # SQLAlchemy: `--help` answers without
    from pgverdict.report.last_words import logs_screen

    with open_existing_store(store) as opened:
        print(logs_screen(opened.load_run(run)), end="")
