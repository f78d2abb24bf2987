"""Whether what a load generator takes grows with how long it runs: its memory, sampled, and the slope of that.

The script touches what could keep something: variables, rows that are stored, per-command figures, histograms, and the
lines of progress. Transactions come at a fixed rate, so that an hour says how many they are.
"""

import re
import subprocess
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from pgverdict.errors import WorldError

SCRIPT = "\\set a random(1, 1000)\nselect :a as a, 'x' || :a as b \\gset p_\nselect :p_a;\n"
RATE_HZ = 2000
SETTLED_SHARE = 0.1
"""Of the time: what is taken before is not growth, but beginning."""
GROWTH_BYTES_MOST = 256 * 1024
"""Over the whole time, settled: what an allocator may still round up."""


@dataclass(frozen=True)
class Watched:
    """A run and the memory it had: (seconds since its beginning, bytes) of every look."""

    seconds: float
    transactions: int
    looks: tuple[tuple[float, int], ...]

    @property
    def growth_bytes(self) -> float:
        """What a straight line through the settled looks, by least squares, rises from their first to their last."""
        return growth_bytes(self.looks, settled_s=SETTLED_SHARE * self.seconds)

    @property
    def is_flat(self) -> bool:
        return self.growth_bytes <= GROWTH_BYTES_MOST


def growth_bytes(looks: Sequence[tuple[float, int]], *, settled_s: float) -> float:
    """What a straight line through the looks after `settled_s`, by least squares, rises from first to last.

    >>> growth_bytes([(0, 5), (1, 100), (2, 110), (3, 120)], settled_s=1)
    20.0
    """
    when, size = np.array([look for look in looks if look[0] >= settled_s], dtype=float).T
    slope = np.polyfit(when - when[0], size, 1)[0]
    return round(float(slope * (when[-1] - when[0])), 6)


def watch(
    program: Path, directory: Path, *, seconds: float, rate_hz: int = RATE_HZ, look_s: float = 1.0
) -> Watched:
    """Run it so long against the server whose socket is in `directory`; WorldError if it fails."""
    with tempfile.TemporaryDirectory(prefix="pgv-memory-") as place:
        script = Path(place) / "script.sql"
        script.write_text(SCRIPT, encoding="utf-8")
        words: list[str | Path] = [
            program, "-n", "-M", "prepared", "-c", "8", "-j", "2", "-R", str(rate_hz), "-T", f"{seconds:g}", "-r",
            "-P", "10", "--percentiles", "-f", script, "-h", directory, "-U", "postgres", "postgres",
        ]  # fmt: skip
        with (
            (Path(place) / "told").open("w+") as told,
            subprocess.Popen(
                words, stdin=subprocess.DEVNULL, stdout=told, stderr=subprocess.STDOUT
            ) as process,
        ):
            looks = looks_at(process, look_s=look_s)
            told.seek(0)
            text = told.read()
    done = re.search(r"actually processed: (\d+)", text)
    if process.returncode or done is None:
        raise WorldError(f"{program} failed while its memory was watched: {text.strip()[-500:]}")
    return Watched(seconds, int(done[1]), tuple(looks))


def looks_at(process: "subprocess.Popen[bytes]", *, look_s: float) -> list[tuple[float, int]]:
    """The memory of a process until it ends, a look every so many seconds."""
    begun, looks = time.monotonic(), []
    while process.poll() is None:
        if (size := resident_bytes(process.pid)) is not None:
            looks.append((round(time.monotonic() - begun, 3), size))
        time.sleep(look_s)
    return looks


def resident_bytes(pid: int) -> int | None:
    """What it has in memory now; None where it has ended."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii", errors="replace")
    found = re.search(r"^VmRSS:\s+(\d+) kB", status, re.MULTILINE)
    return int(found[1]) * 1024 if found else None


def told(watched: Watched) -> str:
    """One sentence for the page."""
    last = watched.looks[-1][1] if watched.looks else 0
    return (
        f"Memory in {watched.seconds / 60:g} minutes at {RATE_HZ} transactions per second"
        f" ({watched.transactions:,} in all, 8 clients): {last / 1e6:.1f} MB at the end, growth"
        f" {watched.growth_bytes / 1e3:+.0f} KB (at most {GROWTH_BYTES_MOST / 1024:g} KiB:"
        f" {'met' if watched.is_flat else 'missed'})."
    )
