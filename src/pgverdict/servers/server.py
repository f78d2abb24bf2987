"""One running server: start, stop, its processes, connections to it.

    server = Server(install, data, socket_directory, {"work_mem": "8MB"}, account)
    with server:
        server.connect().execute("select 1")

Servers are started often and live for seconds, so `postgres` is launched directly and asked until it
answers. No server has a parent-death signal: the kernel sends that when the starting *thread* ends, and a
launcher in between would cost its start each time. What must not outlive us runs inside a directory that
a Supervisor watches; see `workspace`.
"""

import contextlib
import signal
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import IO, TYPE_CHECKING, Any, Literal, Self

from pgverdict.errors import UserError, WorldError
from pgverdict.plan.layout import Layout
from pgverdict.servers import interruption, processes
from pgverdict.servers.account import Account
from pgverdict.servers.cgroups import thaw_around
from pgverdict.servers.cluster import SUPERUSER
from pgverdict.servers.complaint import complaint_in
from pgverdict.servers.confine import Confiner, Confines
from pgverdict.servers.handicap import (
    COUNTS_NAME,
    Handicap,
    HandicapCounts,
    check_counts,
    make_counts,
    read_counts,
)
from pgverdict.servers.install import Install
from pgverdict.servers.known import Known
from pgverdict.servers.layout import laid_out, loader_of, padding
from pgverdict.servers.log import Log
from pgverdict.servers.settings import INCLUDED, PORT, blame_settings, check_settings, render_settings
from pgverdict.servers.sockets import socket_path
from pgverdict.servers.stale_locks import clear_stale_locks

if TYPE_CHECKING:
    import psycopg

Mode = Literal["fast", "immediate", "kill"]
_MODES: tuple[Mode, ...] = ("fast", "immediate", "kill")
_SIGNALS = {"fast": signal.SIGINT, "immediate": signal.SIGQUIT}

START_S_MAX = 60.0
STOP_S_MAX = 60.0
"""How long a fast stop may take (it writes all dirty pages) before it becomes an immediate one."""
_IMMEDIATE_S_MAX = 6.0  # the postmaster itself kills its children after five
_POLL_S = 0.001
_WAIT_S = 0.1  # a held back request to end makes a stop hurry: look for one so often

_WHEN_TOLD = ("/bin/sh", "-c", 'read -r told && exec "$@" </dev/null', "sh")
"""A shell that becomes the postmaster when it is told to, and ends if whoever would tell it is gone."""


