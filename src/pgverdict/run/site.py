"""Where a run works: its directories, and how servers of it are launched."""

import fcntl
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from pgverdict.conduct.cell import PreparedCell
from pgverdict.errors import WorldError
from pgverdict.servers.account import Account
from pgverdict.servers.home import Home
from pgverdict.servers.install import Install
from pgverdict.servers.server import Server
from pgverdict.servers.workspace import Workspace


@dataclass(frozen=True)
class Site:
    """The home of the product, and the workspace of this run, which goes when the run ends."""

    home: Home
    account: Account
    workspace: Workspace

    def directory(self, *names: str) -> Path:
        """A directory of the run's that servers may use, made if it is missing."""
        path = self.workspace.path
        for name in names:
            path = path / name
            if not path.exists():
                self.account.make_directory(path)
        return path

    def launch(self, install: Install, data: Path, settings: Mapping[str, str], socket: str) -> Server:
        """A server on a data directory, not yet started."""
        return Server(install, data, self.workspace.socket_directory(socket), settings, self.account)

    def launch_arm(self, cell: PreparedCell, arm: int, data: Path, slot: int) -> Server:
        """An arm's server for a round, not yet started. Its socket belongs to the slot, as its fresh data does."""
        prepared = cell.arms[arm]
        return self.launch(prepared.install, data, dict(prepared.settings), f"slot{slot}")


@contextmanager
def measuring_alone(home: Home) -> Iterator[None]:
    """Two measurements at once would measure each other: one run at a time on a home, WorldError for the second."""
    with (home.cache / "measuring.lock").open("a+") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.seek(0)
            raise WorldError(
                f"another run is measuring on this host: process {lock.read().strip() or 'unknown'}",
                hint="wait for its end; two at once would disturb each other",
            ) from None
        lock.truncate(0)
        lock.write(str(os.getpid()))
        lock.flush()
        yield
