"""Logs whose variance components are known: they come out again."""

import math

import numpy as np
import pytest

from pgverdict.judge.estimate import FloatArray
from pgverdict.judge.levels import (
    Costs,
    Levels,
    background,
    best_pairs,
    component,
    distances,
    numbered,
    order_effects,
    split_halves,
    split_scatter,
)

ROUNDS, PAIRS, ARMS, LOADS = 80, 12, 5, 8
START, PAIR, LOAD, LAST = 0.006, 0.02, 0.004, -0.005


def simulated(
    seed: int, *, load_sd: float = LOAD, rounds: int = ROUNDS
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Logs (rounds x pairs x arms), start scores and loads (rounds x arms); arms have constants of their own."""
    random = np.random.default_rng(seed)
    scores = np.array([random.permutation(ARMS) for _ in range(rounds)]) / (ARMS - 1) - 0.5
    loads = random.integers(LOADS, size=(rounds, ARMS))
    of_load = random.standard_normal(LOADS)
    of_load = load_sd * (of_load - of_load.mean()) / of_load.std(ddof=1)
    arm = (
        START * random.standard_normal((rounds, ARMS))
        + of_load[loads]
        + LAST * scores
        + np.array([0, 0, 0.01, 0.02, 0.05])
    )
    host = 0.1 * random.standard_normal((rounds, PAIRS, 1))
    return (
        host + arm[:, None, :] + PAIR * random.standard_normal((rounds, PAIRS, ARMS)),
        scores,
        np.asarray(loads, dtype=np.float64),
    )


def _table(load_sd: float = LOAD, seed: int = 1) -> tuple[FloatArray, FloatArray, FloatArray]:
    logs, scores, loads = simulated(seed, load_sd=load_sd)
    return distances(logs), background(scores[:, :, None]), loads


def test_the_component_of_loads_comes_out_again() -> None:
    found = component(*_table())

    assert found is not None
    assert found.members == LOADS
    assert found.sd == pytest.approx(LOAD, rel=0.3)
    assert found.sd < found.sd_high < 4 * LOAD


def test_loads_that_do_not_differ_have_a_small_component() -> None:
    found = [component(*_table(load_sd=0.0, seed=seed)) for seed in range(20)]

    assert sum(c is not None and c.sd == 0 for c in found) >= 5, "it is 0 about every second time"
    assert all(c is not None and c.sd < LOAD / 2 for c in found)


def test_the_limit_of_a_component_is_exceeded_seldom() -> None:
    """The loads are drawn to scatter as the component says; the limit has 19 chances in 20 for each."""
    held = 0
    for seed in range(60):
        random = np.random.default_rng(seed)
        which = np.array([random.permutation(LOADS)[:ARMS] for _ in range(20)])
        values = LOAD * random.standard_normal(LOADS)[which] + START * random.standard_normal(which.shape)
        found = component(values, np.empty((20, ARMS, 0)), which.astype(float))
        assert found is not None
        held += found.sd_high >= LOAD
    assert held >= 50


def test_what_cannot_be_told_is_not_said() -> None:
    values, nothing = np.array([[0.1, 0.2], [0.3, 0.5]]), np.empty((2, 2, 0))

    assert component(values, nothing, np.zeros((2, 2))) is None, "one load"
    assert component(values, nothing, np.arange(4.0).reshape(2, 2)) is None, "a load for each value"


def test_the_effect_of_an_order_comes_out_again() -> None:
    values, columns, _ = _table()

    (start,) = order_effects(values, columns, ("start",))

    assert start.name == "start"
    assert start.low < LAST < start.high
    assert start.high - start.low < 0.008


def test_the_scatter_is_split_into_pairs_and_starts() -> None:
    logs, _, _ = simulated(3, load_sd=0.0, rounds=1000)
    ratios = logs[:, :, 1] - logs[:, :, 0]
    round_sd = float(np.median(ratios, axis=1).std())

    within, pair, start = split_scatter(ratios, round_sd)

    # The median of twelve normal values has 1.5 times the variance of their mean.
    assert pair == pytest.approx(PAIR * math.sqrt(2) * math.sqrt(1.5), rel=0.12)
    assert start == pytest.approx(math.hypot(START * math.sqrt(2), LAST / 2), rel=0.15)
    assert within == pytest.approx(pair / math.sqrt(PAIRS))


def test_halves_of_whatever_is_made_of_the_pairs_tell_how_sure_a_round_is() -> None:
    pairs = PAIR * np.random.default_rng(4).standard_normal((2000, PAIRS))
    rounds = START * np.random.default_rng(5).standard_normal(2000) + pairs.mean(axis=1)

    within, start = split_halves(
        pairs[:, ::2].mean(axis=1) - pairs[:, 1::2].mean(axis=1), float(rounds.std())
    )

    assert within == pytest.approx(PAIR / math.sqrt(PAIRS), rel=0.05)
    assert start == pytest.approx(START, rel=0.1)


def test_members_of_one_pool_are_the_same_for_all_its_arms() -> None:
    drawn = [(0, 1), (1, 0)]

    assert np.unique(numbered(drawn, (0, 0))).size == 2
    assert np.unique(numbered(drawn, (0, 1))).size == np.unique(numbered(drawn, ())).size == 4


def test_starts_that_do_not_differ_have_no_variance() -> None:
    assert split_scatter(np.array([[0.1, -0.1], [-0.2, 0.2]]), 0.0)[2] == 0


def _levels(start_sd: float) -> Levels:
    return Levels(12, 0.0087, 0.003, 0.0104, start_sd, None, None, ())


def test_the_best_number_of_pairs_is_that_of_kalibera_and_jones() -> None:
    """METHODOLOGY.md#round: 7 with an overhead of 3.5 s and pairs of 0.1 s."""
    assert best_pairs(_levels(0.0087), Costs(4.7, 0.1, 3.5)) == pytest.approx(math.sqrt(35) * 0.0104 / 0.0087)


def test_more_pairs_are_always_better_where_starts_do_not_differ() -> None:
    assert best_pairs(_levels(0.0), Costs(4.7, 0.1, 3.5)) == math.inf
