"""A server that stands still for half a second while transactions arrive at a fixed rate, and what is said of it.

Arrivals go on while the server stands, so the truth is known without any client: of a run of T seconds in which the
server stands for S, a share S / T of the arrivals hits the stall, and these wait between nothing and S, evenly; the
backlog drains at once beside that. Above x wait (S - x) / T of all, so that

    mean = S^2 / (2 T),    the q-quantile = S - (1 - q) T    where that is more than 0

apart from the few tens of microseconds that a transaction takes (added from the run itself: its median).
"""

import json
import os
import signal
import subprocess
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from pgverdict.errors import WorldError
from pgverdict.servers.server import Server

from .programs import Program

RATE_HZ = 1000
SECONDS = 6.0
STALL_S = 0.5
LIMIT_MS = 50


@dataclass(frozen=True)
class Stalled:
    """One run of ours. `arrivals` is all that was due; every one of them is in one of the four counts."""

    limit_ms: int | None
    stall_s: float
    """As long as it really was."""
    mean_us: float
    p50_us: float
    p99_us: float
    done: int
    failed: int
    skipped: int
    not_begun: int

    @property
    def truth_us(self) -> tuple[float, float]:
        """Mean and 99th percentile."""
        mean = self.stall_s**2 / (2 * SECONDS)
        p99 = max(0.0, self.stall_s - 0.01 * SECONDS)
        return 1e6 * mean + self.p50_us, 1e6 * p99 + self.p50_us

    @property
    def arrivals(self) -> int:
        return self.done + self.failed + self.skipped + self.not_begun


def run_stalled(program: Program, server: Server, *, limit_ms: int | None) -> Stalled:
    """Three seconds in, all server processes of clients stand still for STALL_S."""
    with tempfile.TemporaryDirectory() as directory:
        results = Path(directory) / "results.json"
        limit = [] if limit_ms is None else ["-L", str(limit_ms)]
        with subprocess.Popen(
            [
                program.path, "-n", "-S", "-M", "prepared", "-c", "8", "-j", "1", "-R", str(RATE_HZ),
                "-T", f"{SECONDS:g}", *limit, f"--json={results}", "-h", server.socket_directory, "-U", "postgres",
                "postgres",
            ],
            stdout=subprocess.DEVNULL,
        ) as process:  # fmt: skip
            time.sleep(SECONDS / 2)
            stall_s = _stand_still(server)
            if process.wait() != 0:
                raise WorldError(
                    f"{program.path} failed while the server stood still: exit code {process.returncode}",
                    hint="what it said stands above",
                )
        said = json.loads(results.read_text())
    # Those that were turned away for being late waited as long as they were late.
    response = said["arrivals_us"]
    return Stalled(
        limit_ms=limit_ms,
        stall_s=stall_s,
        mean_us=response["mean"],
        p50_us=response["p50"],
        p99_us=response["p99"],
        done=said["transactions"],
        failed=said["serialization_failures"] + said["deadlock_failures"],
        skipped=said["skipped"],
        not_begun=said["due_and_not_begun"],
    )


def _stand_still(server: Server) -> float:
    with server.connect() as connection:
        # Of others than this connection: it goes on to be closed.
        query = "SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"
        pids = [pid for (pid,) in connection.execute(query).fetchall()]
    try:
        for pid in pids:
            os.kill(pid, signal.SIGSTOP)
        begun = time.monotonic()
        time.sleep(STALL_S)
    finally:
        for pid in pids:
            os.kill(pid, signal.SIGCONT)
    return time.monotonic() - begun


def as_json(found: Stalled) -> dict[str, object]:
    """With what is true of it."""
    mean, p99 = found.truth_us
    return {**asdict(found), "true_mean_us": mean, "true_p99_us": p99, "arrivals": found.arrivals}


def table(found: list[Stalled]) -> str:
    """Markdown: what is said, and what is true."""
    lines = [
        "| latency limit | stall | mean: said / true | p99: said / true | arrivals | done | skipped | not begun |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for one in found:
        mean, p99 = one.truth_us
        limit = "none" if one.limit_ms is None else f"{one.limit_ms} ms"
        lines.append(
            f"| {limit} | {1e3 * one.stall_s:.0f} ms | {one.mean_us / 1e3:.1f} / {mean / 1e3:.1f} ms"
            f" ({one.mean_us / mean:.2f}) | {one.p99_us / 1e3:.0f} / {p99 / 1e3:.0f} ms ({one.p99_us / p99:.2f})"
            f" | {one.arrivals:,} | {one.done:,} | {one.skipped:,} | {one.not_begun:,} |"
        )
    return "\n".join(lines)
