"""The user's stores, opened. Nothing that judges is imported here: listing runs needs none of it."""

from pgverdict.cli.places import default_place, place_to_read
from pgverdict.servers.home import Home
from pgverdict.store.opening import open_store
from pgverdict.store.runs import Store


def open_user_store(store: str | None, home: Home) -> Store:
    """The store named on the command line, or the one in the data directory; made if it is not there."""
    return open_store(store or default_place(home))


def open_existing_store(store: str | None) -> Store:
    """The same for readers: looking makes nothing."""
    return open_store(place_to_read(store))
