"""The e-process: its published form, that it is a ratio of densities, and its inversion."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.special import gammaln

from pgverdict.judge.estimate import FloatArray, estimate
from pgverdict.judge.evalue import MIXTURE_VARIANCE, critical_t, log_e_value

from .simulated import planned_orders


def log_e(ratios: FloatArray, orders: FloatArray) -> float:
    found = estimate(ratios, orders)
    if not found.known:
        return 0.0
    t = found.log_ratio / found.standard_error
    return float(log_e_value(t, df=found.df, information=found.information))


@pytest.mark.parametrize("n", [2, 3, 4, 10, 24, 100])
@pytest.mark.parametrize("t", [0.0, 0.5, -2.0, 3.5, 40.0])
def test_without_orders_it_is_the_published_formula(n: int, t: float) -> None:
    nu, k = n - 1, 1 + n * MIXTURE_VARIANCE
    published = k**-0.5 * ((1 + t**2 / nu) / (1 + t**2 / (nu * k))) ** ((nu + 1) / 2)

    assert math.exp(log_e_value(np.array(t), df=nu, information=n)) == pytest.approx(published)


@pytest.mark.parametrize(("df", "information"), [(1, 2.0), (4, 8.0), (9, 12.5), (50, 53.9)])
@pytest.mark.parametrize("c2", [0.25, 1.0, 4.0])
def test_its_expectation_is_one_while_nothing_changed(df: int, information: float, c2: float) -> None:
    def weighted(t: float) -> float:
        log_density = gammaln((df + 1) / 2) - gammaln(df / 2) - math.log(df * math.pi) / 2
        log_density -= (df + 1) / 2 * math.log1p(t * t / df)
        return math.exp(
            log_density + log_e_value(np.array(t), df=df, information=information, mixture_variance=c2)
        )

    total, _ = quad(weighted, -np.inf, np.inf, limit=500)

    assert total == pytest.approx(1, rel=1e-6)


@pytest.mark.parametrize("rounds", [5, 6, 9, 20])
def test_it_is_the_ratio_of_densities_of_what_orders_and_spread_cannot_touch(rounds: int) -> None:
    orders = planned_orders(rounds, 2)
    ratios = np.random.default_rng(rounds).standard_normal(rounds) + 0.8
    left, lengths, _ = np.linalg.svd(orders)
    rank = int((lengths > 1e-9).sum())
    untouched = left[:, rank:].T
    u, z = untouched @ ratios, untouched @ np.ones(rounds)
    spread = np.eye(len(u)) + MIXTURE_VARIANCE * np.outer(z, z)
    bent = float(u @ np.linalg.solve(spread, u))
    expected = -np.linalg.slogdet(spread)[1] / 2 + len(u) / 2 * math.log(float(u @ u) / bent)

    assert log_e(ratios, orders) == pytest.approx(expected, abs=1e-9)


def test_it_is_one_while_the_rounds_cannot_tell() -> None:
    assert float(log_e_value(np.array(5.0), df=0, information=3.0)) == 0
    assert float(log_e_value(np.array(5.0), df=3, information=0.0)) == 0


def test_rounds_without_any_scatter_give_the_most_that_so_many_can() -> None:
    most = log_e_value(np.array(np.inf), df=4, information=8.0)

    assert float(most) == pytest.approx(math.log(9.0**2))
    assert float(log_e_value(np.array(1e9), df=4, information=8.0)) == pytest.approx(float(most))


@settings(derandomize=True, max_examples=200)
@given(
    alpha=st.floats(1e-6, 0.5),
    df=st.integers(1, 500),
    lost=st.floats(0, 3),
    c2=st.floats(0.05, 20),
)
def test_the_critical_t_is_where_the_evidence_becomes_decisive(
    alpha: float, df: int, lost: float, c2: float
) -> None:
    information = df + 4 - lost

    t = critical_t(alpha, df=df, information=information, mixture_variance=c2)

    reached = log_e_value(t, df=df, information=information, mixture_variance=c2)
    if math.isfinite(t):
        assert float(reached) == pytest.approx(-math.log(alpha), rel=1e-6, abs=1e-6)
        assert log_e_value(t * 1.001, df=df, information=information, mixture_variance=c2) > reached
        assert log_e_value(t * 0.999, df=df, information=information, mixture_variance=c2) < reached
    else:
        assert reached <= -math.log(alpha) + 1e-9


@pytest.mark.parametrize(("df", "information", "alpha"), [(4, 8.0, 0.01), (0, 4.0, 0.5), (7, 0.0, 0.5)])
def test_there_is_no_critical_t_where_no_t_is_evidence_enough(
    df: int, information: float, alpha: float
) -> None:
    assert math.isinf(critical_t(alpha, df=df, information=information))


def test_the_critical_t_grows_as_alpha_shrinks() -> None:
    ts = [float(critical_t(alpha, df=20, information=24.0)) for alpha in (0.1, 0.05, 0.01, 0.005, 1e-4)]

    assert ts == sorted(ts)
    assert len(set(ts)) == len(ts)
