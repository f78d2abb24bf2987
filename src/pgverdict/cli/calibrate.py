"""`pgverdict calibrate [SERVER]`: measure what the promises are worth on this host."""

import secrets
from pathlib import Path
from typing import Annotated

import typer

from pgverdict.cli.options import Scale, StoreUrl
from pgverdict.errors import UserError
from pgverdict.spec.arms import make_arms
from pgverdict.spec.campaign import Campaign, CellSpec
from pgverdict.spec.quantities import setting
from pgverdict.workloads import catalogue

SETTINGS = ("shared_buffers", "512MB")
"""Room for the whole dataset, as in `./x demo`: the work of servers is compared, not the page cache of the host."""


def calibrate(
    server: Annotated[
        str | None,
        typer.Argument(
            metavar="SERVER", help="The server to calibrate with: 17 or 17.7.", show_default="the newest used here"
        ),
    ] = None,
    minutes: Annotated[
        float, typer.Option(min=0.1, max=1440, metavar="N", help="Time for all rounds, set-up apart.")
    ] = 10,
    workload: Annotated[
        str, typer.Option(metavar="NAME", help="A workload of `pgverdict list workloads`.")
    ] = "select-only",
    scale: Scale = 10,
    set_: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help="A server setting; may be repeated.",
            show_default="shared_buffers=512MB",
        ),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(metavar="N", min=0, max=2**63 - 1, help="Seed of orders, keys and made-up runs.",
                     show_default="drawn"),
    ] = None,
    json: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the result as JSON; - is standard output.")
    ] = None,
    store: StoreUrl = None,
) -> None:  # fmt: skip
    """Measure what verdicts are worth on this host.

    One build is compared with itself, and with itself slowed down by 1, 2 and 5 %, in rounds like those of `compare`:
    how often are equal servers called different, and how soon is a slow-down found? Later reports of `compare` on
    this host say what was found.
    """
    settings = [setting(text) for text in set_ or ()]
    if any(arm is not None for arm, _, _ in settings):
        raise UserError(
            f"the arms of a calibration differ in nothing: --set {', '.join(set_ or ())}",
            hint="give --set without an arm",
        )
    if all(name != SETTINGS[0] for _, name, _ in settings):
        settings.append((None, *SETTINGS))
    cell = CellSpec(catalogue.workload(workload).name, scale, 1)
    from pgverdict.cli.measure import measure_host  # as in `compare`
    from pgverdict.run.calibrate import ARMS

    def campaign(chosen: str) -> Campaign:
        return Campaign(
            arms=make_arms((chosen,) * ARMS, tuple(settings)),
            cells=(cell,),
            budget_s=minutes * 60,
            seed=secrets.randbelow(2**31) if seed is None else seed,
        )

    measure_host(server, campaign, json=json, store=store)
