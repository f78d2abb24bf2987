"""./x bench workloads: what our workloads cost beside other programs, side by side; prints a table, writes JSON.

./x bench workloads                               all cases, until each has 5 repetitions
./x bench workloads --cases tpcc-run --repetitions 9
./x bench workloads --cases tpch-load --minutes 8 no repetition is begun after that; the same command goes on
./x bench workloads --cases ycsb-c-8 --anew       what is recorded of the case is dropped first
./x bench workloads --tiny                        seconds each, only to see that everything works; writes nothing
./x bench workloads --show                        only the page of what is recorded
"""

import argparse
import os
import sys
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from bench.ending import check_minutes, run_and_leave
from bench.verdicts.measure import ROOT, revision_of_checkout
from pgverdict.engine.binary import source_identity
from pgverdict.errors import UserError, WorldError, unknown_word
from pgverdict.observe.host import host_facts
from pgverdict.run.site import measuring_alone

from . import copying, inserting, sysbench, tpcc, ycsb
from .case import Case, Side
from .figures import OURS, Run, compare, table
from .page import page
from .recorded import Recorded, begin, read, read_all, write

RESULTS = ROOT / "bench" / "results" / "workloads"
PAGE = ROOT / "docs" / "workloads" / "README.md"
CASES: tuple[Case, ...] = (*ycsb.CASES, *sysbench.CASES, *tpcc.CASES, *inserting.CASES, *copying.CASES)


def main(words: list[str]) -> None:
    """Measure, or show what was measured."""
    options = _parse(words)
    if options.show:
        print(page(read_all(RESULTS), CASES))
        return
    names = [case.name for case in CASES]
    for name in options.cases or ():
        if name not in names:
            raise unknown_word("case", name, names)
    there = _with_rivals([case for case in CASES if not options.cases or case.name in options.cases])
    deadline = None if options.minutes is None else time.monotonic() + 60 * options.minutes
    with measuring_alone():
        if options.tiny:
            runs = [run for case, rival in there for run in _tiny(case, rival, options.repetitions)]
            print(table(compare(runs, CASES)))
            print("\nThese were of a tiny size, whatever the titles say, and mean nothing.")
            return
        for case, rival in there:
            _measure(case, rival, options.repetitions, deadline, anew=options.anew)
    told = page(read_all(RESULTS), CASES)
    PAGE.write_text(told, encoding="utf-8")
    print(told)
    print(f"written: {PAGE.relative_to(ROOT)}", file=sys.stderr)


def _parse(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="./x bench workloads", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--cases", nargs="+", metavar="CASE", help="these only")
    parser.add_argument(
        "--repetitions",
        type=int,
        default=5,
        metavar="N",
        help="both programs in turn, until so many are recorded",
    )
    parser.add_argument("--minutes", type=float, metavar="N", help="begin no repetition after so long")
    parser.add_argument("--anew", action="store_true", help="drop what is recorded of these cases")
    parser.add_argument("--tiny", action="store_true", help="a size that shows only that everything works")
    parser.add_argument("--show", action="store_true", help="only print the page of what is recorded")
    options = parser.parse_args(words)
    if options.repetitions < 1:
        raise UserError(
            f"too few repetitions: {options.repetitions}", hint="5 or more give a median worth telling"
        )
    check_minutes(options.minutes)
    return options


def _with_rivals(cases: Sequence[Case]) -> list[tuple[Case, str]]:
    """Those whose rival is there, with its version; of the others it is said aloud that they are left out."""
    there = []
    for case in cases:
        try:
            there.append((case, case.get_ready()))
        except WorldError as error:
            print(f"left out: {case.name}: {error.message}", file=sys.stderr)
            if error.hint:
                print(f"hint: {error.hint}", file=sys.stderr)
    if not there:
        raise WorldError(
            "there is nothing to be held against", hint="each case that is left out says what it lacks"
        )
    return there


def _tiny(case: Case, rival: str, repetitions: int) -> list[Run]:
    print(f"{case.name}: {case.title}, beside {rival}", file=sys.stderr)
    with case.opened(case.tiny) as sides:
        return [run for number in range(repetitions) for run in _repeat(case, number, sides)]


def _measure(case: Case, rival: str, repetitions: int, deadline: float | None, *, anew: bool) -> None:
    """Add repetitions to what is recorded of a case, which is written after each."""
    path = RESULTS / f"{case.name}.json"
    recorded = begin(
        case,
        rival,
        case.size,
        engine=source_identity(ROOT),
        host={name: str(value) for name, value in host_facts() if name != "name"},
        command=f"./x bench workloads --cases {case.name} --repetitions {repetitions}",
    )
    if path.exists() and not anew:
        recorded = _gone_on_with(path, recorded)
    if recorded.repetitions >= repetitions or _is_over(deadline):
        return
    print(f"{case.name}: {case.title}, beside {rival}: making ready", file=sys.stderr)
    with case.opened(case.size) as sides:
        while recorded.repetitions < repetitions and not _is_over(deadline):
            recorded.runs += _repeat(case, recorded.repetitions, sides)
            write(recorded, path)


def _gone_on_with(path: Path, begun: Recorded) -> Recorded:
    recorded = read(path)
    recorded.check_goes_on(begun)
    return recorded


def _is_over(deadline: float | None) -> bool:
    return deadline is not None and time.monotonic() > deadline


def _repeat(case: Case, number: int, sides: tuple[Side, Side]) -> list[Run]:
    """Both programs once; which is first changes from one repetition to the next."""
    runs = []
    both = list(zip((OURS, case.rival), sides, strict=True))
    for program, side in both if number % 2 == 0 else both[::-1]:
        figures = dict(side())
        date = datetime.now(UTC).isoformat(timespec="seconds")
        runs.append(Run(case.name, number, program, figures, date, revision_of_checkout()))
        told = ", ".join(f"{name} {value:.4g}" for name, value in figures.items())
        print(f"repetition {number + 1}: {case.name}: {program}: {told}", file=sys.stderr)
    return runs


if __name__ == "__main__":
    os.environ.pop("PGOPTIONS", None)
    run_and_leave(lambda: main(sys.argv[1:]))
