"""The two intervals: hand-computed, invariant, and covering the truth as often as they promise."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pgverdict.judge.estimate import estimate
from pgverdict.judge.interval import Kind, half_width_t, interval

from .simulated import Noise, fewest, heavy_tailed, looks, most, normal, planned_orders, simulate


@pytest.mark.parametrize(
    ("df", "alpha", "table"), [(1, 0.05, 12.706), (4, 0.05, 2.776), (12, 0.01, 3.055), (28, 0.1, 1.701)]
)
def test_the_fixed_interval_is_students(df: int, alpha: float, table: float) -> None:
    assert float(half_width_t(alpha, Kind.FIXED, df=df, information=1.0)) == pytest.approx(table, abs=6e-4)


def test_the_anytime_interval_holds_what_the_evidence_does_not_exclude() -> None:
    # Ten rounds without orders: k = 11, and e = 20 at t^2 = 9 (a - 1) / (1 - a / 11), a = (20 sqrt 11)^(1/5).
    ratios = np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0]) / 100
    a = (20 * math.sqrt(11)) ** 0.2
    half = math.sqrt(9 * (a - 1) / (1 - a / 11)) * ratios.std(ddof=1) / math.sqrt(10)

    low, high = interval(estimate(ratios, np.empty((10, 0))), 0.05, Kind.ANYTIME)

    assert (float(low), float(high)) == pytest.approx((0.055 - half, 0.055 + half))


@pytest.mark.parametrize("kind", Kind)
@settings(derandomize=True, max_examples=50)
@given(seed=st.integers(0, 10**6), rounds=st.integers(9, 60), scale=st.floats(0.001, 1000))
def test_swapped_arms_mirror_it_and_scale_stretches_it(
    kind: Kind, seed: int, rounds: int, scale: float
) -> None:
    orders = planned_orders(rounds, seed % 50)
    ratios = 0.3 + np.random.default_rng(seed).standard_normal(rounds)

    low, high = interval(estimate(ratios, orders), 0.05, kind)
    swapped_low, swapped_high = interval(estimate(-ratios, -orders), 0.05, kind)
    scaled_low, scaled_high = interval(estimate(scale * ratios, orders), 0.05, kind)

    assert (float(swapped_low), float(swapped_high)) == pytest.approx((-float(high), -float(low)), abs=1e-9)
    assert float(scaled_low) == pytest.approx(scale * float(low), rel=1e-6, abs=1e-9)
    assert float(scaled_high) == pytest.approx(scale * float(high), rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("kind", Kind)
def test_a_smaller_alpha_never_narrows_it(kind: Kind) -> None:
    found = estimate(np.random.default_rng(1).standard_normal(12), planned_orders(12, 1))

    widths = [
        float(high - low) for low, high in (interval(found, alpha, kind) for alpha in (0.2, 0.05, 0.01, 1e-3))
    ]

    assert widths == sorted(widths)


def test_the_right_to_look_at_any_time_is_paid_in_width() -> None:
    found = estimate(np.random.default_rng(1).standard_normal(24), planned_orders(24, 1))

    anytime, fixed = (float(interval(found, 0.05, kind)[1] - found.log_ratio) for kind in Kind)

    assert 1.5 < anytime / fixed < 1.8


@pytest.mark.parametrize("kind", Kind)
def test_rounds_that_cannot_tell_exclude_nothing(kind: Kind) -> None:
    low, high = interval(estimate(np.zeros(4), planned_orders(4, 0)), 0.05, kind)

    assert (float(low), float(high)) == (-math.inf, math.inf)


@pytest.mark.parametrize("noise", [normal, heavy_tailed])
@pytest.mark.parametrize("alpha", [0.05, 0.005])
def test_the_anytime_interval_covers_the_truth_at_every_look(noise: Noise, alpha: float) -> None:
    truth = 0.013
    many = simulate(noise, effect=truth, start_effect=0.01, series=4000, rounds=100)
    missed = np.zeros(4000, dtype=bool)

    for _, estimates in looks(many, first=5):
        limits = [interval(e, alpha, Kind.ANYTIME) for e in estimates]
        missed |= np.concatenate([(truth < low) | (high < truth) for low, high in limits])

    assert missed.sum() <= most(4000, alpha)


@pytest.mark.parametrize("rounds", [6, 8, 24])
@pytest.mark.parametrize("alpha", [0.05, 0.01])
def test_the_fixed_interval_covers_the_truth_exactly_as_often_as_it_says(rounds: int, alpha: float) -> None:
    truth = 0.013
    many = simulate(normal, effect=truth, start_effect=0.01, series=10_000, rounds=rounds)

    limits = [interval(estimate(s.log_ratios, s.orders), alpha, Kind.FIXED) for s in many]

    missed = sum(int(((truth < low) | (high < truth)).sum()) for low, high in limits)
    assert fewest(10_000, alpha) <= missed <= most(10_000, alpha)
