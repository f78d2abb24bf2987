"""What the first n pairs of every round would have said. Pure, but for reading the files.

A file is a gzipped CSV with a line of facts first, then a row per slice: round, seconds of the round, three
orders (candidate started first, connected first, in the second directory), pair, arm, begun and ended on the
engine's clock, transactions, busy time, median.
"""

import csv
import gzip
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from pgverdict.judge.estimate import FloatArray, estimate

COLUMNS = (
    *("round", "seconds", "started_first", "connected_first", "second_directory", "pair", "arm"),
    *("begun_at_ns", "ended_at_ns", "transactions", "busy_ns", "latency_ns_p50"),
)
PAIRS = (12, 24, 36, 48, 60)
RESAMPLED = 2000


@dataclass(frozen=True)
class Rounds:
    """`figures[metric]` is rounds x PAIRS: the log ratio from the first so many pairs. `seconds` likewise: what
    a round of so many pairs takes, which is the whole round's time without that of the pairs left out."""

    facts: str
    orders: FloatArray
    seconds: FloatArray
    figures: dict[str, FloatArray]


def read(path: Path) -> Rounds:
    """The rounds of a file."""
    with gzip.open(path, "rt", newline="") as file:
        facts = file.readline().removeprefix("# ").strip()
        rows = np.array([[float(row[name]) for name in COLUMNS] for row in csv.DictReader(file)])
    each = [rows[rows[:, 0] == number] for number in np.unique(rows[:, 0])]
    return Rounds(
        facts,
        orders=np.array([one[0, 2:5] for one in each]) - 0.5,
        seconds=np.array([[_seconds(one, pairs) for pairs in PAIRS] for one in each]),
        figures={
            "throughput": np.array([[_total(one, pairs) for pairs in PAIRS] for one in each]),
            "typical latency": np.array([[_typical(one, pairs) for pairs in PAIRS] for one in each]),
        },
    )


def _seconds(rows: FloatArray, pairs: int) -> float:
    left_out = rows[rows[:, 5] >= pairs]
    begun = left_out[:, 7].min(initial=np.inf)
    return float(rows[0, 1] - (rows[:, 8].max() - begun) / 1e9) if left_out.size else float(rows[0, 1])


def _total(rows: FloatArray, pairs: int) -> float:
    used = rows[rows[:, 5] < pairs]
    rates = [used[used[:, 6] == arm, 9].sum() / used[used[:, 6] == arm, 10].sum() for arm in (0, 1)]
    return float(np.log(rates[1] / rates[0]))


def _typical(rows: FloatArray, pairs: int) -> float:
    used = rows[rows[:, 5] < pairs]
    medians = [used[used[:, 6] == arm][np.argsort(used[used[:, 6] == arm, 5]), 11] for arm in (0, 1)]
    return float(np.median(np.log(medians[1] / medians[0])))


def table(rounds: Rounds, *, seed: int = 1) -> str:
    """Scatter, and time to the same interval against the most pairs, with 90 % limits by resampled rounds."""
    random = np.random.default_rng(seed)
    number = len(rounds.orders)
    chosen = random.integers(number, size=(RESAMPLED, number))
    lines = [
        "| pairs | a round takes | metric | sd of a round [90 %] | time to the same interval, 60 pairs = 1 [90 %] |",
        "|---|---|---|---|---|",
    ]
    for place, pairs in enumerate(PAIRS):
        for metric, ratios in rounds.figures.items():
            found = _scatter_and_cost(rounds, ratios, place, np.arange(number))
            made = np.array([_scatter_and_cost(rounds, ratios, place, one) for one in chosen])
            (low, low_cost), (high, high_cost) = np.nanquantile(made, (0.05, 0.95), axis=0)
            seconds = rounds.seconds[:, place].mean()
            lines.append(
                f"| {pairs} | {seconds:.1f} s | {metric} | {found[0]:.1%} [{low:.1%}, {high:.1%}]"
                f" | {found[1]:.1f} [{low_cost:.1f}, {high_cost:.1f}] |"
            )
    return "\n".join(lines)


def _scatter_and_cost(
    rounds: Rounds, ratios: FloatArray, place: int, chosen: Sequence[int] | np.ndarray
) -> tuple[float, float]:
    """Standard deviation, orders accounted for; variance times seconds, over that of the most pairs."""
    scatter = [float(estimate(ratios[chosen, one], rounds.orders[chosen]).sd) for one in (place, -1)]
    seconds = [float(rounds.seconds[chosen, one].mean()) for one in (place, -1)]
    return scatter[0], scatter[0] ** 2 * seconds[0] / (scatter[1] ** 2 * seconds[1])
