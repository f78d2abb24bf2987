"""./x bench pairs: print what the recorded rounds say; with --take RUN, record those of a stored run first.

./x bench pairs                              the tables, from the recorded files alone
./x bench pairs --take RUN [--store URL]     of a run of one cell of two arms on fresh copies
"""

import argparse
import csv
import gzip
import io
import sys
from pathlib import Path

from bench.ending import run_and_leave
from bench.verdicts.measure import ROOT, revision_of_checkout
from pgverdict.cli.stores import open_existing_store
from pgverdict.records.run import RunRecord
from pgverdict.report.command import compare_command

from .table import COLUMNS, read, table

RESULTS = ROOT / "bench" / "results" / "pairs"


def main(arguments: list[str]) -> None:
    """Record if asked to, then print."""
    parser = argparse.ArgumentParser(prog="./x bench pairs", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--take", metavar="RUN", help="record the slices of this run")
    parser.add_argument("--store", metavar="URL", help="where the run is kept")
    options = parser.parse_args(arguments)
    if options.take:
        with open_existing_store(options.store) as opened:
            print(f"recorded {take(opened.load_run(options.take), revision_of_checkout())}", file=sys.stderr)
    for path in sorted(RESULTS.glob("*.csv.gz")):
        rounds = read(path)
        print(f"{rounds.facts}\n\n{table(rounds)}\n")


def take(run: RunRecord, revision: str) -> Path:
    """Write the slices of a run; the host's name says nothing about the measurement, and is left out."""
    host = ", ".join(f"{name} {value}" for name, value in run.host if name != "name")
    facts = f"{run.started}, {compare_command(run)}, of revision {revision}, on {host}"
    RESULTS.mkdir(parents=True, exist_ok=True)
    partial = RESULTS / f".{run.id}"
    with gzip.GzipFile(partial, "wb", mtime=0) as packed:
        packed.write(f"# {facts}\n{_rows(run)}".encode())
    return partial.rename(RESULTS / f"{run.id}.csv.gz")


def _rows(run: RunRecord) -> str:
    lines = io.StringIO(newline="")
    writer = csv.writer(lines, lineterminator="\n")
    writer.writerow(COLUMNS)
    for number, record in enumerate(run.cells[0].measured):
        plan = record.plan
        orders = (plan.start_order[0] == 1, plan.connect_order[0] == 1, plan.slots[1] == 1)
        for s in record.slices:
            writer.writerow(
                (
                    *(number, f"{record.seconds:.4f}", *map(int, orders), s.pair, s.arm),
                    *(s.begun_at_ns, s.ended_at_ns, s.transactions, s.busy_ns, f"{s.latency.p50_ns:g}"),
                )
            )
    return lines.getvalue()


if __name__ == "__main__":
    run_and_leave(lambda: main(sys.argv[1:]))
