"""./x bench verdicts: print the table of what is recorded; with --measure, measure first.

./x bench verdicts                                  the page, from the recorded files alone
./x bench verdicts --measure --minutes 60           an hour of repetitions, of the lines that have the fewest
./x bench verdicts --measure typical-2 equal        these lines only, until they are complete
"""

import argparse
import sys
from pathlib import Path

from bench.ending import check_minutes, run_and_leave
from pgverdict.cli.live import LiveView
from pgverdict.errors import UserError

from .lines import LINES, line
from .measure import ROOT, measure
from .page import page
from .recorded import read_all

RESULTS = ROOT / "bench" / "results" / "verdicts"


def main(arguments: list[str]) -> None:
    """Measure if asked to, then print."""
    options = _parse(arguments)
    if options.measure is not None:
        chosen = [line(name) for name in options.measure] or LINES
        check_minutes(options.minutes)
        if options.repetitions is not None and options.repetitions < 1:
            raise UserError(f"too few repetitions: {options.repetitions}")
        with LiveView() as view:
            measure(
                chosen, options.results, repetitions=options.repetitions, minutes=options.minutes, view=view
            )
    write(options.results)


def _parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="./x bench verdicts", description=__doc__.splitlines()[0] if __doc__ else ""
    )
    parser.add_argument("--measure", nargs="*", metavar="LINE", help="measure these lines, or all")
    parser.add_argument("--repetitions", type=int, metavar="N", help="until each has N, not its own number")
    parser.add_argument("--minutes", type=float, metavar="M", help="begin no repetition after so long")
    parser.add_argument("--results", type=Path, default=RESULTS, metavar="DIR", help="where results are kept")
    return parser.parse_args(arguments)


def write(results: Path) -> None:
    """Print the page, and keep it beside the data, if there is any."""
    recorded = {one.name: read_all(results / one.name) for one in LINES}
    text = page(recorded)
    print(text)
    if any(recorded.values()):
        (results / "README.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    run_and_leave(lambda: main(sys.argv[1:]))
