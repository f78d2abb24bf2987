"""Where the user's store is. Without SQLAlchemy: who lists runs does not wait for it."""

import os
from pathlib import Path

from pgverdict.errors import UserError
from pgverdict.servers.home import Home
from pgverdict.store.place import file_of


def default_place(home: Home) -> Path:
    """The store in the data directory."""
    return home.data / "runs.sqlite"


def place_to_read(store: str | None) -> str:
    """The store named on the command line, or the one in the data directory. UserError for a file that is not there."""
    place = store or str(default_place(Home.find()))
    file = file_of(place)
    if file is not None and not os.path.exists(file):  # noqa: PTH110 (that of a Path raises for names too long)
        raise UserError(f"no store there: {place}", hint="`pgverdict compare` makes one with its first run")
    return place
