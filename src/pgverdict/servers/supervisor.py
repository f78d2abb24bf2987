"""A small process that stops our servers when we end, however we end.

SIGKILL runs no handler, and a frozen server outlives everybody. So a process of its own session holds a
pipe from us; when the pipe closes, because we closed it or because the kernel did, it stops all servers
that run in the directories it was told to watch, and deletes the socket directories. Directories, not
process ids: there is no moment between a server's launch and its registration.

If the supervisor itself is killed it is started again at the next word to it, or before the next server is
launched (`revive`); if both are, `sweep` in
`workspace` cleans up at the next start. It has no parent-death signal: the pipe says the same, and is not
fooled when a mere thread of ours ends.
"""

import contextlib
import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

import pgverdict
from pgverdict.errors import WorldError
from pgverdict.servers import processes

_END_S_MAX = 15.0

_PROGRAM = (
    "import sys; sys.path.append(sys.argv[1]); from pgverdict.servers.supervisor_process import main; main()"
)
"""Isolated Python (-I -S) knows no path to us, and needs nothing but the standard library: 30 ms to start."""


class Supervisor:
    """Stops servers at the latest when this object is closed or this process ends."""

    def __init__(self) -> None:
        self._orders: dict[tuple[str, str], None] = {}
        self._process = _launch()

    @property
    def pid(self) -> int:
        return self._process.pid

    def watch(self, directory: Path) -> None:
        """From now on no server whose data directory is `directory` or below it outlives us."""
        self._add("watch", directory)

    def remove(self, directory: Path) -> None:
        """At the end delete this directory, which must be marked as ours."""
        self._add("remove", directory)

    def run_at_end(self, command: Sequence[str]) -> None:
        """At the end run this, whatever comes of it: it removes what is no process of ours."""
        self._add("run", json.dumps(list(command)))

    def revive(self) -> None:
        """Start it again if somebody killed it: to be called before a server is launched."""
        if self._process.poll() is not None:
            self._replace()

    def close(self) -> None:
        """Stop what still runs, delete what was to be deleted, end the supervisor."""
        _close_input(self._process)
        try:
            self._process.wait(_END_S_MAX)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
            raise WorldError(f"servers could not be stopped in time: {self._left()}") from None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _add(self, verb: str, directory: Path | str) -> None:
        self._orders[verb, str(directory)] = None
        self._say(verb, directory)

    def _left(self) -> str:
        """What still runs in the directories that are watched."""
        watched = [Path(directory) for verb, directory in self._orders if verb == "watch"]
        found = [f"process {pid} in {place}" for place in watched for pid in processes.running_in(place)]
        return ", ".join(found) or "all have ended by now"

    def _say(self, verb: str, directory: Path | str) -> None:
        try:
            _write(self._process, verb, str(directory))
        except BrokenPipeError:
            self._replace()

    def _replace(self) -> None:
        """Nothing is lost: all that the killed one knew is known here."""
        _close_input(self._process)
        self._process.wait()
        self._process = _launch()
        for verb, directory in self._orders:
            _write(self._process, verb, directory)


def _launch() -> "subprocess.Popen[bytes]":
    root = Path(pgverdict.__file__).parent.parent
    process = subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", _PROGRAM, str(root)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        cwd="/",
        bufsize=0,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    with process.stdout, process.stderr:
        if process.stdout.readline() != b"ready\n":
            story = process.stderr.read().decode(errors="replace").strip()
            _close_input(process)
            process.wait()
            raise WorldError(f"cannot start the process that watches over servers: {story}")
    return process


def _write(process: "subprocess.Popen[bytes]", verb: str, directory: str) -> None:
    assert process.stdin is not None
    process.stdin.write(json.dumps({verb: directory}).encode() + b"\n")


def _close_input(process: "subprocess.Popen[bytes]") -> None:
    assert process.stdin is not None
    with contextlib.suppress(BrokenPipeError):
        process.stdin.close()
