"""A load generator, run once: what it said, and what the kernel says it used."""

import os
import re
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, sleep

from pgverdict.errors import WorldError


@dataclass(frozen=True)
class Program:
    """`name` is how results call it."""

    name: str
    path: Path

    def version(self) -> str:
        """What it says of itself."""
        return subprocess.run(
            [self.path, "--version"], check=True, capture_output=True, text=True
        ).stdout.strip()


@dataclass(frozen=True)
class Used:
    """One run of a program. `rss_bytes` is the most it had in memory, looked at every LOOK_S; 0 if it was not."""

    said: str
    user_s: float
    system_s: float
    wall_s: float
    rss_bytes: int

    @property
    def cpu_s(self) -> float:
        return self.user_s + self.system_s

    @property
    def transactions(self) -> int:
        return int(_found(r"number of transactions actually processed: (\d+)", self.said))

    @property
    def generate_s(self) -> float:
        """Of `-i`: what the step that sends the rows took."""
        return float(_found(r"client-side generate ([\d.]+) s", self.said))

    @property
    def tps(self) -> float:
        return float(_found(r"^tps = ([\d.]+)", self.said))


def _found(pattern: str, text: str) -> str:
    match = re.search(pattern, text, re.MULTILINE)
    if match is None:
        raise WorldError(
            f"no such line in the report of a load generator: {pattern}: {text.strip()[-300:]}",
            hint="is it a pgbench? --pgbench names another",
        )
    return match[1]


LOOK_S = 0.2


def run(program: Program, arguments: list[str], *, core: int | None = None, weighed: bool = False) -> Used:
    """Run it to its end, on one core if said; WorldError with its own words if it fails.

    `weighed`: its memory is looked at while it runs. (What the kernel says when it has ended begins with what we had
    when it was forked.)

    The time it used is the kernel's account of the process when it ended, all its threads included.
    """

    def settle() -> None:
        if core is not None:
            os.sched_setaffinity(0, {core})

    begun = monotonic()
    # Output in files: nobody but the program itself is to be awake while it runs.
    with (
        tempfile.TemporaryFile() as out,
        tempfile.TemporaryFile() as err,
        subprocess.Popen([program.path, *arguments], stdout=out, stderr=err, preexec_fn=settle) as process,
    ):
        rss_bytes = _weigh(process.pid) if weighed else 0
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        wall_s = monotonic() - begun
        out.seek(0)
        err.seek(0)
        said, complained = out.read().decode(), err.read().decode()
    if process.returncode:
        raise WorldError(f"{program.path} {' '.join(arguments)} failed: {complained.strip()[-500:]}")
    return Used(said + complained, usage.ru_utime, usage.ru_stime, wall_s, rss_bytes)


def _weigh(pid: int) -> int:
    """The most memory it had, until it ends; it is not waited for."""
    most = 0
    while os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
        status = Path(f"/proc/{pid}/status").read_text(encoding="ascii", errors="replace")
        peak = re.search(r"^VmHWM:\s+(\d+) kB", status, re.MULTILINE)
        most = max(most, int(peak[1]) * 1024 if peak else 0)
        sleep(LOOK_S)
    return most
