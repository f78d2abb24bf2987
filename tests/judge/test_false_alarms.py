"""How often equal servers are called different, and unequal ones the same: no more often than promised.

Each test simulates 4 000 campaigns of 100 rounds and looks after every one. `most` and `fewest` allow for
chance: a right method exceeds them once in 10 000 tests; the seeds are fixed, so a test that passed passes.
"""

import numpy as np
import pytest

from pgverdict.judge.estimate import FloatArray, estimate
from pgverdict.judge.interval import Kind, interval

from .simulated import (
    NEVER,
    ROUND_SD,
    START_EFFECT,
    Noise,
    Series,
    autocorrelated,
    bimodal,
    decided_after,
    fewest,
    growing,
    heavy_tailed,
    most,
    normal,
    simulate,
    skewed,
)

SERIES = 4000


def stalls_in_either_arm(random: np.random.Generator, series: int, rounds: int) -> FloatArray:
    """Each arm's noise is skewed as time is; equal arms are skewed alike."""
    difference = skewed(random, series, rounds) - skewed(random, series, rounds)
    return np.asarray(difference / np.sqrt(2.0))


def alarms(
    many: list[Series], alpha: float, *, kind: Kind = Kind.ANYTIME, ignore_orders: bool = False
) -> int:
    different, _ = decided_after(many, alpha=alpha, kind=kind, ignore_orders=ignore_orders)
    return int((different < NEVER).sum())


@pytest.mark.parametrize("alpha", [0.05, 0.005])
@pytest.mark.parametrize(
    "noise", [normal, heavy_tailed, bimodal, growing, stalls_in_either_arm], ids=lambda noise: noise.__name__
)
def test_looking_after_every_round_keeps_the_error_rate(noise: Noise, alpha: float) -> None:
    assert alarms(simulate(noise, start_effect=START_EFFECT), alpha) <= most(SERIES, alpha)


@pytest.mark.parametrize("alpha", [0.05, 0.005])
def test_slightly_dependent_rounds_use_up_the_reserve_and_no_more(alpha: float) -> None:
    """Correlation 0.1 from round to round: 5.4 % of 5 %, within what chance allows of 5 %."""
    assert alarms(simulate(autocorrelated), alpha) <= most(SERIES, alpha)


@pytest.mark.parametrize("alpha", [0.05, 0.005])
def test_a_host_that_drifts_within_and_between_rounds_raises_no_alarm(alpha: float) -> None:
    many = simulate(normal, start_effect=START_EFFECT, drift_per_round=0.0002)

    assert alarms(many, alpha) <= most(SERIES, alpha)


def test_an_ordinary_t_interval_looked_at_after_every_round_is_wrong_in_every_fourth_campaign() -> None:
    assert alarms(simulate(normal), 0.05, kind=Kind.FIXED) >= fewest(SERIES, 0.25)


def test_noise_skewed_to_one_side_raises_more_alarms_than_promised() -> None:
    # FIXME: the mean of few skewed rounds is no t statistic. Equal arms in balanced roles cannot be skewed
    # to one side (see stalls_in_either_arm), so this is about the coverage of unequal ones.
    assert alarms(simulate(skewed), 0.05) >= fewest(SERIES, 0.08)


def fixed_start_order() -> list[Series]:
    """The candidate is always started first."""
    made = []
    for s in simulate(normal, rounds=32):
        orders = s.orders.copy()
        orders[:, 0] = 0.5
        made.append(Series(s.log_ratios + START_EFFECT * orders[:, 0], orders))
    return made


def test_a_fixed_start_order_is_a_false_verdict_where_orders_are_ignored() -> None:
    assert alarms(fixed_start_order(), 0.05, ignore_orders=True) >= fewest(SERIES, 0.5)


def test_a_fixed_start_order_is_never_a_verdict_where_orders_are_accounted_for() -> None:
    assert alarms(fixed_start_order(), 0.05) == 0


@pytest.mark.parametrize("alpha", [0.05, 0.005])
@pytest.mark.parametrize("sign", [1, -1])
def test_an_effect_as_large_as_the_margin_is_hardly_ever_called_the_same(alpha: float, sign: int) -> None:
    many = simulate(normal, effect=sign * float(np.log1p(0.01)), start_effect=START_EFFECT)

    _, same = decided_after(many, alpha=alpha)

    assert (same < NEVER).sum() <= most(SERIES, alpha)


@pytest.mark.parametrize("rounds", [8, 16, 24, 32])
@pytest.mark.parametrize("alpha", [0.05, 0.005])
def test_a_fixed_number_of_rounds_has_exactly_the_stated_error_rate(rounds: int, alpha: float) -> None:
    """A/A: of 10 000 campaigns the share alpha is called different, no more and no less."""
    many = simulate(normal, series=10_000, rounds=rounds, start_effect=START_EFFECT)

    limits = [interval(estimate(s.log_ratios, s.orders), alpha, Kind.FIXED) for s in many]

    different = sum(int(((low > 0) | (high < 0)).sum()) for low, high in limits)
    assert fewest(10_000, alpha) <= different <= most(10_000, alpha)


def test_the_simulated_noise_is_as_wide_as_it_says() -> None:
    random = np.random.default_rng(1)

    for noise in (normal, bimodal, skewed, autocorrelated, stalls_in_either_arm):
        assert noise(random, 2000, 100).std() == pytest.approx(ROUND_SD, rel=0.02)
