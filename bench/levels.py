"""Where the scatter between rounds comes from, and what takes it away: `./x bench levels`.

Two equal servers are compared under several treatments of the servers. Runs of a few rounds each take turns
in random order, so that all treatments see the same hours of the host. What is compared is the standard
deviation of a round's log ratio: with 0.7 % instead of 1 % the same verdict takes half the rounds.

    ./x bench levels                          the table, from what is recorded
    ./x bench levels --measure --minutes 20   measure on; may be stopped and taken up again

Nothing on the host is changed. `huge-pages` wants enough of them reserved (`sysctl vm.nr_hugepages=700`) and is
left out, aloud, where they are not.
"""

import argparse
import csv
import math
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from scipy import stats

from pgverdict.judge.estimate import Estimate, estimate
from pgverdict.judge.values import Question, values
from pgverdict.observe.host import host_facts
from pgverdict.records.round import RoundRecord
from pgverdict.store.opening import open_store

RESULTS = Path(__file__).parent / "results" / "levels"
ROUNDS = 16
METRICS = ("latency_us_p50", "latency_us_mean", "server_cpu_us_per_txn")
SHARED_BUFFERS_MB = 512
HUGE_PAGE_MB = 2


@dataclass(frozen=True)
class Treatment:
    """`prefix` goes before the command: what it sets is inherited by every server."""

    name: str
    about: str
    prefix: tuple[str, ...] = ()
    options: tuple[str, ...] = ()


_FIXED = ("setarch", "-R")
_HUGE = ("--set", "huge_pages=on")
PLAIN = "plain"
TREATMENTS = (
    Treatment(PLAIN, "as every run"),
    Treatment("fixed-addresses", "address space layout not randomised (setarch -R)", _FIXED),
    Treatment("huge-pages", "shared memory in huge pages", (), _HUGE),
    Treatment("huge-pages-fixed-addresses", "both", _FIXED, _HUGE),
)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure if asked to, then print the table."""
    parser = argparse.ArgumentParser(prog="./x bench levels", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--measure", action="store_true")
    parser.add_argument("--minutes", type=float, default=20)
    parser.add_argument("--server", default="17")
    chosen = parser.parse_args(arguments)
    if chosen.measure:
        measure(chosen.server, until=time.monotonic() + 60 * chosen.minutes)
    print(table(read(RESULTS)))


def measure(server: str, *, until: float) -> None:
    """Runs of ROUNDS rounds, the treatment with the fewest first, ties by lot."""
    possible = [t for t in TREATMENTS if not t.options or _huge_pages_fit()]
    for left_out in set(TREATMENTS) - set(possible):
        print(f"left out: {left_out.name}: too few huge pages are reserved", file=sys.stderr)
    RESULTS.mkdir(parents=True, exist_ok=True)
    while time.monotonic() < until:
        done = {t.name: len(list(RESULTS.glob(f"{t.name}.*.csv"))) for t in possible}
        treatment = min(possible, key=lambda t: (done[t.name], random.random()))
        _run(server, treatment)


def _run(server: str, treatment: Treatment) -> None:
    command = ["compare", server, server, "--rounds", str(ROUNDS), "--budget", "1h", *treatment.options,
               "--set", f"shared_buffers={SHARED_BUFFERS_MB}MB", "--html", os.devnull]  # fmt: skip
    with tempfile.TemporaryDirectory() as scratch:
        store = str(Path(scratch) / "runs.sqlite")
        subprocess.run(
            [*treatment.prefix, sys.executable, "-m", "pgverdict", *command, "--store", store], check=True,
            stdout=subprocess.DEVNULL,
        )  # fmt: skip
        with open_store(store) as opened:
            run = opened.load_run()
    name = f"{treatment.name}.{datetime.now(UTC):%Y%m%dT%H%M%S}.csv"
    partial = RESULTS / f".{name}"
    with partial.open("w", newline="") as file:
        host = ", ".join(f"{key} {value}" for key, value in host_facts())
        file.write(f"# pgverdict {' '.join(command)}; {treatment.about}; {run.started}; {host}\n")
        rows = csv.writer(file)
        rows.writerow(["started_first", "connected_first", "slot", *METRICS])
        for record in run.cells[0].measured:
            rows.writerow([*_orders(record), *(f"{_log_ratio(record, metric):.7f}" for metric in METRICS)])
    partial.rename(RESULTS / name)
    print(f"recorded {name}", file=sys.stderr)


def _orders(record: RoundRecord) -> tuple[int, int, int]:
    """Candidate started first, candidate connected first, candidate in the second directory."""
    plan = record.plan
    return (int(plan.start_order[0] == 1), int(plan.connect_order[0] == 1), int(plan.slots[1] == 1))


def _log_ratio(record: RoundRecord, metric: str) -> float:
    found = values(record, Question(metric), clients=1)
    return math.nan if found is None else found.log_ratio


def _huge_pages_fit() -> bool:
    free = Path("/proc/meminfo").read_text().split("HugePages_Free:")[1].split()[0]
    return int(free) * HUGE_PAGE_MB > 2 * 1.1 * SHARED_BUFFERS_MB


def read(folder: Path) -> dict[str, np.ndarray]:
    """All rounds of each treatment, one row each: three orders, then METRICS."""
    found: dict[str, list[list[float]]] = {}
    for path in sorted(folder.glob("*.csv")):
        rows = list(csv.reader(line for line in path.read_text().splitlines() if not line.startswith("#")))
        found.setdefault(path.name.split(".")[0], []).extend([float(x) for x in row] for row in rows[1:])
    return {name: np.array(rows) for name, rows in found.items()}


def table(recorded: dict[str, np.ndarray]) -> str:
    """Standard deviations with 90 % limits, and the variance against plain with its F limits."""
    lines = [
        "| treatment | rounds | metric | sd of a round [90 %] | variance against plain [90 %] | started first |",
        "|---|---|---|---|---|---|",
    ]
    for treatment in TREATMENTS:
        if treatment.name not in recorded:
            continue
        for number, metric in enumerate(METRICS):
            found = _estimate(recorded[treatment.name], number)
            low, high = (found.df / stats.chi2.ppf(p, found.df) for p in (0.95, 0.05))
            sd = float(found.sd)
            against = ""
            if treatment.name != PLAIN and PLAIN in recorded:
                plain = _estimate(recorded[PLAIN], number)
                ratio = sd**2 / float(plain.sd) ** 2
                ends = [ratio / stats.f.ppf(p, found.df, plain.df) for p in (0.95, 0.05)]
                against = f"{ratio:.2f} [{ends[0]:.2f}, {ends[1]:.2f}]"
            first = recorded[treatment.name]
            moved = estimate(
                (first[:, 3 + number]) * np.where(first[:, 0] == 1, 1, -1), np.empty((len(first), 0))
            )
            started = f"{float(moved.log_ratio):+.2%} +- {1.645 * float(moved.standard_error):.2%}"
            lines.append(
                f"| {treatment.name} | {len(first)} | {metric} | {sd:.2%} [{sd * low**0.5:.2%},"
                f" {sd * high**0.5:.2%}] | {against} | {started} |"
            )
    return "\n".join(lines)


def _estimate(rows: np.ndarray, metric: int) -> Estimate:
    return estimate(rows[:, 3 + metric], rows[:, :3] - 0.5)


if __name__ == "__main__":
    main()