class Server:
    def __init__(
        self,
        install: Install,
        data: Path,
        socket_directory: Path,
        settings: Mapping[str, str],
        account: Account,
        *,
        port: int = PORT,
        statements: bool = True,
        log: Path | None = None,
        handicap: Handicap | None = None,
        confiner: Confiner | None = None,
        layout: Layout | None = None,
    ) -> None:
        """`data`: a cluster by create_cluster, or a copy of one. `log`: beside it if not said.

        `layout`: where its memory lies; None: where the kernel puts it (`layout.obstacle` says where that has to be).

        `confiner`: what confines it; nobody's page cache of `data` should then be left (`datasets.page_cache`).
        """
        self.install = install
        self.data = data
        self.socket_directory = socket_directory
        self.settings = check_settings(settings)
        self.account = account
        self.port = port
        self.statements = statements
        self.log = log or data.with_name(data.name + ".log")
        self.handicap = handicap
        self.confiner = confiner
        self.layout = layout
        self.confines: Confines | None = None
        """Its cgroups from its start to its end, where it is confined."""
        self._process: subprocess.Popen[bytes] | None = None
        self._asked: Mode | None = None
        self._segments: set[str] = set()
        self._written = Log(self.log)

    def start(self, *, deadline_s: float = START_S_MAX) -> float:
        """Launch it and wait until it accepts a connection; the milliseconds that took.

        UserError if it refuses one of the settings, WorldError with its own words otherwise.
        """
        import psycopg  # noqa: F401  (loaded before the clock runs)

        assert self._process is None, "started twice"
        self._asked = None
        socket_path(self.socket_directory, self.port)
        clear_stale_locks(self.data, self.socket_directory, self.port)
        self._write_settings()
        environment = {}
        if self.handicap is not None:
            environment = self.handicap.environment(make_counts(self.socket_directory, self.account))
        self._written.begin()
        try:
            # Between the launch and the note of it nothing may come, or nobody would stop the server.
            with interruption.shield(), self.log.open("ab") as log:
                if self.confiner is not None:
                    self.confines = self.confiner.make(self.data)
                begin = time.monotonic()
                if self.layout is None:
                    self._launch(log, environment, [])
                else:
                    loader = loader_of(self.install.postgres)
                    assert loader is not None, f"a layout for {self.install.postgres}, which has no loader"
                    with laid_out(self.layout):
                        self._launch(log, {**environment, **padding(self.layout)}, [str(loader)])
            self._await_connection(begin + deadline_s)
            start_ms = (time.monotonic() - begin) * 1000
            self._segments = processes.mapped_segments(self.pid)
            Known(self.install, self.account).require_loaded(self.settings, self.connect)
            self.handicap_counts()
        except BaseException:
            self.stop("immediate")
            raise
        return start_ms

    def stop(self, mode: Mode = "fast", *, deadline_s: float = STOP_S_MAX) -> Mode:
        """End it, harder and harder until it is gone; the way that did it.

        Only after "fast" is the data clean. A frozen server is thawed. Stopping what does not run is nothing.
        A request to end that comes meanwhile makes it hurry, and is raised when the server is gone.
        """
        with interruption.shield():
            if self._process is not None:
                mode = self._end(self._process, mode, deadline_s)
                self._process = None
            if self.confines is not None:
                self.confines.remove()
                self.confines = None
            return mode

    def ask_to_end(self, mode: Literal["fast", "immediate"]) -> None:
        """What `stop` asks first, without waiting; it still has to be stopped."""
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(_SIGNALS[mode])
            self._asked = mode

    def _launch(self, log: IO[bytes], environment: Mapping[str, str], loader: list[str]) -> None:
        command = [*loader, str(self.install.postgres), "-D", str(self.data)]
        where: dict[str, Any] = {
            "cwd": self.data,
            "stdout": log,
            "stderr": log,
            "environment": environment,
        }
        if self.confines is None:
            self._process = self.account.popen(command, **where)
            return
        # A server moved into its cgroups when it runs would have left pages outside. So a shell is moved, which has
        # nothing to lose, and becomes the postmaster then. It runs as the account, that may not move itself.
        self._process = self.account.popen([*_WHEN_TOLD, *command], stdin=subprocess.PIPE, **where)
        assert self._process.stdin is not None
        with (
            contextlib.suppress(BrokenPipeError),
            self._process.stdin as told,
        ):  # one that ended is met soon enough
            self.confines.take_in(self._process.pid)
            told.write(b"go\n")

    def _end(self, process: "subprocess.Popen[bytes]", mode: Mode, deadline_s: float) -> Mode:
        if process.poll() is not None:
            if self._asked is not None:
                processes.kill_all(self.data)
                return self._asked
            mode = "kill"  # it ended without being asked
        for step in _MODES[_MODES.index(mode) :]:
            if step == "kill":
                processes.kill_all(self.data, self._segments)
                process.wait()
            else:
                process.send_signal(_SIGNALS[step])
                pids = [process.pid, *processes.children_of(process.pid)]
                thaw_around(pids)
                processes.send(pids, signal.SIGCONT, self.data)
                _await_end(process.pid, deadline_s if step == "fast" else _IMMEDIATE_S_MAX, step)
            if process.poll() is not None:
                break
        # Orphans there are only if the postmaster did not end by itself.
        processes.kill_all(self.data)
        return step

    @property
    def pid(self) -> int:
        """The postmaster."""
        assert self._process is not None, "not running"
        return self._process.pid

    def pids(self) -> list[int]:
        """The postmaster and all its children as of now. Children come and go: ask again."""
        return [self.pid, *processes.children_of(self.pid)]

    def handicap_counts(self) -> HandicapCounts | None:
        """What its handicap did since the start, which itself takes a connection; None where there is no handicap.

        WorldError if the server does not spin as it was told to.
        """
        if self.handicap is None:
            return None
        return check_counts(
            read_counts(self.socket_directory / COUNTS_NAME),
            self.handicap.ns,
            whom=f"PostgreSQL {self.install.version}",
        )

    def connect(self, database: str = "postgres") -> "psycopg.Connection[tuple[Any, ...]]":
        """A connection that commits each statement."""
        import psycopg

        return psycopg.connect(
            host=str(self.socket_directory),
            port=self.port,
            user=SUPERUSER,
            dbname=database,
            application_name="pgverdict",
            client_encoding="UTF8",
            options="",  # else PGOPTIONS of the environment would change settings
            connect_timeout=30,
            autocommit=True,
        )

    @property
    def version(self) -> str:
        """As its install has it."""
        return self.install.version

    def create_database(self, name: str) -> None:
        """A new and empty one."""
        with self.connect() as connection:
            connection.execute(f"CREATE DATABASE {name}".encode())

    def log_tail(self, lines: int = 20) -> str:
        """The last lines that the server wrote since its latest start."""
        return self._written.tail(lines)

    def log_end(self, bytes_max: int) -> str:
        """The last whole lines that it wrote since its latest start, of so many bytes at most, also after its end."""
        return self._written.end(bytes_max)

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop("fast" if kind is None else "immediate")

    def _write_settings(self) -> None:
        text = render_settings(
            self.settings,
            socket_directory=self.socket_directory,
            port=self.port,
            statements=self.statements,
        )
        path = self.data / INCLUDED
        path.write_text(text)
        self.account.give(path)

    def _await_connection(self, deadline: float) -> None:
        import psycopg

        assert self._process is not None
        path = socket_path(self.socket_directory, self.port)
        while True:
            if self._process.poll() is not None:
                raise self._explain_death()
            if path.exists():
                try:
                    self.connect().close()
                    return
                except psycopg.OperationalError as error:
                    problem = str(error)  # "the database system is starting up", among others
                    if "could not access file" in problem and (blamed := self._blame(problem)):
                        raise blamed from error  # a library that every session is to load
            else:
                problem = "nobody listens on its socket"
            if time.monotonic() > deadline:
                raise WorldError(
                    f"PostgreSQL {self.install.version} did not accept connections in time: {problem}; "
                    f"it last said: {complaint_in(self.log_tail(50)) or 'nothing'}"
                )
            time.sleep(_POLL_S)

    def _explain_death(self) -> Exception:
        complaint = complaint_in(self.log_tail(50))
        assert self._process is not None
        return self._blame(complaint) or WorldError(
            f"PostgreSQL {self.install.version} did not start (exit code {self._process.returncode}): "
            f"{complaint or 'it said nothing'}"
        )

    def _blame(self, complaint: str) -> UserError | None:
        """The error of a user who gave a setting that the server complains about."""
        known = Known(self.install, self.account)
        return known.offer_nearest(complaint) or blame_settings(complaint, self.settings)


def _await_end(pid: int, timeout_s: float, step: Mode) -> None:
    deadline = time.monotonic() + timeout_s
    while (left_s := deadline - time.monotonic()) > 0 and not processes.wait_end(pid, min(left_s, _WAIT_S)):
        if step == "fast" and interruption.is_held_back():
            return
