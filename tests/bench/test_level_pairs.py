"""Rounds looked at pair by pair, where it is known what every pair took."""

import dataclasses
import math

import pytest

from bench.levels.pairs import fewer_pairs, first_pairs
from bench.verdicts.recorded import Repetition, SliceFigures

from . import made

NAME = "side-by-side"


def _run(*, seed: int, pair_sd: float, start_sd: float, first_longer: float = 0.0) -> Repetition:
    """16 rounds of 30 pairs of 20 us, whose starts and pairs scatter as said."""
    starts = made.normal(16, start_sd, seed=seed)
    rounds = []
    for number, one in enumerate(made.rounds_of(starts)):
        noise = made.normal(30, pair_sd, seed=1000 * seed + number)
        slices = []
        for pair in range(30):
            us = 20.0 * (1 + first_longer if pair == 0 else 1.0)
            for arm, shift in enumerate((0.0, starts[number] + noise[pair])):
                value = us * math.exp(shift)
                slices.append(SliceFigures(pair, arm, 1000, 1000 * value, value, 2 * value, 3 * value))
        rounds.append(dataclasses.replace(one, slices=tuple(slices)))
    return made.repetition(rounds, line=NAME)


def _rows(text: str) -> list[list[str]]:
    return [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| `")]


def test_where_starts_scatter_fewer_pairs_tell_as_much_in_less_time() -> None:
    runs = [_run(seed=seed, pair_sd=0.0001, start_sd=0.01) for seed in range(1, 6)]
    rows = _rows(fewer_pairs({NAME: runs}))

    assert [(row[0], row[1], row[2], row[3]) for row in rows] == [
        (f"`{NAME}`", "80", str(pairs), f"{2.5 - 0.04 * (30 - pairs):.2f}") for pairs in (10, 13, 16, 20, 30)
    ]
    sds = [float(row[4].rstrip("%")) for row in rows]
    assert sds == pytest.approx([sds[-1]] * 5, abs=0.011)
    times = [float(row[5]) for row in rows]
    assert times == pytest.approx([seconds / 2.5 for seconds in (1.7, 1.82, 1.94, 2.1, 2.5)], abs=0.02)


def test_where_pairs_scatter_fewer_of_them_tell_less() -> None:
    runs = [_run(seed=seed, pair_sd=0.05, start_sd=0.0001) for seed in range(1, 6)]
    times = [float(row[5]) for row in _rows(fewer_pairs({NAME: runs}))]

    # A third of the pairs has three times the variance of the mean.
    assert times[0] == pytest.approx(3 * 1.7 / 2.5, rel=0.5)
    assert times[0] > times[2] > times[4] == 1


def test_a_first_pair_that_takes_longer_is_seen_and_the_next_ones_do_not() -> None:
    runs = [_run(seed=seed, pair_sd=0.001, start_sd=0.01, first_longer=0.03) for seed in range(1, 4)]
    for row in _rows(first_pairs({NAME: runs})):
        first, *others = (float(cell.rstrip("%")) for cell in row[3:])
        assert first == pytest.approx(3, abs=0.2)
        assert others == pytest.approx([0] * 4, abs=0.2)


def test_without_such_rounds_nothing_is_said() -> None:
    assert fewer_pairs({"plain": [made.repetition()]}) == first_pairs({}) == ""
