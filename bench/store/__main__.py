"""./x bench store: a store of 10 000 cells with 20 rounds each, and how long it takes to show what is in it.

./x bench store                             make one, time everything seven times, keep the medians
./x bench store --place FILE                the same, with a store that stays (and is used if it is there)
./x bench store --show FILE                 print what is recorded
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from time import perf_counter

from bench.ending import run_and_leave
from bench.verdicts.measure import ROOT, revision_of_checkout
from pgverdict.errors import WorldError
from pgverdict.observe.host import host_facts

from .filled import fill

RESULTS = ROOT / "bench" / "results" / "store"
SERIES = ROOT / "bench" / "results" / "verdicts-12-pairs" / "series-select"
GOALS_S = {"report": 2.0, "list runs": 0.3}
"""What a person waits for without thinking of something else."""


def main(words: list[str]) -> None:
    """Measure, or show what was measured."""
    options = _options(words)
    if options.show is not None:
        print(page(json.loads(options.show.read_text(encoding="utf-8"))))
        return
    with tempfile.TemporaryDirectory(prefix="pgv-store-", dir="/var/tmp") as folder:
        store = options.place or Path(folder, "runs.sqlite")
        if not store.exists():
            print(f"filling {store}", file=sys.stderr)
            fill(store, SERIES, runs=options.runs, cells=options.cells, rounds=options.rounds)
        seconds = {what: _time(what, store, options.times) for what in (*GOALS_S, "--version")}
        size = store.stat().st_size
    now = datetime.now(UTC)
    document = {
        "date": now.isoformat(timespec="seconds"),
        "revision": revision_of_checkout(),
        "command": " ".join(["./x bench store", *words]),
        "host": {name: value for name, value in host_facts() if name != "name"},
        "python": platform.python_version(),
        "made_of": "bench/results/verdicts-12-pairs/series-select, the other columns made up: bench/store/filled.py",
        "runs": options.runs,
        "cells_of_run": options.cells,
        "rounds_of_cell": options.rounds,
        "store_bytes": size,
        "seconds": seconds,
        "goals_s": GOALS_S,
    }
    print(page(document))
    RESULTS.mkdir(parents=True, exist_ok=True)
    place = RESULTS / f"{now:%Y-%m-%d-%H%M}.json"
    place.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    print(f"written: {place.relative_to(ROOT)}", file=sys.stderr)


def _options(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="./x bench store", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--runs", type=int, default=250, metavar="N", help="runs in the store")
    parser.add_argument("--cells", type=int, default=40, metavar="N", help="cells of a run")
    parser.add_argument("--rounds", type=int, default=20, metavar="N", help="rounds of a cell")
    parser.add_argument("--times", type=int, default=7, metavar="N", help="how often each command is timed")
    parser.add_argument("--place", type=Path, metavar="FILE", help="where the store is, or is made")
    parser.add_argument("--show", type=Path, metavar="FILE", help="only print a file of results")
    return parser.parse_args(words)


def _time(what: str, store: Path, times: int) -> list[float]:
    """A whole process each, from its start to its end. One before is not counted: it fills the page cache, and
    leaves compiled modules behind as an installation does.
    """
    command = [sys.executable, "-m", "pgverdict", *what.split()]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    if what != "--version":
        command += ["--store", str(store)]
    taken = []
    for _ in range(times + 1):
        begun = perf_counter()
        done = subprocess.run(command, capture_output=True, env=environment, text=True, check=False)
        taken.append(perf_counter() - begun)
        if done.returncode != 0:
            raise WorldError(f"cannot time `pgverdict {what}`: {done.stderr.strip()}")
    return taken[1:]


def page(document: dict[str, object]) -> str:
    """Medians beside their goals."""
    seconds: dict[str, list[float]] = document["seconds"]  # type: ignore[assignment]
    goals: dict[str, float] = document["goals_s"]  # type: ignore[assignment]
    cells = int(str(document["runs"])) * int(str(document["cells_of_run"]))
    lines = [
        f"{document['date']}, revision {document['revision']}",
        f"{cells:,} cells of {document['rounds_of_cell']} rounds in {document['runs']} runs,"
        f" {int(str(document['store_bytes'])) / 1e9:.2f} GB of SQLite",
        "",
    ]
    for what, taken in seconds.items():
        goal = f"goal {goals[what]:g} s" if what in goals else "nothing but the start of the program"
        lines.append(
            f"pgverdict {what:<10} {median(taken):6.2f} s ({min(taken):.2f} to {max(taken):.2f}), {goal}"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    run_and_leave(lambda: main(sys.argv[1:]))
