"""What the first n pairs of a round would have said."""

import csv
import gzip
from pathlib import Path

import numpy as np
import pytest

from bench.pairs.__main__ import RESULTS
from bench.pairs.table import COLUMNS, PAIRS, read, table

SECOND_NS = 1_000_000_000


def a_file(path: Path, *, late_ratio: float) -> Path:
    """Four rounds of 60 pairs of 0.1 s; the arms are alike in the first 12 pairs, and not after."""
    with gzip.open(path, "wt", newline="") as file:
        file.write("# made by hand\n")
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        for number in range(4):
            for pair in range(60):
                for arm in (0, 1):
                    median = 100_000 * (late_ratio if arm and pair >= 12 else 1.0)
                    begun = (2 * pair + arm) * SECOND_NS // 20
                    orders = (number % 2, number // 2, int(number in (0, 3)))
                    writer.writerow(
                        (
                            number,
                            9.0,
                            *orders,
                            pair,
                            arm,
                            begun,
                            begun + SECOND_NS // 20,
                            500,
                            SECOND_NS // 20,
                            median,
                        )
                    )
    return path


def test_pairs_left_out_take_their_time_with_them_and_their_figures(tmp_path: Path) -> None:
    rounds = read(a_file(tmp_path / "one.csv.gz", late_ratio=2.0))

    assert rounds.facts == "made by hand"
    assert rounds.seconds[:, PAIRS.index(12)] == pytest.approx(9.0 - 48 * 0.1)
    assert rounds.seconds[:, PAIRS.index(60)] == pytest.approx(9.0)
    typical = rounds.figures["typical latency"]
    assert typical[:, PAIRS.index(12)] == pytest.approx(0.0)
    assert typical[:, PAIRS.index(60)] == pytest.approx(np.log(2.0))


def test_the_recorded_series_says_what_the_methodology_says() -> None:
    (recorded,) = RESULTS.glob("*.csv.gz")
    printed = table(read(recorded)).splitlines()
    methodology = (RESULTS.parents[2] / "METHODOLOGY.md").read_text()

    for line in printed:
        assert line in methodology
