"""Options that several commands take, and that say the same in each."""

from pathlib import Path
from typing import Annotated

import typer

StoreUrl = Annotated[
    str | None,
    typer.Option(
        metavar="URL",
        help="Where runs are kept: a file or postgresql://...",
        show_default="the data directory",
    ),
]

ReportAsJson = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Write the report as JSON; - is standard output.")
]

Scale = Annotated[int, typer.Option(min=1, metavar="N", help="Size of the dataset; 1 is 100 000 accounts.")]
