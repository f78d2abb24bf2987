"""Options that put a user's own work in place of a built-in workload, and the files they name."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from pgverdict.errors import UserError
from pgverdict.spec.own import OwnScript, OwnText, OwnWork

TEXT_BYTES_MAX = 4 << 20
"""Texts are kept with every run; more is a dump."""

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
    from pgverdict.datasets.restore import read_dump

    return OwnWork(
        tuple(map(_script, scripts)),
        _text(schema, "the schema") if schema else None,
        _text(load, "the SQL of the load") if load else None,
        read_dump(Path(dump).expanduser().absolute()) if dump else None,
        read_only,
        long,
        tuple(dict.fromkeys(allow)),
    )


def _script(text: str) -> OwnScript:
    """FILE or FILE@WEIGHT, as pgbench has it."""
    path, at, weight = text.rpartition("@")
    if not at:
        path, weight = text, "1"
    elif not re.fullmatch(r"\d{1,6}", weight):
        raise UserError(f"not a weight: {text}", hint="write FILE@WEIGHT with a whole number")
    read = _text(path, "the script")
    return OwnScript(read.path, read.text, int(weight))


def _text(name: str, what: str) -> OwnText:
    path = Path(name).expanduser().absolute()
    try:
        content = path.read_bytes()
    except OSError as error:
        raise UserError(f"cannot read {what} {path}: {error.strerror}") from None
    if len(content) > TEXT_BYTES_MAX:
        raise UserError(
            f"{what} has more than {TEXT_BYTES_MAX >> 20} MB: {path}", hint="data may come by --dump"
        )
    try:
        return OwnText(str(path), content.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise UserError(f"{what} is not UTF-8 at byte {error.start}: {path}") from None
