"""`pgverdict compare BASELINE CANDIDATE`: measure now, and say which is slower."""

import secrets
from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from pgverdict.spec.campaign import Campaign, CellSpec, make_arms
from pgverdict.spec.quantities import duration_s, percentage, setting
from pgverdict.spec.regime import Regime
from pgverdict.workloads import catalogue
from pgverdict.workloads.regimes import regimes_of


class ChosenRegime(Enum):
    """The regimes there is a choice of: of work that changes data."""

    FRESH = "fresh"
    STEADY = "steady"


class FailOn(Enum):
    """What makes the exit code 3."""

    SLOWER = "slower"


def compare(
    baseline: Annotated[
        str,
        typer.Argument(
            metavar="BASELINE", help="The server to compare against: 17 (the newest 17.x) or 17.7."
        ),
    ],
    candidate: Annotated[
        str,
        typer.Argument(metavar="CANDIDATE", help="The server to judge. The same release twice is allowed."),
    ],
    workload: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="A workload of `pgverdict list workloads`; may be repeated.",
            show_default="select-only",
        ),
    ] = None,
    regime: Annotated[
        list[ChosenRegime] | None,
        typer.Option(
            help="For work that changes data: short rounds on fresh copies, or long rounds on aged data, through"
            " checkpoints and vacuums; may be given twice.",
            show_default="fresh",
        ),
    ] = None,
    scale: Annotated[
        int, typer.Option(min=1, metavar="N", help="Size of the dataset; 1 is 100 000 accounts.")
    ] = 10,
    clients: Annotated[int, typer.Option(min=1, max=1000, metavar="N", help="Concurrent clients.")] = 1,
    budget: Annotated[
        str, typer.Option(metavar="DURATION", help="Time for all rounds, starts included, set-up apart.")
    ] = "5m",
    margin: Annotated[str, typer.Option(metavar="PERCENT", help="The smallest effect that matters.")] = "1%",
    confidence: Annotated[
        str, typer.Option(metavar="PERCENT", help="How sure all verdicts together are to be.")
    ] = "99%",
    seed: Annotated[
        int | None,
        typer.Option(
            metavar="N", min=0, max=2**63 - 1, help="Seed of orders and keys.", show_default="drawn"
        ),
    ] = None,
    rounds: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Exactly so many rounds per cell, whatever they say.",
            show_default="until decided",
        ),
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="[ARM:]NAME=VALUE",
            help="A server setting, for all arms or for `baseline:`, `candidate:` or an arm's name; may be repeated.",
        ),
    ] = None,
    json: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the report as JSON; - is standard output.")
    ] = None,
    html: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the HTML report here.", show_default="the data directory"),
    ] = None,
    store: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="Where runs are kept: a file or postgresql://...",
            show_default="the data directory",
        ),
    ] = None,
    fail_on: Annotated[
        FailOn | None, typer.Option(help="Exit with 3 if a cell's primary metric is this.")
    ] = None,
) -> None:
    """Measure two PostgreSQL servers and give verdicts.

    A round of `--regime steady` lasts until each arm, by itself, went through two checkpoints and two vacuums of
    every hot table. With settings as shipped that is over ten minutes per arm, and eight rounds take hours. Minutes
    suffice with, for example, --set checkpoint_timeout=30s --set max_wal_size=64MB --set autovacuum_naptime=1s,
    which is then what the verdict is about.
    """
    campaign = Campaign(
        arms=make_arms((baseline, candidate), tuple(setting(text) for text in set_ or ())),
        cells=tuple(
            CellSpec(name, scale, clients, regime=chosen)
            for name in workload or ("select-only",)
            for chosen in regimes_of(catalogue.workload(name), [Regime(r.value) for r in regime or ()])
        ),
        budget_s=duration_s(budget),
        margin=percentage(margin, what="margin"),
        confidence=percentage(confidence, what="confidence"),
        seed=secrets.randbelow(2**31) if seed is None else seed,
        rounds=rounds,
    )
    from pgverdict.cli.measure import (
        measure,
    )  # loads numpy, SQLAlchemy and psycopg, which errors above need not

    slower = measure(campaign, json=json, html=html, store=store)
    if fail_on is FailOn.SLOWER and slower:
        raise typer.Exit(3)
