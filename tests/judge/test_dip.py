"""The dip, against its definition, and the table of its chances, against the simulation it comes from."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from pgverdict.judge.dip import QUANTILES, SHARES, SIZES, chance, dip
from pgverdict.judge.estimate import FloatArray


def least_distance(values: FloatArray, mode: int) -> float:
    """To a distribution convex up to the value number `mode` and concave from it on, by linear programming.

    Unknown: the function at the values up to the mode (from the left), at those from it on (from the right), and the
    distance.
    """
    x, n = np.sort(values), len(values)
    limits: list[tuple[dict[int, float], float]] = []
    left, right, distance = list(range(n)), list(range(n, 2 * n)), 2 * n
    for i in range(n):
        above = (i + 1) / n  # the distribution function from x[i] on; before it, 1 / n less
        for there, here in ((i <= mode, left[i]), (i >= mode, right[i])):
            if there:
                highest = above if (i == mode and here == right[i]) else i / n
                lowest = i / n if (i == mode and here == left[i]) else above
                limits += [({here: 1, distance: -1}, highest), ({here: -1, distance: -1}, -lowest)]
    limits.append(({left[mode]: 1, right[mode]: -1}, 0.0))
    for side, places, sign in ((left, range(mode + 1), 1), (right, range(mode, n), -1)):
        steps = list(places)
        limits += [({side[a]: 1, side[b]: -1}, 0.0) for a, b in pairwise(steps)]
        for a, b, c in zip(steps, steps[1:], steps[2:], strict=False):
            before, after = sign / (x[b] - x[a]), sign / (x[c] - x[b])
            limits.append(({side[a]: -before, side[b]: before + after, side[c]: -after}, 0.0))
    matrix = np.zeros((len(limits), 2 * n + 1))
    for row, (terms, _) in zip(matrix, limits, strict=True):
        for column, factor in terms.items():
            row[column] = factor
    cost = np.zeros(2 * n + 1)
    cost[distance] = 1
    solved = linprog(cost, matrix, [most for _, most in limits], bounds=[(None, None)] * (2 * n + 1))
    return float(solved.fun)


@settings(deadline=None, max_examples=25)
@given(st.integers(0, 2**32 - 1), st.integers(4, 10), st.sampled_from([0.0, 3.0, 8.0]))
def test_the_dip_is_the_least_distance_to_a_distribution_with_one_mode(
    seed: int, n: int, apart: float
) -> None:
    random = np.random.default_rng(seed)
    values = random.standard_normal(n) + apart * (np.arange(n) % 2)

    assert dip(values) == pytest.approx(min(least_distance(values, mode) for mode in range(n)), abs=1e-7)


def test_the_dip_does_not_change_with_place_or_scale_or_direction() -> None:
    values = np.random.default_rng(1).standard_normal(30)

    assert dip(7 - 0.01 * values) == pytest.approx(dip(values))


def test_the_dip_of_two_points_is_a_quarter() -> None:
    assert dip(np.repeat([0.0, 1.0], 20)) == pytest.approx(0.25)
    assert dip(np.zeros(20)) == pytest.approx(1 / 40)


@pytest.mark.parametrize("n", [8, 24, 64])
def test_the_table_is_that_of_uniform_values(n: int) -> None:
    """As QUANTILES was made, with 20 000 series per size (10 000 of 100, 5 000 of 200), but with fewer."""
    random = np.random.default_rng(20261121 + n)
    seen = np.sqrt(n) * np.array([dip(random.random(n)) for _ in range(2000)])

    table = QUANTILES[SIZES.index(n)]
    assert np.quantile(seen, [0.9, 0.99]) == pytest.approx(table[:2], rel=0.04)


def test_a_chance_is_read_from_the_table_and_beyond_it_with_care() -> None:
    for n, row in zip(SIZES, QUANTILES, strict=True):
        assert [chance(limit / np.sqrt(n), n) for limit in row[1:]] == pytest.approx(SHARES[1:])
        assert chance(0.5 / n, n) == 1.0
        assert chance(0.25, n) >= 1e-4
    assert chance(0.2, 40) <= chance(0.15, 40) <= chance(0.1, 40)
