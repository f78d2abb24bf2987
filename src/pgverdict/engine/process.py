"""The engine as a child process: one request, one closing message.

with Engine.start() as engine:
    engine.setup(clients=1, threads=1, cpus=(0,), scripts=..., variables={"scale": 10})
    engine.connect(0, where)
    done = engine.slice(0, seed=1, bound={"duration_us": 20_000}, discard={"duration_us": 5_000})
"""

import contextlib
import json
import select
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from pgverdict.engine import messages
from pgverdict.engine.binary import checkout_root, find_engine, source_identity
from pgverdict.errors import WorldError
from pgverdict.workloads.workload import STATEMENT_S, Program, Script, Task

SPARE_S = 15.0
"""What is silent for so much longer is the engine, stopped or lost."""

ANSWER_S = STATEMENT_S + SPARE_S

LOAD_S = 3600.0
"""A step of a load may be one long statement, of which nothing is heard meanwhile."""

END_S = 5.0
"""The engine promises its end within 100 ms of its input's; beyond this it is killed."""


EPOLL, IO_URING = "epoll", "io_uring"
"""How the engine's threads wait for their sockets."""

PLAY_S = 7 * 86400.0
"""What is bounded by its program may take days; a server that falls silent meanwhile is the engine's to notice."""


class EngineError(WorldError):
    """The engine refused a request or met a failure; `kind` and `arm` are the seam's words."""

    def __init__(self, message: str, *, kind: str, arm: int | None = None, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.kind = kind
        self.arm = arm


@dataclass(frozen=True)
class Where:
    """Where an arm's server listens."""

    socket_directory: Path
    port: int
    user: str
    database: str

    def as_request(self) -> dict[str, Any]:
        """The part of a request that says so."""
        return {
            "socket_directory": str(self.socket_directory),
            "port": self.port,
            "user": self.user,
            "database": self.database,
        }


@dataclass(frozen=True)
class Named:
    """Where a connection string says; it holds no password, which is handed over beside it if it is known."""

    dsn: str
    database: str
    password: str | None = field(default=None, repr=False)

    def as_request(self) -> dict[str, Any]:
        """The part of a request that says so."""
        return {"dsn": self.dsn, "password": self.password, "database": self.database}


class Engine:
    """A running engine. Closing it stops all load."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        self._buffer = b""
        self._statement_s = STATEMENT_S
        try:
            self.hello = messages.hello(self._expect("hello", ANSWER_S))
        except BaseException:
            self.close()
            raise

    @classmethod
    def start(cls, binary: Path | None = None) -> Self:
        """Start the engine and check that it is the one of this checkout, built for measuring."""
        path = binary or find_engine()
        try:
            # Its own session: Ctrl-C in the terminal is for us; the engine ends when its input does.
            process = subprocess.Popen(
                [path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
            )
        except OSError as error:
            raise WorldError(f"cannot start the engine {path}: {error.strerror}") from None
        engine = cls(process)
        try:
            engine._check(path)
        except WorldError:
            engine.close()
            raise
        return engine

    def _check(self, path: Path) -> None:
        if self.hello.protocol != messages.PROTOCOL:
            raise WorldError(
                f"the engine {path} speaks protocol {self.hello.protocol}, this package speaks {messages.PROTOCOL}",
                hint="`./x setup` builds the engine of this checkout",
            )
        if self.hello.profile != "release":
            raise WorldError(
                f"refusing to measure with a {self.hello.profile} build of the engine: {path}",
                hint="cargo build --release",
            )
        root = checkout_root()
        if root is not None and source_identity(root) != self.hello.identity:
            raise WorldError(
                f"the engine is stale: {path} was built from other sources than this checkout's",
                hint="`./x setup` builds it anew",
            )

    def setup(
        self,
        *,
        clients: int,
        threads: int,
        cpus: Sequence[int] | None,
        scripts: Sequence[Script],
        variables: Mapping[str, int | None],
        program: Program | None = None,
        statement_s: float = STATEMENT_S,
        allow: Sequence[str] = (),
        event_loop: str = EPOLL,
    ) -> messages.Ready:
        """Say what the clients of every arm will do: scripts, or a program, which gets the variables as parameters.

        A server that takes longer than `statement_s` for an answer in a slice is taken for frozen. `allow`: what
        scripts may do that is else refused, such as `shell`. `event_loop`: `io_uring` where the kernel allows it, else
        `epoll`; the answer says which it is.
        """
        self._statement_s = statement_s
        answer = self._ask(
            "ready",
            request="setup",
            clients=clients,
            threads=threads,
            cpus=None if cpus is None else list(cpus),
            mode="prepared",
            **({"allow": list(allow)} if allow else {}),
            **({"event_loop": event_loop} if event_loop != EPOLL else {}),
            **_work(scripts, variables, program),
        )
        return messages.ready(answer)

    def connect(self, arm: int, where: Where | Named) -> messages.Connected:
        """Open an arm's connections and prepare its statements."""
        return messages.connected(self._ask("connected", request="connect", arm=arm, **where.as_request()))

    def slice(
        self,
        arm: int,
        *,
        seed: int,
        bound: Mapping[str, int],
        discard: Mapping[str, int],
        keep: bool = True,
        tasks: Sequence[Sequence[Task]] | None = None,
    ) -> messages.SliceDone:
        """Let one arm work for a stretch. `tasks`: of each client, what its transactions are, in order."""
        request: dict[str, Any] = {
            "request": "slice",
            "arm": arm,
            "seed": seed,
            "keep": keep,
            "bound": dict(bound),
            "discard": dict(discard),
        }
        if tasks is not None:
            request["tasks"] = [
                [{"script": task.script, "variables": dict(task.variables)} for task in one] for one in tasks
            ]
        if self._statement_s != STATEMENT_S:
            request["statement_limit_us"] = round(self._statement_s * 1e6)
        self._send(request)
        answers = max((len(one) for one in tasks), default=1) if tasks else 1
        limit_s = answers * self._statement_s + SPARE_S + bound.get("duration_us", 0) / 1e6
        return messages.slice_done(self._expect("slice_done", limit_s))

    def play(self, arm: int, *, seed: int) -> messages.SliceDone:
        """Let one arm work until its program says that it is over, however long that takes."""
        self._send(
            {
                "request": "slice",
                "arm": arm,
                "seed": seed,
                "keep": True,
                "bound": "program",
                "discard": {"transactions_per_client": 0},
                "statement_limit_us": round(self._statement_s * 1e6),
            }
        )
        return messages.slice_done(self._expect("slice_done", PLAY_S))

    def totals(self, arm: int) -> messages.Totals:
        """What the arm's kept slices add up to since it was connected or last asked."""
        return messages.totals(self._ask("totals", request="totals", arm=arm, reset=True))

    def disconnect(self, arm: int) -> None:
        """Close an arm's connections."""
        self._ask("disconnected", request="disconnect", arm=arm)

    def load(
        self,
        where: Where | Named,
        lanes: Sequence[Sequence[Mapping[str, Any]]],
        progress: Callable[[int, int], None] = lambda _rows, _total: None,
    ) -> tuple[messages.TableLoaded, ...]:
        """Run a load, each lane's steps on a connection of its own; `progress` gets rows done and rows in all."""
        steps = [[dict(step) for step in lane] for lane in lanes]
        self._send({"request": "load", **where.as_request(), "lanes": steps})
        while True:
            answer = self._expect(("load_progress", "loaded"), LOAD_S)
            if answer["message"] == "loaded":
                return messages.tables_loaded(answer)
            progress(answer["rows"], answer["rows_total"])

    def close(self) -> None:
        """End the engine; kill it if it does not end by itself."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with contextlib.suppress(BrokenPipeError):  # it is gone already, and collected below
            self._process.stdin.close()
        try:
            self._process.wait(END_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _ask(self, closing: str, **request: Any) -> dict[str, Any]:
        self._send(request)
        return self._expect(closing, ANSWER_S)

    def _send(self, request: Mapping[str, Any]) -> None:
        assert self._process.stdin is not None
        line = json.dumps(request, allow_nan=False).encode() + b"\n"
        try:
            self._process.stdin.write(line)
            self._process.stdin.flush()
        except BrokenPipeError:
            raise self._gone() from None

    def _expect(self, wanted: str | tuple[str, ...], seconds: float) -> dict[str, Any]:
        """The next message, which must be one of those wanted; an `error` becomes an EngineError."""
        line = self._line(time.monotonic() + seconds)
        try:
            message: dict[str, Any] = json.loads(line)
        except ValueError:
            raise EngineError(
                f"the engine said something that is not JSON: {line[:200]!r}", kind="protocol"
            ) from None
        kind = message.get("message")
        if kind == "error":
            raise _error(message)
        if kind not in ((wanted,) if isinstance(wanted, str) else wanted):
            raise EngineError(f"the engine said {kind} where {wanted} was due", kind="protocol")
        return message

    def _line(self, deadline: float) -> bytes:
        assert self._process.stdout is not None
        descriptor = self._process.stdout.fileno()
        while b"\n" not in self._buffer:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([descriptor], [], [], left)[0]:
                raise EngineError("the engine did not answer in time", kind="protocol")
            chunk = self._process.stdout.read1(1 << 16)  # type: ignore[attr-defined]
            if not chunk:
                raise self._gone()
            self._buffer += chunk
        line, _, self._buffer = self._buffer.partition(b"\n")
        return line

    def _gone(self) -> EngineError:
        return EngineError(f"the engine ended by itself, exit code {self._process.wait()}", kind="protocol")


def _work(
    scripts: Sequence[Script], variables: Mapping[str, int | None], program: Program | None
) -> dict[str, Any]:
    """The part of `setup` that says what clients do."""
    if program is not None:
        return {"workload": {"name": program.name, "parameters": {**dict(program.parameters), **variables}}}
    return {
        "scripts": [{"name": s.name, "weight": s.weight, "text": s.text} for s in scripts],
        "variables": dict(variables),
    }


def _error(message: Mapping[str, Any]) -> EngineError:
    parts = [message["what"]]
    if message.get("detail"):
        code = f" (SQLSTATE {message['sqlstate']})" if message.get("sqlstate") else ""
        parts.append(f"the server said: {message['detail']}{code}")
    return EngineError("; ".join(parts), kind=message["kind"], arm=message.get("arm"))
