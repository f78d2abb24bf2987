"""./x bench levels: print the table of what is recorded; with --measure, measure first.

./x bench levels                          the table, from the recorded files alone
./x bench levels --measure --minutes 20   begin runs for so long, then finish the one that runs
./x bench levels --measure plain pairs-30 of these treatments only
"""

import argparse
import dataclasses
import random
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from time import monotonic

from bench.ending import check_minutes, run_and_leave
from bench.verdicts.measure import ROOT, revision_of_checkout, run_once
from bench.verdicts.recorded import keep, next_name
from pgverdict.cli.live import LiveView
from pgverdict.errors import WorldError

from .pairs import fewer_pairs, first_pairs
from .table import read, table
from .treatments import TREATMENTS, Treatment, applied, obstacle, treatment_of

RESULTS = ROOT / "bench" / "results" / "levels"


def main(arguments: list[str]) -> None:
    """Measure if asked to, then print."""
    options = _parse(arguments)
    check_minutes(options.minutes)
    if options.measure is not None:
        chosen = [treatment_of(name) for name in options.measure] or TREATMENTS
        with LiveView() as view:
            measure(chosen, options.results, minutes=options.minutes, view=view)
    write(options.results)


def _parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="./x bench levels", description=__doc__.splitlines()[0] if __doc__ else ""
    )
    parser.add_argument(
        "--measure",
        nargs="*",
        metavar="TREATMENT",
        help="measure these treatments, or all that this host allows",
    )
    parser.add_argument("--minutes", type=float, default=20, metavar="M", help="begin no run after so long")
    parser.add_argument("--results", type=Path, default=RESULTS, metavar="DIR", help="where results are kept")
    return parser.parse_args(arguments)


def measure(treatments: Sequence[Treatment], results: Path, *, minutes: float, view: LiveView) -> None:
    """Run after run, treatments in turn, each turn in an order by lot.

    After the time limit no run is begun, and the one that runs is brought to its end. An interruption drops the one
    that runs.
    """
    revision = revision_of_checkout()
    possible = []
    for one in treatments:
        if why := obstacle(one):
            view.note(f"left out: {one.name}: {why}")
        else:
            possible.append(one)
    begun, lot = monotonic(), random.Random()
    done = dict.fromkeys((one.name for one in possible), 0)
    while monotonic() - begun < 60 * minutes:
        chosen = next_treatment(possible, done, lot)
        measure_one(chosen, results, revision=revision, view=view)
        done[chosen.name] += 1


def next_treatment(possible: Sequence[Treatment], done: Mapping[str, int], lot: random.Random) -> Treatment:
    """One of those with the fewest runs since this command began.

    Runs of other days do not count: a treatment that lacked some would have hours of the host to itself.
    """
    fewest = min(done[one.name] for one in possible)
    return lot.choice([one for one in possible if done[one.name] == fewest])


def measure_one(treatment: Treatment, results: Path, *, revision: str, view: LiveView) -> None:
    """One run, kept."""
    folder = results / treatment.name
    name = next_name(folder)
    view.note(f"{treatment.name}: run {name}")
    with applied(treatment):
        repetition = run_once(treatment.line, 0, revision, view)
    if not repetition.measured():
        raise WorldError(f"a run under {treatment.name} failed: {repetition.failure}")
    if treatment.fixed_addresses:
        repetition = dataclasses.replace(repetition, command=f"setarch -R {repetition.command}")
    # No command of the product cuts rounds otherwise than it does.
    layouts = "the kernel's" if treatment.layouts is None else f"by {treatment.layouts.__name__}"
    otherwise = f"{treatment.cut}, prewarmed at once: {treatment.prewarmed_at_once}, layouts {layouts}"
    command = f"{repetition.command} # with {otherwise}"
    repetition = dataclasses.replace(repetition, command=command)
    place = keep(repetition, folder, name, compress=True)
    view.note(f"{treatment.name}: {len(repetition.measured())} rounds: {place.name}")


def write(results: Path) -> None:
    """Print the page, and keep it beside the data, if there is any."""
    recorded = read(results)
    text = "\n".join(filter(None, [table(recorded), fewer_pairs(recorded), first_pairs(recorded)]))
    print(text)
    if any(recorded.values()):
        (results / "README.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    run_and_leave(lambda: main(sys.argv[1:]))
