"""`pgverdict cache`: what the cache folder holds, and making it hold less."""

from typing import TYPE_CHECKING, Annotated

import typer

from pgverdict.errors import WorldError
from pgverdict.spec.quantities import size_bytes

if TYPE_CHECKING:
    from pgverdict.run.holdings import Holding, Holdings


def cache(
    remove: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Remove what has this name in the list; may be repeated."),
    ] = None,
    keep: Annotated[
        str | None,
        typer.Option(
            metavar="SIZE",
            help="Remove what was used longest ago until the folder takes at most so much: 20GB, 500MB.",
        ),
    ] = None,
) -> None:
    """List what the cache folder holds, used longest ago first, or make it hold less.

    Templates (loaded data), builds, installs and downloads can all be made again. Nothing is removed while a run
    works with the folder, and nothing that pgverdict did not make; runs themselves are in the store, not here.
    """
    from pgverdict.run import holdings  # SQLAlchemy behind it: `--help` answers without
    from pgverdict.servers.account import server_account
    from pgverdict.servers.home import Home
    from pgverdict.servers.space import show_bytes

    keep_bytes = None if keep is None else size_bytes(keep)
    home = Home.find()
    if not remove and keep_bytes is None:
        _show(holdings.find_holdings(home), str(home.cache))
        return
    home.ensure(server_account())
    with holdings.no_run_working(home) as remains:
        for sentence in remains:
            print(sentence)
        found = holdings.find_holdings(home)
        going = holdings.named(found, remove or ())
        if keep_bytes is not None:
            if found.other_bytes > keep_bytes:
                raise WorldError(
                    f"{home.cache} would take more than {show_bytes(keep_bytes)} even without all that can be"
                    f" removed: {show_bytes(found.other_bytes)}",
                    hint="nothing was removed; see what else lies there",
                )
            rest = holdings.Holdings(tuple(one for one in found.of if one not in going), found.other_bytes)
            going += holdings.beyond(rest, keep_bytes)
        for one in going:
            holdings.remove(home, one)
            print(f"removed the {one.kind.value} {one.name}: {show_bytes(one.bytes)}, {_used(one)}")
        left = found.bytes - sum(one.bytes for one in going)
        print(f"{home.cache} takes {show_bytes(left)} now")


def _show(found: "Holdings", place: str) -> None:
    from pgverdict.servers.space import show_bytes

    width = max((len(one.name) for one in found.of), default=0)
    for one in found.of:
        line = (
            f"{one.kind.value:<9} {one.name:<{width}}  {show_bytes(one.bytes):>7}  {_used(one)}  {one.about}"
        )
        print(line.rstrip())
    print(f"{place} takes {show_bytes(found.bytes)}, {show_bytes(found.other_bytes)} of it for other things")


def _used(one: "Holding") -> str:
    return f"last used {one.used:%Y-%m-%d %H:%M}"
