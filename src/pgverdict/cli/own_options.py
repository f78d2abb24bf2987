"""Options that put a user's own work in place of a built-in workload, and the files they name."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from pgverdict.errors import UserError
from pgverdict.spec.own import OwnWork

Script = Annotated[
    list[str] | None,
    typer.Option(
        "--script",
        metavar="FILE[@WEIGHT]",
        help="A pgbench script of yours, in place of --workload; may be repeated. Without data of yours it works on"
        " pgbench's tables.",
    ),
]

Schema = Annotated[
    str | None, typer.Option(metavar="FILE.sql", help="SQL that makes the tables your scripts work on.")
]

Load = Annotated[
    str | None,
    typer.Option(
        metavar="FILE.sql", help="SQL that fills them; `:scale` in it and in --schema is the scale."
    ),
]

Dump = Annotated[
    str | None,
    typer.Option(
        metavar="FILE", help="A dump of pg_dump's that holds the data; needs pg_restore or psql here."
    ),
]

ReadOnly = Annotated[
    bool,
    typer.Option("--read-only", help="Your scripts change nothing: rounds work on data in place."),
]

Long = Annotated[
    bool,
    typer.Option("--long", help="A transaction of your scripts takes seconds or more: few pairs, unpinned."),
]

Allow = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME",
        help="What your scripts may do that is else refused: `shell` lets \\shell and \\setshell run commands on this"
        " host.",
    ),
]


def own_work(
    scripts: Sequence[str],
    schema: str | None,
    load: str | None,
    dump: str | None,
    *,
    read_only: bool,
    long: bool,
    allow: Sequence[str] = (),
) -> OwnWork | None:
    """From the options; None without a script. UserError for files that cannot be read, and for options alone."""
    if not scripts:
        given = {
            "--schema": schema, "--load": load, "--dump": dump, "--read-only": read_only, "--long": long,
            "--allow": allow,
        }  # fmt: skip
        if alone := [name for name, value in given.items() if value]:
            raise UserError(f"nothing works on what these say: {', '.join(alone)}", hint="name a --script")
        return None
    from pgverdict.cli.own_files import read_dump_at, read_script, read_sql

    here = Path.cwd()
    return OwnWork(
        tuple(read_script(text, here) for text in scripts),
        read_sql(schema, "the schema", here) if schema else None,
        read_sql(load, "the SQL of the load", here) if load else None,
        read_dump_at(dump, here) if dump else None,
        read_only,
        long,
        tuple(dict.fromkeys(allow)),
    )
