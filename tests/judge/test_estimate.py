"""The estimate over rounds, against ordinary least squares written out."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pgverdict.judge.estimate import FloatArray, estimate, order_columns
from pgverdict.plan.rounds import RoundPlan, arrange

from .simulated import planned_orders

NO_ORDERS = 0


def least_squares(log_ratios: FloatArray, orders: FloatArray) -> tuple[float, float, int, float]:
    """Intercept, residual sd, degrees of freedom and information from the normal equations."""
    x = np.column_stack([np.ones(len(orders)), orders])
    inverse = np.linalg.inv(x.T @ x)
    coefficients = inverse @ x.T @ log_ratios
    rest = log_ratios - x @ coefficients
    df = len(log_ratios) - x.shape[1]
    return float(coefficients[0]), float(np.sqrt(rest @ rest / df)), df, float(1 / inverse[0, 0])


def a_plan(*, started: int, connected: int, slot_of_candidate: int) -> RoundPlan:
    return RoundPlan(
        0,
        (started, 1 - started),
        (connected, 1 - connected),
        (1 - slot_of_candidate, slot_of_candidate),
        (0, 0),
        (0, 0),
        (),
    )


def test_orders_are_halves_positive_where_the_candidate_is_first_or_second_in_place() -> None:
    plans = [
        a_plan(started=1, connected=0, slot_of_candidate=0),
        a_plan(started=0, connected=1, slot_of_candidate=0),
        a_plan(started=0, connected=0, slot_of_candidate=1),
    ]

    assert order_columns(plans).tolist() == [[0.5, -0.5, -0.5], [-0.5, 0.5, -0.5], [-0.5, -0.5, 0.5]]
    assert order_columns([]).shape == (0, 3)


def test_without_orders_it_is_the_mean_and_the_sample_standard_deviation() -> None:
    ratios = np.array([0.01, 0.03, 0.02, 0.06])

    found = estimate(ratios, np.empty((4, NO_ORDERS)))

    assert float(found.log_ratio) == pytest.approx(0.03)
    assert float(found.sd) == pytest.approx(ratios.std(ddof=1))
    assert (found.df, found.information) == (3, 4.0)
    assert float(found.standard_error) == pytest.approx(ratios.std(ddof=1) / 2)


@pytest.mark.parametrize("rounds", [6, 7, 8, 11, 16, 29, 100])
def test_it_is_least_squares_with_an_intercept(rounds: int) -> None:
    orders = planned_orders(rounds, 5)
    ratios = np.random.default_rng(rounds).standard_normal(rounds)

    found = estimate(ratios, orders)

    expected = least_squares(ratios, orders)
    assert (float(found.log_ratio), float(found.sd), found.df, found.information) == pytest.approx(expected)


def test_whole_blocks_of_the_plan_lose_no_information() -> None:
    ratios = np.random.default_rng(1).standard_normal(16)

    found = estimate(ratios, planned_orders(16, 0))

    assert found.information == pytest.approx(16)
    assert float(found.log_ratio) == pytest.approx(ratios.mean())


def test_an_order_that_never_varied_cannot_be_told_from_the_effect() -> None:
    orders = planned_orders(16, 0).copy()
    orders[:, 0] = 0.5

    found = estimate(np.random.default_rng(1).standard_normal(16), orders)

    assert not found.known
    assert found.information == 0
    assert np.isnan(found.log_ratio)


def test_one_round_in_the_other_order_makes_the_effect_known() -> None:
    orders = np.full((12, 1), 0.5)
    orders[5] = -0.5
    ratios = np.random.default_rng(1).standard_normal(12)

    found = estimate(ratios, orders)

    assert found.known
    others = np.delete(ratios, 5)
    assert float(found.log_ratio) == pytest.approx((ratios[5] + others.mean()) / 2)
    assert found.information == pytest.approx(4 / (1 + 1 / 11))


def test_orders_that_coincide_cost_one_degree_of_freedom_together() -> None:
    orders = planned_orders(16, 0).copy()
    orders[:, 1] = orders[:, 0]
    ratios = np.random.default_rng(1).standard_normal(16)

    found = estimate(ratios, orders)

    assert (float(found.log_ratio), float(found.sd), found.df, found.information) == pytest.approx(
        least_squares(ratios, orders[:, 1:])
    )


def test_fewer_rounds_than_unknowns_say_nothing() -> None:
    assert not estimate(np.array([0.01]), planned_orders(1, 0)).known
    assert not estimate(np.empty(0), planned_orders(0, 0)).known
    assert not estimate(np.zeros(4), planned_orders(4, 0)).known


@pytest.mark.parametrize("seed", range(20))
def test_five_rounds_of_any_plan_are_the_first_to_say_something(seed: int) -> None:
    found = estimate(np.arange(5.0), planned_orders(5, seed))

    assert found.known
    assert found.df == 1


@settings(derandomize=True, max_examples=50)
@given(
    rounds=st.integers(5, 40),
    seed=st.integers(0, 1000),
    effects=st.tuples(*[st.floats(-1, 1)] * 3),
    shift=st.floats(-1, 1),
    scale=st.floats(0.01, 100),
)
def test_order_effects_of_any_size_change_neither_estimate_nor_spread(
    rounds: int, seed: int, effects: tuple[float, float, float], shift: float, scale: float
) -> None:
    orders = planned_orders(rounds, seed)
    ratios = np.random.default_rng(seed).standard_normal(rounds)

    plain = estimate(ratios, orders)
    moved = estimate(shift + scale * ratios + orders @ np.array(effects), orders)

    assert float(moved.log_ratio) == pytest.approx(shift + scale * float(plain.log_ratio), abs=1e-9)
    assert float(moved.sd) == pytest.approx(scale * float(plain.sd), rel=1e-6, abs=1e-9)


def test_many_series_at_once_are_what_each_is_alone() -> None:
    orders = planned_orders(13, 3)
    many = np.random.default_rng(1).standard_normal((7, 13))

    together = estimate(many, orders)

    alone = [estimate(ratios, orders) for ratios in many]
    assert together.log_ratio.tolist() == pytest.approx([float(e.log_ratio) for e in alone])
    assert together.sd.tolist() == pytest.approx([float(e.sd) for e in alone])


def test_a_plan_fits_its_columns() -> None:
    plans = [arrange("cell", seed=3, ordinal=i) for i in range(8)]

    columns = order_columns(plans)

    assert sorted(map(tuple, columns.tolist())) == sorted(
        (a, b, c) for a in (-0.5, 0.5) for b in (-0.5, 0.5) for c in (-0.5, 0.5)
    )
