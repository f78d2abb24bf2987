"""How often verdicts are wrong and how long they take, over thousands of campaigns whose truth is known.

    ./x bench simulations [--campaigns 2000] [--seed 20261121] [--budget 50] [--out FOLDER]
    ./x bench simulations --pulled [...]    of one cell each, judged as a typical metric is
    ./x bench simulations --tight [...]     budgets that do not last, and who gets them
    ./x bench simulations --show FILE

Prints Markdown tables (those of docs/statistics.md) and writes every number, with date, command and seed, to
bench/results/simulations/DATE.json (DATE-pulled.json, DATE-tight.json).
"""

import argparse
import json
import shlex
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from bench.simulations.counting import Row
from bench.simulations.scenarios import Wanted, all_noises, pulled_in
from bench.simulations.tables import print_pulled, print_tables, print_tight
from bench.simulations.tight import BUDGETS, tight_budgets

RESULTS = Path(__file__).parents[1] / "results" / "simulations"


@dataclass(frozen=True)
class _Kind:
    """What is simulated, and how it is shown."""

    name: str
    simulate: Callable[[Wanted], list[Row]]
    show: Callable[[list[Row]], None]
    column: str | None
    """That only its rows have."""


ALL = _Kind("", all_noises, print_tables, None)
PULLED = _Kind("-pulled", pulled_in, print_pulled, "pulled")
TIGHT = _Kind("-tight", tight_budgets, print_tight, "order")


def main() -> None:
    arguments = _arguments()
    if arguments.show is not None:
        kept = json.loads(arguments.show.read_text(encoding="utf-8"))
        rows = [dict(zip(kept["columns"], row, strict=True)) for row in kept["rows"]]
        next((kind for kind in (PULLED, TIGHT) if kind.column in kept["columns"]), ALL).show(rows)
        return
    begun = time.monotonic()
    simulated = arguments.kind.simulate(Wanted(arguments.campaigns, arguments.budget, arguments.seed))
    rows = [{name: _short(value) for name, value in row.items()} for row in simulated]
    _write(rows, arguments, time.monotonic() - begun)
    arguments.kind.show(rows)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="./x bench simulations", description="Campaigns whose truth is known."
    )
    parser.add_argument(
        "--campaigns", type=int, default=2000, help="of 5 and more cells; of one cell ten times as many"
    )
    parser.add_argument("--budget", type=int, default=50, help="rounds per cell")
    parser.add_argument("--seed", type=int, default=20261121)
    parser.add_argument("--out", type=Path, default=RESULTS)
    kinds = parser.add_mutually_exclusive_group()
    kinds.set_defaults(kind=ALL)
    kinds.add_argument(
        "--pulled",
        dest="kind",
        action="store_const",
        const=PULLED,
        help="one cell, with rounds far out pulled in",
    )
    kinds.add_argument(
        "--tight",
        dest="kind",
        action="store_const",
        const=TIGHT,
        help="budgets that do not last, of 10, 12, 16 and 50 rounds per cell, served in several orders",
    )
    parser.add_argument(
        "--show", type=Path, metavar="FILE", help="only print the tables of a file of results"
    )
    return parser.parse_args()


def _write(rows: list[Row], arguments: argparse.Namespace, seconds: float) -> None:
    now = datetime.now(UTC)
    arguments.out.mkdir(parents=True, exist_ok=True)
    path = arguments.out / f"{now:%Y-%m-%d}{arguments.kind.name}.json"
    document = {
        "date": now.isoformat(timespec="seconds"),
        "command": shlex.join(["./x", "bench", "simulations", *sys.argv[1:]]),
        "seed": arguments.seed,
        "seconds": round(seconds, 1),
        "budget_rounds_per_cell": BUDGETS if arguments.kind is TIGHT else arguments.budget,
        "columns": list(dict.fromkeys(name for row in rows for name in row)),
    }
    names = document["columns"]
    lines = ",\n".join(json.dumps([row.get(name) for name in names]) for row in rows)
    head = json.dumps(document, indent=1)[:-2]
    path.write_text(f'{head},\n "rows": [\n{lines}\n ]\n}}\n', encoding="utf-8")
    print(f"written: {path}", file=sys.stderr)


def _short(value: object) -> object:
    return float(f"{value:.6g}") if isinstance(value, float) else value


if __name__ == "__main__":
    warnings.simplefilter("error")
    main()
