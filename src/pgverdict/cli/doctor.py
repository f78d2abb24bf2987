"""`pgverdict doctor`: is this host fit to measure, and what makes it fitter?"""

from pathlib import Path
from typing import Annotated

import typer

from pgverdict.cli.outputs import STANDARD_OUTPUT, check_outputs, write_report
from pgverdict.errors import UserError

LOOK_S = 1.0
"""How long other processes are watched: a process that takes a twentieth of a core has five ticks of 10 ms in it."""

RECORD = "doctor-undo.json"
"""In the data directory: what knobs were before `--fix`."""


def doctor(
    json: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write what was found as JSON; - is standard output.")
    ] = None,
    fix: Annotated[
        bool,
        typer.Option(
            "--fix",
            help="Set what is safe to set, until the next start of the host: governor, turbo, transparent huge pages,"
            " swappiness, NUMA balancing, I/O scheduler. Takes root.",
        ),
    ] = False,
    undo: Annotated[
        bool, typer.Option("--undo", help="Put back what --fix changed, where it is still as --fix set it.")
    ] = False,
) -> None:
    """Look whether this host is fit to measure, and say what makes it fitter.

    Changes nothing without --fix. Exit code 0 whatever is found.
    """
    if undo and (fix or json):
        raise UserError(
            f"--undo stands alone: {'--fix' if fix else '--json'}", hint="look, or fix, in another call"
        )
    if undo:
        _undo()
    else:
        _look(json, fix=fix)


def _look(json: Path | None, *, fix: bool) -> None:
    import sys
    from contextlib import nullcontext

    from pgverdict.host import repairs
    from pgverdict.host.doctor import examine, examine_load, read_facts, watch_load
    from pgverdict.host.tree import Tree
    from pgverdict.report.doctor import doctor_json, doctor_screen
    from pgverdict.run.site import measuring_alone
    from pgverdict.servers.account import server_account
    from pgverdict.servers.home import Home
    from pgverdict.servers.layout import obstacle_here

    check_outputs(json)
    home = Home.find()
    # A knob that moves while a run measures would be a disturbance of our own making.
    with measuring_alone() if fix else nullcontext():
        tree = Tree()
        advice = (
            *examine(read_facts(tree, home.cache), obstacle_here()),
            *examine_load(watch_load(tree, LOOK_S)),
        )
        steps = repairs.plan(tree, advice)
        if json != STANDARD_OUTPUT:
            sys.stdout.write(doctor_screen(advice, steps, fixing=fix))
        if json is not None:
            write_report(json, doctor_json(advice, steps))
        if fix and steps:
            sys.stdout.flush()
            home.ensure(server_account())
            repairs.fix(tree, home.data / RECORD, steps)


def _undo() -> None:
    from pgverdict.host import repairs
    from pgverdict.host.tree import Tree
    from pgverdict.run.site import measuring_alone
    from pgverdict.servers.home import Home

    record = Home.find().data / RECORD
    if not repairs.read_record(record):
        print(f"nothing to put back: {record} is not there")
        return
    with measuring_alone():
        for line in repairs.undo(Tree(), record):
            print(line)
