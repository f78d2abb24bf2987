"""One number over all cells."""

import numpy as np
import pytest

from pgverdict.judge.decide import ROUNDS_MIN
from pgverdict.judge.estimate import estimate
from pgverdict.judge.interval import Kind, interval
from pgverdict.judge.summary import CellRounds, mean_of_cells

from .simulated import planned_orders


def cells_of(*series: list[float]) -> list[CellRounds]:
    return [CellRounds(np.array(one), planned_orders(len(one), cell)) for cell, one in enumerate(series)]


def noisy(effect: float, rounds: int, seed: int) -> list[float]:
    return list(effect + 0.005 * np.random.default_rng(seed).standard_normal(rounds))


def test_the_mean_is_that_of_the_cells() -> None:
    mean = mean_of_cells(
        cells_of(noisy(0.02, 16, 1), noisy(0.0, 16, 2), noisy(-0.005, 16, 3)), 0.05, Kind.FIXED
    )

    assert mean is not None
    assert mean.low < 0.005 < mean.high
    assert (mean.cells, mean.rounds) == (3, 16)


def test_it_counts_the_rounds_that_all_cells_have() -> None:
    long, short = noisy(0.02, 30, 1), noisy(0.0, 12, 2)

    assert mean_of_cells(cells_of(long, short), 0.05, Kind.ANYTIME) == mean_of_cells(
        [cells_of(long)[0], cells_of(long, short)[1]], 0.05, Kind.ANYTIME
    )
    mean = mean_of_cells(cells_of(long, short), 0.05, Kind.ANYTIME)
    assert mean is not None
    assert mean.rounds == 12


def test_cells_that_go_up_and_down_together_are_no_surer_than_one() -> None:
    one = np.array(noisy(0.01, 16, 1))
    orders = planned_orders(16, 0)
    mean = mean_of_cells([CellRounds(one, orders)] * 5, 0.05, Kind.ANYTIME)

    low, high = interval(estimate(one, orders), 0.05, Kind.ANYTIME)
    assert mean is not None
    assert mean.low == pytest.approx(float(low))
    assert mean.high == pytest.approx(float(high))


def test_cells_that_scatter_by_themselves_are_surer_than_one() -> None:
    cells = cells_of(*[noisy(0.01, 16, seed) for seed in range(9)])
    mean = mean_of_cells(cells, 0.05, Kind.ANYTIME)

    low, high = interval(estimate(cells[0].log_slowdowns, cells[0].orders), 0.05, Kind.ANYTIME)
    assert mean is not None
    assert mean.high - mean.low < 0.6 * float(high - low)


def test_a_cell_too_short_for_a_verdict_is_left_out() -> None:
    mean = mean_of_cells(
        cells_of(noisy(0, 16, 1), noisy(0, 16, 2), noisy(0, ROUNDS_MIN - 1, 3)), 0.05, Kind.ANYTIME
    )

    assert mean is not None
    assert mean.cells == 2


def test_one_cell_needs_no_summary() -> None:
    assert mean_of_cells(cells_of(noisy(0, 16, 1)), 0.05, Kind.ANYTIME) is None
