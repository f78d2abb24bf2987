"""The user's stores, opened. Nothing that judges is imported here: listing runs needs none of it."""

from collections.abc import Iterator
from contextlib import contextmanager

from pgverdict.cli.places import default_place, place_to_read
from pgverdict.servers.home import Home
from pgverdict.store.exported import open_exported
from pgverdict.store.opening import open_store
from pgverdict.store.place import file_of, may_write
from pgverdict.store.runs import Store


def open_user_store(store: str | None, home: Home) -> Store:
    """The store named on the command line, or the one in the data directory; made if it is not there."""
    return open_store(store or default_place(home))


@contextmanager
def open_existing_store(store: str | None) -> Iterator[Store]:
    """The same for readers: looking makes nothing. A file that may not be written is read through a copy."""
    place = place_to_read(store)
    file = file_of(place)
    still = file is not None and not may_write(file)
    with open_exported(file) if file is not None and still else open_store(place) as opened:
        yield opened
