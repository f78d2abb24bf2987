"""The user's stores, opened. Nothing that judges is imported here: listing runs needs none of it."""

from pathlib import Path

from pgverdict.errors import UserError
from pgverdict.servers.home import Home
from pgverdict.store.opening import open_store
from pgverdict.store.runs import Store


def open_user_store(store: str | None, home: Home) -> Store:
    """The store named on the command line, or the one in the data directory; made if it is not there."""
    return open_store(store or home.data / "runs.sqlite")


def open_existing_store(store: str | None) -> Store:
    """The same for readers: looking makes nothing."""
    place = store or str(Home.find().data / "runs.sqlite")
    if "://" not in place and not Path(place).expanduser().exists():
        raise UserError(f"no store there: {place}", hint="`pgverdict compare` makes one with its first run")
    return open_store(place)
