"""The directories of one run, and what remains of a run that was killed.

A workspace lies in the cache and holds data directories and logs. Its lock file is locked while the run
lives, so that `sweep` can tell remains from runs. Sockets lie elsewhere, because their path must be short;
the workspace remembers where. Whatever server runs in a workspace ends with the process that made it.
"""

import contextlib
import fcntl
import json
import os
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import IO, Self

from pgverdict.errors import WorldError
from pgverdict.servers import processes
from pgverdict.servers.account import Account
from pgverdict.servers.home import Home
from pgverdict.servers.marked import is_marked, mark, remove_tree
from pgverdict.servers.space import show_bytes
from pgverdict.servers.supervisor import Supervisor

SOCKETS_VARIABLE = "PGVERDICT_SOCKETS"

_LOCK = "lock"
_FACTS = "workspace.json"


class Workspace:
    """Made by `create`; use it as a context, or close it."""

    def __init__(self, path: Path, sockets: Path, account: Account, lock: IO[str]) -> None:
        self.path = path
        self.sockets = sockets
        self.account = account
        self._lock = lock
        self.supervisor = Supervisor()
        self.supervisor.watch(path)
        self.supervisor.remove(sockets)

    @classmethod
    def create(cls, home: Home, account: Account, name: str | None = None) -> "Workspace":
        """New directories for a run. `name` must be new; without one it is made from the time."""
        path = home.runs / (name or f"{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}")
        # A sweep that looked between these lines would take the new workspace for remains.
        with _locked(home.runs):
            if path.exists():
                raise WorldError(f"there is a run of this name already: {path}", hint="wait for its end")
            path.mkdir()
            path.chmod(0o755)
            mark(path)
            lock = (path / _LOCK).open("w")
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        with contextlib.ExitStack() as undo:
            undo.callback(lock.close)
            undo.callback(remove_tree, path)
            sockets = _make_sockets(account)
            undo.callback(remove_tree, sockets)
            (path / _FACTS).write_text(json.dumps({"sockets": str(sockets), "pid": os.getpid()}))
            workspace = cls(path, sockets, account, lock)
            undo.pop_all()
            return workspace

    @property
    def name(self) -> str:
        return self.path.name

    def directory(self, name: str) -> Path:
        """A new directory in the workspace that servers may write into."""
        path = self.path / name
        self.account.make_directory(path)
        return path

    def socket_directory(self, name: str) -> Path:
        """A private directory with a short path for one server's socket; the same one each time."""
        path = self.sockets / name
        if not path.exists():
            self.account.make_directory(path)
        return path

    def watch(self, directory: Path) -> None:
        """Servers that run in this other directory shall not outlive us either."""
        self.supervisor.watch(directory)

    def close(self) -> None:
        """Stop what still runs here and delete all of it."""
        try:
            self.supervisor.close()
            remove_tree(self.sockets)
            remove_tree(self.path)
        finally:
            self._lock.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def sweep(home: Home) -> list[str]:
    """Clean up after runs that ended without doing so; what was found, in sentences."""
    if not home.runs.is_dir():
        return []
    return [
        _bury(path, lock)
        for path in sorted(home.runs.iterdir())
        if is_marked(path) and (lock := _lock_remains(path, home.runs)) is not None
    ]


def _lock_remains(path: Path, runs: Path) -> IO[str] | None:
    """The lock of a workspace that nobody holds; None if somebody does."""
    with _locked(runs):
        try:
            lock = (path / _LOCK).open("w")
        except FileNotFoundError:
            return None  # somebody else is burying it
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.close()
            return None
        return lock


def _bury(path: Path, lock: IO[str]) -> str:
    """Stop what runs in the remains of a run, delete them, and say so."""
    with lock:
        stopped = processes.end_all([path])
        freed = 0
        with contextlib.suppress(OSError, ValueError, KeyError, WorldError):
            freed += remove_tree(Path(json.loads((path / _FACTS).read_text())["sockets"]))
        freed += remove_tree(path)
    servers = {0: "no server was running", 1: "stopped 1 server"}.get(stopped, f"stopped {stopped} servers")
    return f"found the remains of run {path.name}: {servers}, removed {show_bytes(freed)}"


@contextlib.contextmanager
def _locked(runs: Path) -> Iterator[None]:
    """One process at a time makes or judges workspaces; held for a moment only."""
    with (runs / ".lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _make_sockets(account: Account) -> Path:
    """A marked directory with a short path that only the servers' account (and root) may enter."""
    chosen = os.environ.get(SOCKETS_VARIABLE)
    runtime = os.environ.get("XDG_RUNTIME_DIR") if account.is_self else None
    for place in (chosen, runtime, "/tmp"):
        if not place or (place != chosen and not os.access(place, os.W_OK | os.X_OK)):
            continue
        account.require_reach(Path(place), SOCKETS_VARIABLE)
        try:
            sockets = Path(os.path.realpath(tempfile.mkdtemp(prefix="pgv-", dir=place)))
        except OSError as error:
            raise WorldError(
                f"cannot make a directory for sockets in {place}: {error.strerror}",
                hint=f"set {SOCKETS_VARIABLE} to a directory of yours with a short path",
            ) from error
        mark(sockets)
        account.give(sockets)
        return sockets
    raise WorldError(
        "found no directory for sockets: looked at $XDG_RUNTIME_DIR, /tmp",
        hint=f"set {SOCKETS_VARIABLE} to a directory of yours with a short path",
    )
