"""Options that say what the arms are beyond which release: whose defaults, tuned for what, on which directories."""

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Literal

import typer

from pgverdict.errors import UserError
from pgverdict.spec.arms import Arm, find_arms
from pgverdict.spec.campaign import Defaults
from pgverdict.spec.quantities import placed, size_bytes
from pgverdict.spec.tuning import Disk, Tuning, Use

Set = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="[ARM:]NAME[?]=VALUE",
        help="A server setting, for all arms or for `baseline:`, `candidate:` (each) or an arm's name; with `?` it"
        " is left out on arms that do not know it; may be repeated.",
    ),
]

As = Annotated[
    Defaults,
    typer.Option(
        "--as",
        help="Whether each release has its own defaults, or all arms have the baseline's where defaults have"
        " changed.",
    ),
]

Tune = Annotated[
    Use | None,
    typer.Option(
        help="Settings for this use of a server on a host of this size, by pgtune's rules; --set goes before them."
    ),
]

TuneMemory = Annotated[
    str | None,
    typer.Option(
        metavar="SIZE", help="Memory to tune for, such as 4GB.", show_default="the host's, if --tune is given"
    ),
]

TuneCores = Annotated[
    int | None,
    typer.Option(
        min=1, metavar="N", help="Cores to tune for.", show_default="the host's, if --tune is given"
    ),
]

TuneDisk = Annotated[
    Disk | None,
    typer.Option(
        help="What the data lies on, to tune for.", show_default="what the host says, if --tune is given"
    ),
]

DataDirectory = Annotated[
    list[str] | None,
    typer.Option(
        metavar="ARM:DIR",
        help="Where an arm's data is put while it is measured, in a directory of its own that goes again; may be"
        " repeated.",
    ),
]

WalDirectory = Annotated[
    list[str] | None, typer.Option(metavar="ARM:DIR", help="The same for its WAL; may be repeated.")
]

AllowDebugBuilds = Annotated[
    bool,
    typer.Option(
        "--allow-debug-builds", help="Measure builds that check assertions or were not optimised, too."
    ),
]


def tuning_of(
    use: Use | None, memory: str | None, cores: int | None, disk: Disk | None, *, data: Path
) -> Tuning | None:
    """What is to be tuned for; what was not said is the host's. `data`: a directory where servers' data will lie."""
    if use is None:
        said = {"--tune-memory": memory, "--tune-cores": cores, "--tune-disk": disk}
        if given := [name for name, value in said.items() if value is not None]:
            raise UserError(
                f"nothing is tuned: {', '.join(given)}",
                hint=f"say for what: --tune {'|'.join(u.value for u in Use)}",
            )
        return None
    from pgverdict.observe.host import memory_total_bytes
    from pgverdict.observe.storage import disk_of

    found = disk or disk_of(data)
    if found is None:
        raise UserError(
            f"cannot tell what kind of disk {data} lies on",
            hint=f"say it: --tune-disk {'|'.join(kind.value for kind in Disk)}",
        )
    return Tuning(
        use,
        size_bytes(memory) if memory else memory_total_bytes(),
        cores or len(os.sched_getaffinity(0)),
        found,
    )


def with_directories(arms: tuple[Arm, ...], data: Sequence[str], wal: Sequence[str]) -> tuple[Arm, ...]:
    """The arms with the directories that the user named for them."""
    data_of = _directories(arms, data, "--data-directory")
    wal_of = _directories(arms, wal, "--wal-directory")
    return tuple(
        replace(arm, data_directory=data_of.get(number), wal_directory=wal_of.get(number))
        for number, arm in enumerate(arms)
    )


def _directories(
    arms: tuple[Arm, ...], said: Sequence[str], option: Literal["--data-directory", "--wal-directory"]
) -> dict[int, str]:
    found: dict[int, str] = {}
    for text in said:
        address, directory = placed(text, where=option)
        if not Path(directory).is_dir():
            raise UserError(f"no such directory for {option}: {directory}", hint="make it first")
        for number in find_arms(arms, address, where=option):
            if number in found:
                raise UserError(
                    f"two directories for one arm in {option}: {arms[number].name}", hint="name each arm once"
                )
            found[number] = directory
    return found
