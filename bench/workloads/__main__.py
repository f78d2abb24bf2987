"""./x bench workloads: what our workloads cost beside other programs, side by side; prints a table, writes JSON.

./x bench workloads                               all cases, 5 repetitions
./x bench workloads --cases tpcc-run --repetitions 9
./x bench workloads --tiny                        seconds each, only to see that everything works; writes nothing
./x bench workloads --show FILE                   only the table of what is recorded
"""

import argparse
import json
import os
import sys
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

from bench.ending import run_and_leave
from bench.verdicts.measure import ROOT, revision_of_checkout
from pgverdict.errors import UserError, unknown_word
from pgverdict.observe.host import host_facts
from pgverdict.run.site import measuring_alone

from . import tpcc
from .case import Case
from .figures import OURS, Run, compare, table

RESULTS = ROOT / "bench" / "results" / "workloads"
CASES: tuple[Case, ...] = (*tpcc.CASES,)


def main(words: list[str]) -> None:
    """Measure, or show what was measured."""
    options = _parse(words)
    if options.show is not None:
        print(_page(json.loads(options.show.read_text(encoding="utf-8"))))
        return
    names = [case.name for case in CASES]
    for name in options.cases or ():
        if name not in names:
            raise unknown_word("case", name, names)
    chosen = [case for case in CASES if not options.cases or case.name in options.cases]
    for case in chosen:
        case.get_ready()
    with measuring_alone():
        document = _measure(chosen, repetitions=options.repetitions, tiny=options.tiny)
    print(_page(document))
    if options.tiny:
        print("\nThese were of a tiny size, whatever the titles say, and mean nothing.")
        return
    RESULTS.mkdir(parents=True, exist_ok=True)
    place = RESULTS / f"{datetime.now(UTC):%Y-%m-%d-%H%M}.json"
    place.write_text(_text(document), encoding="utf-8")
    print(f"written: {place.relative_to(ROOT)}", file=sys.stderr)


def _parse(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="./x bench workloads", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--cases", nargs="+", metavar="CASE", help="these only")
    parser.add_argument(
        "--repetitions", type=int, default=5, metavar="N", help="both programs in turn, so often"
    )
    parser.add_argument("--tiny", action="store_true", help="a size that shows only that everything works")
    parser.add_argument("--show", type=Path, metavar="FILE", help="only print the table of a file of results")
    options = parser.parse_args(words)
    if options.repetitions < 1:
        raise UserError(
            f"too few repetitions: {options.repetitions}", hint="5 or more give a median worth telling"
        )
    return options


def _measure(cases: Sequence[Case], *, repetitions: int, tiny: bool) -> dict[str, object]:
    runs: list[Run] = []
    for case in cases:
        size = case.tiny if tiny else case.size
        print(f"{case.name}: {case.title}: making ready", file=sys.stderr)
        with case.opened(size) as (ours, theirs):
            for number in range(repetitions):
                both = [(OURS, ours), (case.rival, theirs)]
                for program, side in both if number % 2 == 0 else both[::-1]:
                    figures = dict(side())
                    runs.append(Run(case.name, number, program, figures))
                    told = ", ".join(f"{name} {value:.4g}" for name, value in figures.items())
                    print(f"repetition {number + 1}: {case.name}: {program}: {told}", file=sys.stderr)
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "revision": revision_of_checkout(),
        "rivals": {case.name: case.rival for case in cases},
        "sizes": {case.name: asdict(case.tiny if tiny else case.size) for case in cases},
        "host": {name: value for name, value in host_facts() if name != "name"},
        "runs": [asdict(one) for one in runs],
    }


def _text(document: dict[str, object]) -> str:
    """JSON with a line per run."""
    head = {name: value for name, value in document.items() if name != "runs"}
    parts = [f'"{name}": {json.dumps(value)}' for name, value in head.items()]
    rows = ",\n  ".join(json.dumps(row) for row in document["runs"])  # type: ignore[attr-defined]
    parts.append(f'"runs": [\n  {rows}\n ]')
    return "{\n " + ",\n ".join(parts) + "\n}\n"


def _page(document: dict[str, object]) -> str:
    runs = [Run(**row) for row in document["runs"]]  # type: ignore[attr-defined]
    return f"{document['date']}, revision {document['revision']}\n\n{table(compare(runs, CASES))}"


if __name__ == "__main__":
    os.environ.pop("PGOPTIONS", None)
    run_and_leave(lambda: main(sys.argv[1:]))
