"""`pgverdict run FILE`: a campaign from a file, measured, or looked at before."""

import os
import secrets
import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from pgverdict.cli.compare import FailOn
from pgverdict.cli.options import ReportAsJson, StoreUrl
from pgverdict.errors import UserError
from pgverdict.servers.home import Home
from pgverdict.spec.campaign import Campaign
from pgverdict.spec.quantities import duration_s


def run(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="A campaign file, as docs/campaigns.md describes.")
    ],
    wanted: Annotated[
        str | None,
        typer.Argument(
            metavar="[RUN]",
            help="With --resume: a run's id, or its beginning.",
            show_default="the file's newest",
        ),
    ] = None,
    small: Annotated[
        bool,
        typer.Option("--small", help="Shrink every size, so that the whole matrix runs on a laptop."),
    ] = False,
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="Say which cells there are and what they will take; start nothing."),
    ] = False,
    resume: Annotated[
        bool,
        typer.Option(
            "--resume",
            help="Go on with a run of this file that was stopped or killed, under the same plan and seed; where"
            " there is none, begin one.",
        ),
    ] = False,
    only: Annotated[
        list[str] | None,
        typer.Option(
            metavar="CELL",
            help='Only cells whose keys have these words, such as "select-only clients=1"; may be repeated.',
        ),
    ] = None,
    arm: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=SERVER",
            help="Another server in the place of this arm, with the arm's settings; may be repeated.",
        ),
    ] = None,
    budget: Annotated[
        str | None,
        typer.Option(
            metavar="DURATION", help="Time for all rounds, set-up apart.", show_default="as the file says"
        ),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=0,
            max=2**63 - 1,
            help="Seed of orders and keys.",
            show_default="as the file says, else drawn",
        ),
    ] = None,
    json: ReportAsJson = None,
    html: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the HTML report here.", show_default="the data directory"),
    ] = None,
    store: StoreUrl = None,
    fail_on: Annotated[
        FailOn | None, typer.Option(help="Exit with 3 if a cell's primary metric is this.")
    ] = None,
) -> None:
    """Measure the campaign of a file: every arm in every cell of its matrix.

    A cell that cannot be prepared, or keeps failing, does not stop the others; it is told at the end, with exit
    code 1. A run that is killed loses at most the round that was running.
    """
    if wanted is not None and not resume:
        raise UserError(f"a run is named and not to be resumed: {wanted}", hint="add --resume")
    campaign = read_campaign(file, small=small, only=tuple(only or ()), instead=tuple(arm or ()))
    if seed is not None:
        campaign = replace(campaign, seed=seed)
    budget_s = None if budget is None else duration_s(budget)
    if budget_s is not None:
        campaign = replace(campaign, budget_s=budget_s)
    if dry_run:
        _show_outlook(campaign, store)
        return
    from pgverdict.cli.measure import Resuming, measure  # as in `compare`

    resuming = Resuming(wanted, budget_s) if resume else None
    slower = measure(campaign, json=json, html=html, store=store, resuming=resuming)
    if fail_on is FailOn.SLOWER and slower:
        raise typer.Exit(3)


def read_campaign(
    file: Path, *, small: bool = False, only: tuple[str, ...] = (), instead: tuple[str, ...] = ()
) -> Campaign:
    """The campaign of a file as it is on this host. UserError for what is wrong with the file, or the options."""
    from pgverdict.cli.own_tables import own_work_of
    from pgverdict.observe.host import memory_total_bytes
    from pgverdict.observe.storage import disk_of
    from pgverdict.plan.matrix import HostSize, campaign_of
    from pgverdict.spec.document import read_document  # pydantic: `--help` answers without

    try:
        text = file.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise UserError(
            f"not a text file in UTF-8: {file}", hint="docs/campaigns.md describes such a file"
        ) from None
    except OSError as error:
        raise UserError(
            f"cannot read the campaign file {file}: {error.strerror}",
            hint="campaigns/ of a checkout has some to begin with",
        ) from None
    document = read_document(str(file), text)
    disk = disk_of(Home.find().cache) if document.tables.tune is not None else None
    host = HostSize(memory_total_bytes(), len(os.sched_getaffinity(0)), disk)
    own = own_work_of(document)
    campaign = campaign_of(
        document, host, own, seed=secrets.randbelow(2**31), small=small, only=only, instead=instead
    )
    for number, table in enumerate(document.tables.arm):
        for key in ("data_directory", "wal_directory"):
            directory = getattr(table, key)
            with document.at("arm", number, key):
                if directory is not None and not (directory.startswith("/") and Path(directory).is_dir()):
                    raise UserError(f"no such directory: {directory}", hint="write its full path")
    return campaign


def _show_outlook(campaign: Campaign, store: str | None) -> None:
    from pgverdict.cli.outlook import outlook_of  # SQLAlchemy
    from pgverdict.report.outlook import outlook_screen

    sys.stdout.write(outlook_screen(campaign, outlook_of(campaign, store)))
