"""The directories of one run, and what remains of a run that was killed.

A workspace lies in the cache and holds data directories and logs. Where the user named other directories for an
arm, it has a directory of its own in each (`place_in`). Its lock file is locked while the run lives, so that
`sweep` can tell remains from runs. Sockets lie elsewhere, because their path must be short;
the workspace remembers where. Whatever server runs in a workspace ends with the process that made it.
"""

import contextlib
import fcntl
import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import IO, Self

from pgverdict.errors import WorldError
from pgverdict.servers import processes
from pgverdict.servers.account import Account
from pgverdict.servers.home import Home
from pgverdict.servers.interruption import shield
from pgverdict.servers.marked import is_marked, mark, remove_tree
from pgverdict.servers.scratch import remove_forsaken
from pgverdict.servers.sockets import make_sockets
from pgverdict.servers.space import show_bytes
from pgverdict.servers.supervisor import Supervisor

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
        self._places: dict[Path, Path] = {}

    @classmethod
    def create(cls, home: Home, account: Account, name: str | None = None) -> "Workspace":
        """New directories for a run. `name` must be new; without one it is made from the time."""
        path = home.runs / (name or f"{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}")
        workspace = None
        try:
            with shield():
                workspace = cls._make(path, account)
        except OSError as error:
            raise WorldError(f"cannot make the directories of a run in {path}: {error.strerror}") from error
        except KeyboardInterrupt:
            if workspace is not None:
                workspace.close()
            raise
        return workspace

    @classmethod
    def _make(cls, path: Path, account: Account) -> "Workspace":
        # A sweep that looked between these lines would take the new workspace for remains.
        with contextlib.ExitStack() as undo:
            with _locked(path.parent):
                if path.exists():
                    raise WorldError(f"there is a run of this name already: {path}", hint="wait for its end")
                path.mkdir()
                undo.callback(remove_tree, path)
                path.chmod(0o755)
                mark(path)
                lock = (path / _LOCK).open("w")
                undo.callback(lock.close)
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            sockets = make_sockets(account)
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

    def place_in(self, directory: Path) -> Path:
        """A directory of ours in one of the user's, the same one each time; it goes with the workspace.

        WorldError if it cannot be made. It is noted before it is made, so that remains of it are found.
        """
        real = Path(os.path.realpath(directory))
        place = real / f"pgverdict-{self.name}"
        if real in self._places:
            return place
        self._places[real] = place
        self._note_facts()
        try:
            with shield():
                place.mkdir()
                place.chmod(0o755)
                mark(place)
        except OSError as error:
            del self._places[real]
            self._note_facts()
            raise WorldError(f"cannot make a directory in {directory}: {error.strerror}") from error
        self.supervisor.watch(place)
        return place

    def _note_facts(self) -> None:
        """What `sweep` has to know of this workspace if we are killed."""
        facts = {
            "sockets": str(self.sockets),
            "pid": os.getpid(),
            "places": [str(place) for place in self._places.values()],
        }
        temporary = self.path / f".{_FACTS}"
        temporary.write_text(json.dumps(facts))
        temporary.replace(self.path / _FACTS)

    def close(self) -> None:
        """Stop what still runs here and delete all of it."""
        with shield():
            try:
                self.supervisor.close()
                for place in self._places.values():
                    remove_tree(place)
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
    """Clean up after processes that ended without doing so; what was found, in sentences."""
    said = []
    for path in sorted(home.runs.iterdir()) if home.runs.is_dir() else []:
        with shield():
            if _may_be_ours(path) and (sentence := _bury(path)) is not None:
                said.append(sentence)
    return [*said, *_remove_half_done(home)]


def _may_be_ours(path: Path) -> bool:
    """Marked; or what a kill leaves that came before the mark, or after it was deleted again."""
    try:
        if path.is_symlink() or not path.is_dir():
            return False
        return is_marked(path) or (path / _LOCK).is_file() or not any(path.iterdir())
    except OSError:
        return False  # another user's, or somebody else is burying it


def _bury(path: Path) -> str | None:
    """Stop what runs in the remains of a run, delete them, and say so; None if it is no remains."""
    try:
        with contextlib.ExitStack() as stack:
            with _locked(path.parent):
                if not path.exists():
                    return None  # somebody else has buried it
                if _is_alive(path, stack):
                    return None
            places = _places_of(path)
            stopped = processes.end_all([path, *places])
            freed = 0
            with contextlib.suppress(OSError, ValueError, KeyError, TypeError, WorldError):
                freed += remove_tree(Path(json.loads((path / _FACTS).read_text())["sockets"]))
            for place in places:
                freed += _remove_place(place)
            freed += remove_tree(path)
    except (OSError, WorldError) as error:
        reason = error.message if isinstance(error, WorldError) else f"{error.strerror}: {error.filename}"
        return f"found the remains of run {path.name}, which stay: {reason}"
    servers = {0: "no server was running", 1: "stopped 1 server"}.get(stopped, f"stopped {stopped} servers")
    return f"found the remains of run {path.name}: {servers}, removed {show_bytes(freed)}"


def _places_of(path: Path) -> list[Path]:
    """The directories that a run had made in those of its user; none that it had not come to note."""
    try:
        return [Path(place) for place in json.loads((path / _FACTS).read_text()).get("places", [])]
    except (OSError, ValueError, AttributeError, TypeError):
        return []


def _remove_place(place: Path) -> int:
    """Delete it if it carries our mark itself, or is empty: a kill came between its making and its mark."""
    if place.is_dir() and not place.is_symlink() and not any(place.iterdir()):
        place.rmdir()
        return 0
    if place.exists() and not is_marked(place):
        raise WorldError(f"will not delete what is not marked as made by pgverdict: {place}")
    return remove_tree(place)


def _is_alive(path: Path, stack: contextlib.ExitStack) -> bool:
    """Whether somebody holds the lock of a workspace. If not we do, until the end of the stack."""
    if not is_marked(path) and not (path / _LOCK).exists():
        return False  # empty: its maker held the lock that we hold now, and is gone
    lock = os.open(path / _LOCK, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o644)
    stack.callback(os.close, lock)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    return False


def _remove_half_done(home: Home) -> list[str]:
    """Downloads, installs and deletions that were cut short. Where something cannot be deleted, why not."""
    freed = 0
    try:
        for folder, patterns in (
            (home.installs, (".unpacking-*", ".building-*", ".removing-*")),
            (home.downloads, (".fetch-*", ".maven-*", ".releases-*")),
            (home.templates, (".removing-*",)),
            (home.repositories, (".cloning-*",)),
        ):
            freed += sum(remove_forsaken(pattern, folder) for pattern in patterns)
    except (OSError, WorldError) as error:
        return [f"found a download, install or deletion that was cut short, whose rest stays: {error}"]
    if not freed:
        return []
    return [f"found downloads, installs or deletions that were cut short: removed {show_bytes(freed)}"]


@contextlib.contextmanager
def _locked(runs: Path) -> Iterator[None]:
    """One process at a time makes or judges workspaces; held for a moment only."""
    with (runs / ".lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
