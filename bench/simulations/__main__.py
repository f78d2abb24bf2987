"""How often verdicts are wrong and how long they take, over thousands of campaigns whose truth is known.

    ./x bench simulations [--campaigns 2000] [--seed 20261121] [--budget 50] [--out FOLDER]
    ./x bench simulations --pulled [...]    of one cell each, judged as a typical metric is
    ./x bench simulations --show FILE

Prints Markdown tables (those of docs/statistics.md) and writes every number, with date, command and seed, to
bench/results/simulations/DATE.json.
"""

import argparse
import json
import shlex
import sys
import time
import warnings
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.simulations.campaigns import (
    DIFFERENT,
    SAME,
    UNDECIDED,
    Ended,
    Looks,
    Truth,
    equal,
    mixed,
    one_slower,
    run,
    simulate,
)
from bench.simulations.noise import NOISES
from pgverdict.judge.interval import Kind
from pgverdict.judge.summary import CellRounds, mean_of_cells

RESULTS = Path(__file__).parents[1] / "results" / "simulations"

CELLS = (1, 5, 20, 50)
ALPHAS = (0.05, 0.01)
FIXED_ROUNDS = 24
LONGEST = 120
"""No cell gets more rounds than this, however much budget the others leave."""

TRUTHS: dict[str, Truth] = {"equal": equal, "one slower": one_slower, "mixed": mixed}

Row = dict[str, Any]
BoolArray = NDArray[np.bool_]


def main() -> None:
    arguments = _arguments()
    if arguments.show is not None:
        kept = json.loads(arguments.show.read_text(encoding="utf-8"))
        rows = [dict(zip(kept["columns"], row, strict=True)) for row in kept["rows"]]
        (_print_pulled if "pulled" in kept["columns"] else _print_tables)(rows)
        return
    begun = time.monotonic()
    if arguments.pulled:
        rows = [row for number in range(len(NOISES)) for row in _pulled(number, arguments)]
        _write(rows, arguments, time.monotonic() - begun)
        _print_pulled(rows)
        return
    rows, chosen = [], list(NOISES)
    for number, noise in enumerate(chosen):
        for cells in CELLS:
            for truth in TRUTHS:
                if truth == "one slower" and (cells == 1 or noise != "normal"):
                    continue
                seed = [arguments.seed, number, cells, list(TRUTHS).index(truth)]
                rows += _scenario(noise, cells, truth, arguments, np.random.default_rng(seed))
        print(f"{noise}: {time.monotonic() - begun:.0f} s", file=sys.stderr)
    for number, noise in enumerate(("normal", "cells correlated 0.5", "t3")):
        rows += [_fixed(noise, cells, arguments, [arguments.seed, 100 + number, cells]) for cells in CELLS]
    _write(rows, arguments, time.monotonic() - begun)
    _print_tables(rows)


def _pulled(number: int, arguments: argparse.Namespace) -> list[Row]:
    """One cell, the same campaigns judged both ways."""
    noise = list(NOISES)[number]
    return [
        {**row, "pulled": pulled}
        for place, truth in enumerate(("equal", "mixed"))
        for pulled in (False, True)
        for row in _scenario(
            noise,
            1,
            truth,
            arguments,
            np.random.default_rng([arguments.seed, number, 1, place]),
            pulled=pulled,
        )
    ]


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
    parser.add_argument("--pulled", action="store_true", help="one cell, with rounds far out pulled in")
    parser.add_argument(
        "--show", type=Path, metavar="FILE", help="only print the tables of a file of results"
    )
    return parser.parse_args()


