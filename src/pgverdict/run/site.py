"""Where a run works: its directories, and how servers of it are launched."""

import errno
import socket
import struct
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from pgverdict.conduct.cell import PreparedCell
from pgverdict.conduct.live import Data
from pgverdict.datasets.load import DATABASE
from pgverdict.errors import WorldError
from pgverdict.plan.layout import Layout, draw_layout
from pgverdict.plan.rounds import RoundPlan
from pgverdict.run.outside import Stays
from pgverdict.servers.account import Account
from pgverdict.servers.confine import Confiner
from pgverdict.servers.handicap import Handicap, place_library
from pgverdict.servers.home import Home
from pgverdict.servers.install import Install
from pgverdict.servers.outside import AnyServer, OutsideServer
from pgverdict.servers.server import Server
from pgverdict.servers.workspace import Workspace

_LOCK = "\0pgverdict-measuring"


@dataclass(frozen=True)
class Site:
    """The home of the product, and the workspace of this run, which goes when the run ends."""

    home: Home
    account: Account
    workspace: Workspace
    stays: Stays = field(default_factory=Stays)
    """Where it is on servers of others; to be closed with the run."""

    def directory(self, *names: str) -> Path:
        """A directory of the run's that servers may use, made if it is missing."""
        path = self.workspace.path
        for name in names:
            path = path / name
            if not path.exists():
                self.account.make_directory(path)
        return path

    def launch(
        self,
        install: Install,
        data: Path,
        settings: Mapping[str, str],
        socket: str,
        handicap: Handicap | None = None,
        confiner: Confiner | None = None,
        layout: Layout | None = None,
    ) -> Server:
        """A server on a data directory, not yet started, that will not outlive us."""
        self.workspace.supervisor.revive()
        sockets = self.workspace.socket_directory(socket)
        return Server(
            install,
            data,
            sockets,
            settings,
            self.account,
            handicap=handicap,
            confiner=confiner,
            layout=layout,
        )

    def launch_arm(self, cell: PreparedCell, plan: RoundPlan, arm: int, data: Data) -> AnyServer:
        """An arm's server for a round, not yet started. Its socket belongs to the slot, as its fresh data does."""
        prepared = cell.arms[arm]
        if prepared.stay is not None:
            return OutsideServer(prepared.stay, {DATABASE: str(data)})
        assert isinstance(data, Path), data
        install = prepared.installs[plan.installs[arm]]
        handicap = None
        if prepared.handicap_ns is not None:
            handicap = Handicap(place_library(self.workspace.path), prepared.handicap_ns)
        slot = f"slot{plan.slots[arm]}"
        layout = draw_layout(plan.pairs[0].seed) if cell.has_layouts else None
        return self.launch(install, data, dict(prepared.settings), slot, handicap, cell.confiner, layout)


@contextmanager
def measuring_alone() -> Iterator[None]:
    """Two measurements at once would measure each other: one run at a time on a host, WorldError for the second.

    The lock is the name of an abstract socket: whoever runs, from whatever home, meets the same one, and the
    kernel drops it with its holder.
    """
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as lock:
        try:
            lock.bind(_LOCK)
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise
            raise WorldError(
                f"another run is measuring on this host: process {_holder() or 'unknown'}",
                hint="wait for its end; two at once would disturb each other",
            ) from None
        lock.listen()
        yield


def _holder() -> int | None:
    """The process that holds the lock, as the kernel knows it; None if it has let go meanwhile."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as caller:
        try:
            caller.connect(_LOCK)
            credentials = caller.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
        except OSError:
            return None
    return int(struct.unpack("3i", credentials)[0]) or None
