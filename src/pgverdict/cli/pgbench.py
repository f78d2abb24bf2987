"""`pgverdict pgbench ...`: the load engine in pgbench's place. It takes over this process."""

import os
from typing import Annotated, NoReturn

import typer

PASSED_ON = {"ignore_unknown_options": True, "allow_interspersed_args": False}
"""Everything behind the command's name is pgbench's, options too."""


def pgbench(
    arguments: Annotated[
        list[str] | None, typer.Argument(metavar="[ARGS]...", help="What pgbench takes; -? lists it.")
    ] = None,
) -> NoReturn:
    """Run pgbench's scripts as pgbench does: its options, output and exit codes. See docs/pgbench.md."""
    from pgverdict.engine.binary import find_pgbench

    # Messages begin with the name it is called by.
    os.execv(find_pgbench(), ["pgbench", *(arguments or [])])