def _scenario(
    noise: str,
    cells: int,
    truth: str,
    arguments: argparse.Namespace,
    random: np.random.Generator,
    *,
    pulled: bool = False,
) -> list[Row]:
    campaigns = arguments.campaigns * (10 if cells == 1 else 1)
    longest = arguments.budget if cells == 1 else LONGEST
    parts: dict[tuple[float, str], list[Row]] = {}
    for begin in range(0, campaigns, _CHUNK // cells):  # memory: all looks of a chunk are kept
        size = min(_CHUNK // cells, campaigns - begin)
        looks = simulate(
            NOISES[noise], TRUTHS[truth], random, campaigns=size, cells=cells, rounds=longest, pulled=pulled
        )
        for alpha in ALPHAS:
            for rule in ("apart", "together")[: 2 if noise == "normal" and cells > 1 else 1]:
                ended = run(looks, alpha, rounds_each=arguments.budget, together=rule == "together")
                parts.setdefault((alpha, rule), []).append(
                    _counts(looks, ended, alpha, summed=truth == "mixed")
                )
    return [
        {"noise": noise, "cells": cells, "truth": truth, "alpha": alpha, "rule": rule, "kind": "anytime",
         "campaigns": campaigns, **_figures(counted)}
        for (alpha, rule), counted in parts.items()
    ]  # fmt: skip


_CHUNK = 20_000
"""Cells simulated at once: 113 looks at them take 100 MB an array."""


def _fixed(noise: str, cells: int, arguments: argparse.Namespace, seed: list[int]) -> Row:
    campaigns = arguments.campaigns * (10 if cells == 1 else 1)
    random = np.random.default_rng(seed)
    looks = simulate(
        NOISES[noise], mixed, random, campaigns=campaigns, cells=cells, rounds=FIXED_ROUNDS, kind=Kind.FIXED
    )
    ended = run(looks, 0.05, rounds_each=FIXED_ROUNDS)
    return {"noise": noise, "cells": cells, "truth": "mixed", "alpha": 0.05, "rule": "apart", "kind": "fixed",
            "campaigns": campaigns, **_figures([_counts(looks, ended, 0.05, summed=False)])}  # fmt: skip


def _counts(looks: Looks, ended: Ended, alpha: float, *, summed: bool) -> Row:
    """What is counted or collected; sums and lists over campaigns, so that chunks can be put together."""
    verdict, different, same = ended.verdict, ended.verdict == DIFFERENT, ended.verdict == SAME
    null = looks.truth == 0
    counted: Row = {
        "false_coverage": _share(ended.wrong, verdict != UNDECIDED),
        "false_difference": _share(ended.wrong, different),
        "false_same": _share(ended.wrong, same),
        "any_false_difference": (different & null).any(axis=1).tolist(),
        "any_wrong": (ended.wrong & (verdict != UNDECIDED)).any(axis=1).tolist(),
        "missed": ended.wrong.ravel().tolist(),
        "false_alarm": different[null].tolist(),
        "equal_same": same[null].tolist(),
        "rounds": ended.rounds.ravel().tolist(),
        "rounds_equal": ended.rounds[null].tolist(),
        "e_of_truth": ended.e_of_truth.ravel().tolist(),
        "lag1": _lag1(looks, ended),
    }
    for name, ratio in (("half", 1.005), ("one", 1.01), ("two", 1.02)):
        here = np.isclose(looks.truth, np.log(ratio))
        counted[f"{name}_found"] = different[here].tolist()
        counted[f"rounds_{name}"] = ended.rounds[here].tolist()
    if summed and looks.truth.shape[1] > 1:
        counted |= _summaries(looks, ended, alpha)
    return counted


def _share(of: BoolArray, among: BoolArray) -> list[float]:
    """Per campaign: wrong ones among those selected, 0 where none is."""
    return list((of & among).sum(axis=1) / np.maximum(among.sum(axis=1), 1))


def _lag1(looks: Looks, ended: Ended) -> list[bool]:
    """Whether successive rounds look correlated (beyond two standard errors), in the first cell's own rounds."""
    found = []
    for values, rounds in zip(looks.log_ratios[:, 0], ended.rounds[:, 0], strict=True):
        centred = values[:rounds] - values[:rounds].mean()
        r1 = float(centred[1:] @ centred[:-1] / (centred @ centred))
        found.append(r1 > 2 / np.sqrt(rounds))
    return found


def _summaries(looks: Looks, ended: Ended, alpha: float) -> Row:
    """The geometric mean over cells, of some campaigns: is the truth in it, and how wide is it; and of two others."""
    covered, widths, naive, naive_widths = [], [], [], []
    for number in range(min(_SUMMARIES, len(ended.rounds))):
        rounds = ended.rounds[number]
        cells = [
            CellRounds(looks.log_ratios[number, c, :n], looks.orders[c, :n]) for c, n in enumerate(rounds)
        ]
        mean = mean_of_cells(cells, alpha, Kind.ANYTIME)
        assert mean is not None
        truth = looks.truth[number].mean()
        covered.append(mean.low <= truth <= mean.high)
        widths.append((mean.high - mean.low) / 2)
        half = _NORMAL[alpha] * np.sqrt((ended.error[number] ** 2).sum()) / len(rounds)
        naive.append(abs(ended.effect[number].mean() - truth) <= half)
        naive_widths.append(half)
    return {
        "mean_covered": covered,
        "mean_half_width": widths,
        "naive_covered": naive,
        "naive_half_width": naive_widths,
    }


_SUMMARIES = 500
_NORMAL = {0.05: 1.959964, 0.01: 2.575829}
"""For the interval not to use: the shown effects as if they were independent and the number of rounds fixed."""

_MEDIANS = (
    "rounds",
    "rounds_equal",
    "rounds_half",
    "rounds_one",
    "rounds_two",
    "mean_half_width",
    "naive_half_width",
)


def _figures(parts: list[Row]) -> Row:
    figures: Row = {}
    for name in parts[0]:
        values = np.array([value for part in parts for value in part.get(name, ())], dtype=float)
        if not len(values):
            continue
        figures[name] = float(np.median(values) if name in _MEDIANS else values.mean())
        if name.startswith("rounds"):
            figures[f"{name}_p90"] = float(np.quantile(values, 0.9))
    return figures


def _print_pulled(rows: list[Row]) -> None:
    """The table of docs/statistics.md#pulled-in."""

    def pick(truth: str, alpha: float, pulled: bool) -> list[Row]:
        return [r for r in rows if (r["truth"], r["alpha"], r["pulled"]) == (truth, alpha, pulled)]

    parts = {
        f"{truth}{alpha}{pulled}": pick(truth, alpha, pulled)
        for truth in ("equal", "mixed")
        for alpha in ALPHAS
        for pulled in (False, True)
    }
    both = {"as it is": False, "pulled in": True}
    _table(
        [
            {"noise": name, **{key: found[place] for key, found in parts.items()}}
            for place, name in enumerate(NOISES)
        ],
        {
            "noise": lambda row: row["noise"],
            **{
                f"equal: wrong, of 5 %, {how}": _percent("any_wrong", f"equal0.05{on}")
                for how, on in both.items()
            },
            **{f"of 1 %, {how}": _percent("any_wrong", f"equal0.01{on}") for how, on in both.items()},
            **{f"rounds, {how}": _rounds("rounds_equal", f"equal0.01{on}") for how, on in both.items()},
            **{
                f"mixed: wrong, of 1 %, {how}": _percent("any_wrong", f"mixed0.01{on}")
                for how, on in both.items()
            },
            **{f"rounds of 1 %, {how}": _rounds("rounds_one", f"mixed0.01{on}") for how, on in both.items()},
        },
    )


def _print_tables(rows: list[Row]) -> None:
    """The tables of docs/statistics.md, in that order."""

    def pick(**wanted: object) -> list[Row]:
        return [row for row in rows if all(row[name] == value for name, value in wanted.items())]

    def beside(name: str, **wanted: object) -> list[Row]:
        return [dict(zip(("noise", name), (row["noise"], row), strict=True)) for row in pick(**wanted)]

    sequential = {"rule": "apart", "kind": "anytime"}
    one = {"cells": 1, **sequential}
    _table(
        _joined(
            beside("equal5", truth="equal", alpha=0.05, **one),
            beside("equal1", truth="equal", alpha=0.01, **one),
            beside("mixed1", truth="mixed", alpha=0.01, **one),
        ),
        {
            "noise": lambda row: row["noise"],
            "equal: wrong, of 5 %": _percent("any_wrong", "equal5"),
            "of 1 %": _percent("any_wrong", "equal1"),
            "called different, of 1 %": _percent("false_alarm", "equal1"),
            "rounds": _rounds("rounds_equal", "equal1"),
            "lag 1 seen": _percent("lag1", "equal1", 0),
            "mixed: wrong, of 1 %": _percent("any_wrong", "mixed1"),
            "1 % found": _percent("one_found", "mixed1", 0),
            "rounds of 1 %": _rounds("rounds_one", "mixed1"),
        },
    )
    for cells in CELLS[1:]:
        print(f"\n{cells} cells:\n")
        many = {"cells": cells, "alpha": 0.05, **sequential}
        _table(
            _joined(beside("equal", truth="equal", **many), beside("mixed", truth="mixed", **many)),
            {
                "noise": lambda row: row["noise"],
                "different though equal": _percent("any_false_difference", "equal"),
                "wrong": _percent("false_coverage", "mixed"),
                "of the differences": _percent("false_difference", "mixed"),
                "of the SAMEs": _percent("false_same", "mixed"),
                "summary covers": _percent("mean_covered", "mixed", 1),
                "+-": _percent("mean_half_width", "mixed"),
                "naive covers": _percent("naive_covered", "mixed", 1),
            },
        )
    print()
    _table(
        [{"one": row} for row in rows
         if row["noise"] == "normal" and row["cells"] > 1 and row["kind"] == "anytime" and row["alpha"] == ALPHAS[0]],
        {
            "cells": lambda row: str(row["one"]["cells"]),
            "truth": lambda row: row["one"]["truth"],
            "counts": lambda row: {"apart": "two", "together": "one"}[row["one"]["rule"]],
            "any equal cell called different": _percent("any_false_difference", "one"),
            "wrong": _percent("false_coverage", "one"),
            "of the differences": _percent("false_difference", "one"),
            "rounds": _rounds("rounds", "one"),
            "rounds of 1 %": _rounds("rounds_one", "one"),
        },
    )  # fmt: skip
    print()
    _table(
        [{"one": row} for row in pick(kind="fixed")],
        {
            "noise": lambda row: row["one"]["noise"],
            "cells": lambda row: str(row["one"]["cells"]),
            "wrong": _percent("false_coverage", "one"),
            "of the differences": _percent("false_difference", "one"),
            "of the SAMEs": _percent("false_same", "one"),
        },
    )
    e_values = [row["e_of_truth"] for row in pick(noise="normal", **sequential)]
    print(f"\nexpectation of e(truth) at the stop, normal noise: {min(e_values):.2f} to {max(e_values):.2f}")


def _joined(*columns: list[Row]) -> list[Row]:
    """Rows about the same noise put together."""
    assert all([row["noise"] for row in column] == [row["noise"] for row in columns[0]] for column in columns)
    return [
        {name: value for row in rows for name, value in row.items()} for rows in zip(*columns, strict=True)
    ]


def _percent(name: str, part: str, digits: int = 2) -> Callable[[Row], str]:
    def shown(row: Row) -> str:
        value = row[part].get(name)
        return "" if value is None else f"{100 * value:.{digits}f} %"

    return shown


def _rounds(name: str, part: str) -> Callable[[Row], str]:
    """Median / nine campaigns in ten."""

    def shown(row: Row) -> str:
        value = row[part].get(name)
        return "" if value is None else f"{value:.0f} / {row[part][f'{name}_p90']:.0f}"

    return shown


def _table(rows: list[Row], columns: dict[str, Callable[[Row], str]]) -> None:
    print("| " + " | ".join(columns) + " |")
    print("|" + "---|" * len(columns))
    for row in rows:
        print("| " + " | ".join(show(row) for show in columns.values()) + " |")


def _write(rows: list[Row], arguments: argparse.Namespace, seconds: float) -> None:
    now = datetime.now(UTC)
    arguments.out.mkdir(parents=True, exist_ok=True)
    path = arguments.out / f"{now:%Y-%m-%d}{'-pulled' * arguments.pulled}.json"
    document = {
        "date": now.isoformat(timespec="seconds"),
        "command": shlex.join(["./x", "bench", "simulations", *sys.argv[1:]]),
        "seed": arguments.seed,
        "seconds": round(seconds, 1),
        "budget_rounds_per_cell": arguments.budget,
        "columns": list(dict.fromkeys(name for row in rows for name in row)),
    }
    names = document["columns"]
    lines = ",\n".join(json.dumps([_short(row.get(name)) for name in names]) for row in rows)
    head = json.dumps(document, indent=1)[:-2]
    path.write_text(f'{head},\n "rows": [\n{lines}\n ]\n}}\n', encoding="utf-8")
    print(f"written: {path}", file=sys.stderr)


def _short(value: object) -> object:
    return float(f"{value:.6g}") if isinstance(value, float) else value


if __name__ == "__main__":
    warnings.simplefilter("error")
    main()
