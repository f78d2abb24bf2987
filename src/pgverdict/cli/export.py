"""`pgverdict export RUN [FILE]` and `pgverdict import FILE...`: runs, from one store to another."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pgverdict.cli.options import StoreUrl
from pgverdict.errors import UserError

if TYPE_CHECKING:
    from pgverdict.store.transfer import Taken


def export(
    run: Annotated[str, typer.Argument(metavar="RUN", help="A run's id, or its beginning.")],
    file: Annotated[
        Path | None,
        typer.Argument(
            metavar="FILE",
            help="The file to write, which must not be there yet.",
            show_default="RUN.sqlite here, unless a folder is asked for",
        ),
    ] = None,
    csv: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write a folder of CSV files, a table each.")
    ] = None,
    parquet: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Write a folder of Parquet files, a table each; needs pyarrow."),
    ] = None,
    store: StoreUrl = None,
) -> None:
    """Write a run of the store to a file that others can import: docs/stores.md.

    All of it is in there: what was asked for, the builds, the host, and everything that was counted in every round.
    """
    from pgverdict.cli.stores import open_existing_store  # SQLAlchemy: `--help` answers without
    from pgverdict.store.exported import export_run
    from pgverdict.store.folder import write_csv, write_parquet

    with open_existing_store(store) as opened:
        run_id = opened.run_id(run)
        if file is not None or (csv is None and parquet is None):
            place = (file or Path(f"{run_id}.sqlite")).absolute()
            export_run(opened, run_id, place)
            print(place)
        if csv is not None:
            write_csv(opened, run_id, csv)
        if parquet is not None:
            write_parquet(opened, run_id, parquet)


def import_(
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE", help="Files of `pgverdict export`, or whole stores.")
    ],
    store: StoreUrl = None,
) -> None:
    """Take all runs of files into the store.

    A run that is there already is left alone, or gets the rounds that it has not. Files stay as they are; those of
    an earlier version can be read, those of a later one not.
    """
    from pgverdict.cli.stores import open_user_store  # as above
    from pgverdict.servers.account import server_account
    from pgverdict.servers.home import Home
    from pgverdict.store.exported import open_exported
    from pgverdict.store.transfer import take_run

    home = Home.find()
    if store is None:
        home.ensure(server_account())
    with open_user_store(store, home) as target:
        for file in files:
            with open_exported(file) as source:
                ids = source.run_ids()
                if not ids:
                    raise UserError(f"no run in {file}", hint="`pgverdict export RUN` writes a file with one")
                for run_id in ids:
                    print(_told(run_id, take_run(source, run_id, target)))


def _told(run_id: str, taken: "Taken") -> str:
    from pgverdict.report.words import count
    from pgverdict.store.transfer import Deed

    named = f"run {taken.id}" if taken.id == run_id else f"run {run_id}, called {taken.id} here"
    match taken.deed:
        case Deed.NEW:
            return f"{named}: imported, {count(taken.rounds, 'round')}"
        case Deed.GREW:
            return f"{named}: was there, {count(taken.rounds, 'round')} added"
        case Deed.THERE:
            return f"{named}: was there, nothing to add"
