"""The server of an arm that somebody else runs, in a round: what `Server` is for servers of ours.

    OutsideServer(stay, {"bench": name}).connect("bench")

Nothing of it is started, stopped or configured; its databases are those of the run's stay there.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from pgverdict.servers.refusal import refused
from pgverdict.servers.server import Server
from pgverdict.servers.stay import Stay

if TYPE_CHECKING:
    import psycopg

    Connection = psycopg.Connection[tuple[Any, ...]]


class OutsideServer:
    """It has what a `Server` has, as far as there is anything to it."""

    confines = None
    """Nothing confines it."""

    def __init__(
        self,
        stay: Stay,
        names: Mapping[str, str],
        settings: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        """`names`: what our databases are called there. `settings`: of databases that are made."""
        self.stay = stay
        self.settings = settings
        self.names = dict(names)

    @property
    def version(self) -> str:
        return self.stay.version

    def start(self) -> None:
        """Nothing starts: that it answers is found out."""
        with refused(f"cannot connect to {self.stay.dsn}"):
            self.stay.connect().close()

    def stop(self, mode: str = "fast") -> None:
        """Nothing stops."""

    def ask_to_end(self, mode: str) -> None:
        """It goes on, as after `stop`."""

    def connect(self, database: str = "postgres") -> "Connection":
        """A session that commits each statement, in a database of ours or else in the one that the URI names."""
        return self.stay.connect(self.names.get(database))

    def create_database(self, name: str) -> None:
        """What is called `name` from now on, new and empty."""
        self.names[name] = self.stay.create(settings=self.settings)

    def handicap_counts(self) -> None:
        """It has none."""

    def log_tail(self, lines: int = 20) -> str:  # noqa: ARG002
        """Its log is not ours to read."""
        return ""

    def log_end(self, bytes_max: int) -> str:  # noqa: ARG002
        """Nor is its end."""
        return ""


AnyServer = Server | OutsideServer
"""What an arm works on."""
