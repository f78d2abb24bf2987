"""Series whose truth is known: the resolving power that is worked out of them is the one they have."""

import numpy as np
import pytest
from scipy.special import bdtr

from pgverdict.judge.resampling import Series, first_ends
from pgverdict.judge.resolving import Found, exact_limits, false_alarms, what_is_found
from pgverdict.judge.verdict import Outcome

from .simulated import normal, planned_orders
from .test_resampling import recorded

ALPHA, MARGIN = 0.005, 0.01


def found(effect: float, *, rounds: int = 100, truth: float | None = None) -> Found:
    result = what_is_found(
        np.random.default_rng(7),
        recorded(effect, 2000),
        truth=effect if truth is None else truth,
        alpha=ALPHA,
        margin=MARGIN,
        rounds=rounds,
        runs=2000,
    )
    assert result is not None
    return result


def test_the_power_is_that_of_simulated_campaigns() -> None:
    """The table of METHODOLOGY.md#power, from rounds drawn out of a recording instead of a distribution."""
    one, two = found(0.01), found(0.02)

    assert one.rounds_p50 == pytest.approx(17, abs=2)
    assert one.rounds_p90 == pytest.approx(26, abs=4)
    assert two.rounds_p50 == pytest.approx(11, abs=1)
    assert two.slower.share > 0.99


def test_equal_arms_are_found_the_same() -> None:
    result = found(0.0)

    assert result.same.share > 0.99
    assert result.rounds_p50 == pytest.approx(21, abs=3)


def test_intervals_hold_the_truth_as_often_as_promised_and_not_another_value() -> None:
    assert found(0.01).holding.share > 0.985
    assert found(0.01, truth=0.03).holding.share < 0.05


def test_a_run_that_is_too_short_ends_undecided() -> None:
    result = found(0.005, rounds=10)

    assert result.undecided.share > 0.5
    assert result.rounds_p50 is None


def test_equal_arms_raise_no_more_false_alarms_than_promised() -> None:
    alarms = false_alarms(
        np.random.default_rng(3), recorded(0.0, 2000), alpha=0.05, margin=MARGIN, rounds=100, runs=2000
    )

    assert alarms is not None
    assert alarms.low < 0.05
    assert alarms.count > 0, "a rate that cannot be anything but zero would be no test"


def test_alarms_of_few_recorded_rounds_are_as_frequent_as_those_of_campaigns() -> None:
    """METHODOLOGY.md#calibration: a way of making runs up that is blind with few rounds would say a half or less."""
    random = np.random.default_rng(4)
    groups = (Series(normal(random, 1000, 40), planned_orders(40, plan)) for plan in range(20))
    ends = first_ends(groups, alpha=0.05, margin=MARGIN)
    truth = ends.count(Outcome.SLOWER, Outcome.FASTER) / len(ends.outcomes)

    said = [
        false_alarms(
            np.random.default_rng(seed),
            recorded(0.0, 16, seed=seed),
            alpha=0.05,
            margin=MARGIN,
            rounds=40,
            runs=1000,
        )
        for seed in range(30)
    ]

    assert np.mean([alarms.share for alarms in said if alarms]) == pytest.approx(truth, rel=0.4)


def test_a_persistent_difference_of_equal_arms_is_flipped_into_noise() -> None:
    alarms = false_alarms(
        np.random.default_rng(3), recorded(0.02, 2000), alpha=0.005, margin=MARGIN, rounds=60, runs=2000
    )

    assert alarms is not None
    assert alarms.low < 0.005


def test_too_few_rounds_say_nothing() -> None:
    few = recorded(0.0, 4)

    assert false_alarms(np.random.default_rng(1), few, alpha=ALPHA, margin=MARGIN, rounds=20) is None
    assert (
        what_is_found(np.random.default_rng(1), few, truth=0, alpha=ALPHA, margin=MARGIN, rounds=20) is None
    )


@pytest.mark.parametrize(("count", "runs"), [(0, 50), (3, 50), (49, 50), (50, 50), (7, 4000)])
def test_the_limits_of_a_rate_are_exact(count: int, runs: int) -> None:
    low, high = exact_limits(count, runs)

    assert low <= count / runs <= high
    if count > 0:
        assert 1 - bdtr(count - 1, runs, low) == pytest.approx(0.025)
    if count < runs:
        assert bdtr(count, runs, high) == pytest.approx(0.025)
