"""Options that say what servers have of memory and cores, and what is in memory when a round begins."""

from typing import Annotated

import typer

from pgverdict.spec.cache import Cache

Memory = Annotated[
    str | None,
    typer.Option(
        metavar="SIZE",
        help="Confine every server to so much memory, its page cache included: 512MB or 2GB. Data that is larger"
        " then works from storage without being larger than the host (docs/confinement.md).",
        show_default="as much as the host has",
    ),
]

Cores = Annotated[
    str | None,
    typer.Option(
        metavar="LIST",
        help="Confine every server to these cores, such as 0-3 or 0,2.",
        show_default="any",
    ),
]

EngineCores = Annotated[
    str | None,
    typer.Option(
        metavar="LIST",
        help="Keep the load engine on these cores, which must be others than those of --cores.",
        show_default="a client shares a core with its server process",
    ),
]

CacheState = Annotated[
    Cache,
    typer.Option(
        help="Whether a round begins with its data in memory, or with none of it. A cold round has one slice of"
        " each arm; nothing but the data of the run is dropped from the page cache."
    ),
]
