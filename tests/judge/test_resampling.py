"""Runs made up from recorded rounds look like these rounds, and are judged as the product judges."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgverdict.judge.decide import ROUNDS_MIN, decide
from pgverdict.judge.estimate import FloatArray, estimate
from pgverdict.judge.interval import Kind, interval
from pgverdict.judge.resampling import (
    PLANS,
    Ends,
    Series,
    first_ends,
    made_up_runs,
    outcomes_of,
    take_apart,
)
from pgverdict.judge.verdict import Outcome
from pgverdict.spec.metrics import Better

from .simulated import ROUND_SD, START_EFFECT, planned_orders


def recorded(effect: float, rounds: int, *, seed: int = 1, start_effect: float = START_EFFECT) -> Series:
    """A series of which the truth is known."""
    orders = planned_orders(rounds, seed)
    noise = ROUND_SD * np.random.default_rng(seed).standard_normal(rounds)
    return Series(effect + start_effect * orders[:, 0] + noise, orders)


def test_a_series_is_taken_apart_into_what_it_was_made_of() -> None:
    fitted = take_apart(recorded(0.02, 4000))

    assert fitted is not None
    assert fitted.effect == pytest.approx(0.02, abs=0.0005)
    assert fitted.order_effects == pytest.approx([START_EFFECT, 0, 0], abs=0.001)
    assert fitted.rests.std() == pytest.approx(ROUND_SD, rel=0.03)


def test_rests_are_as_wide_as_errors_also_where_rounds_are_few() -> None:
    """Least squares takes four degrees of freedom of nine rounds; not making up for it would take a quarter."""
    widths = []
    for seed in range(400):
        fitted = take_apart(recorded(0.0, 9, seed=seed))
        assert fitted is not None
        widths.append(float((fitted.rests**2).mean()))

    assert math.sqrt(np.mean(widths)) == pytest.approx(ROUND_SD, rel=0.05)


def test_rounds_that_cannot_tell_the_effect_are_not_taken_apart() -> None:
    assert take_apart(recorded(0.0, 4)) is None


def _made(flip: bool, effect: float = 0.02) -> list[Series]:
    fitted = take_apart(recorded(effect, 200))
    assert fitted is not None
    return list(made_up_runs(np.random.default_rng(5), fitted, runs=400, rounds=64, flip=flip))


def test_made_up_runs_have_the_effect_the_scatter_and_the_orders_of_the_recorded_ones() -> None:
    groups = _made(flip=False)

    assert len(groups) == PLANS
    assert {group.log_ratios.shape for group in groups} == {(400 // PLANS, 64)}
    found = [estimate(group.log_ratios, group.orders) for group in groups]
    effects = np.concatenate([result.log_ratio for result in found])
    assert effects.mean() == pytest.approx(0.02, abs=0.002)
    assert np.mean([result.sd.mean() for result in found]) == pytest.approx(ROUND_SD, rel=0.1)


def test_flipped_runs_have_no_effect_and_scatter_by_it_instead() -> None:
    groups = _made(flip=True)

    found = [estimate(group.log_ratios, group.orders) for group in groups]
    effects = np.concatenate([result.log_ratio for result in found])
    assert effects.mean() == pytest.approx(0, abs=0.0006)
    assert np.mean([result.sd.mean() for result in found]) == pytest.approx(
        math.hypot(0.02, ROUND_SD), rel=0.1
    )


def test_the_same_generator_gives_the_same_runs() -> None:
    assert all(
        np.array_equal(a.log_ratios, b.log_ratios) for a, b in zip(_made(True), _made(True), strict=True)
    )


@given(
    st.lists(st.tuples(st.floats(-0.05, 0.05), st.floats(0, 0.05)), min_size=1, max_size=30),
    st.floats(0.001, 0.05),
)
def test_many_intervals_are_decided_as_one_is(intervals: list[tuple[float, float]], margin: float) -> None:
    low, high = (np.array([start + more * width for start, width in intervals]) for more in (0, 1))

    expected = [
        decide(float(a), float(b), margin=margin, better=Better.LOWER, rounds=ROUNDS_MIN)[0]
        for a, b in zip(low, high, strict=True)
    ]

    assert outcomes_of(low, high, margin=margin) == expected


def test_a_run_ends_at_its_first_verdict() -> None:
    group = _made(flip=False)[0]

    ends = first_ends(iter([group]), alpha=0.005, margin=0.01)

    for row in range(5):
        assert ends.outcomes[row] is Outcome.SLOWER
        rounds = int(ends.rounds[row])
        at_end = _interval(group.log_ratios[row, :rounds], group.orders[:rounds])
        assert (ends.low[row], ends.high[row]) == pytest.approx(at_end)
        before = _interval(group.log_ratios[row, : rounds - 1], group.orders[: rounds - 1])
        assert outcomes_of(*map(np.atleast_1d, before), margin=0.01) == [Outcome.UNDECIDED]


def _interval(log_ratios: FloatArray, orders: FloatArray) -> tuple[float, float]:
    low, high = interval(estimate(log_ratios, orders), 0.005, Kind.ANYTIME)
    return float(low), float(high)


def test_a_run_without_a_verdict_ends_with_its_rounds() -> None:
    group = Series(np.zeros((1, 20)) + np.resize([0.3, -0.3], 20), planned_orders(20, 1))

    ends = first_ends(iter([group]), alpha=0.005, margin=0.01)

    assert ends.outcomes == (Outcome.UNDECIDED,)
    assert ends.rounds.tolist() == [20]
    assert ends.low[0] < 0 < ends.high[0]


def test_a_quantile_of_rounds_counts_open_runs_as_longer_than_any() -> None:
    slower, open_ = Outcome.SLOWER, Outcome.UNDECIDED
    nothing = np.zeros(4)
    ends = Ends((slower, open_, slower, slower), np.array([12.0, 30.0, 9.0, 20.0]), nothing, nothing)

    assert [ends.rounds_quantile(share) for share in (0.25, 0.5, 0.75, 0.9)] == [9, 12, 20, None]
