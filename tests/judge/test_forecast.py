"""What an open verdict would take: a fair middle, and a range that holds what it says."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pgverdict.judge import forecast as module
from pgverdict.judge.decide import MORE_ROUNDS_MAX, ROUNDS_MIN
from pgverdict.judge.estimate import Estimate, FloatArray
from pgverdict.judge.forecast import Forecast, forecast
from pgverdict.judge.interval import Kind, half_width_t

from .simulated import ROUND_SD

ALPHA, MARGIN = 0.005, 0.01


def an_estimate(log_ratio: float, sd: float, *, rounds: int) -> Estimate:
    return Estimate(np.array(log_ratio), np.array(sd), rounds - 4, float(rounds))


def forecast_of(result: Estimate, rounds: int, kind: Kind = Kind.ANYTIME) -> Forecast | None:
    return forecast(result, rounds=rounds, alpha=ALPHA, margin=MARGIN, kind=kind)


def deciding_rounds(effect: float, *, series: int, rounds: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Per series the estimates and scatters after every round, and the round of the decision."""
    noise = np.random.default_rng(20261121).standard_normal((series, rounds))
    # The orders' degrees of freedom are those of a plan; their values make no difference to noise.
    n = np.arange(1.0, rounds + 1)
    log_ratios = effect + ROUND_SD * noise
    mean = np.cumsum(log_ratios, axis=1) / n
    squares = np.cumsum(log_ratios**2, axis=1) - n * mean**2
    sd = np.sqrt(np.maximum(squares, 0) / np.maximum(n - 1, 1))
    t = half_width_t(ALPHA, Kind.ANYTIME, df=np.maximum(n - 4, 0), information=n)
    half = np.where(np.isfinite(t), np.where(np.isfinite(t), t, 0) * sd / np.sqrt(n), np.inf)
    settled = ((np.abs(mean) > half) | (np.abs(mean) + half <= math.log1p(MARGIN))) & (n >= ROUNDS_MIN)
    assert settled.any(axis=1).all()
    return mean, sd, settled.argmax(axis=1) + 1


@settings(max_examples=60, deadline=None)
@given(st.floats(-0.05, 0.05), st.floats(1e-4, 0.3), st.integers(6, 60), st.sampled_from(Kind), st.booleans())
def test_what_is_too_improbable_to_be_worked_out_moves_no_forecast(
    log_ratio: float, sd: float, rounds: int, kind: Kind, is_strict: bool
) -> None:
    result = an_estimate(log_ratio, sd, rounds=rounds)
    alpha = ALPHA / 40 if is_strict else ALPHA

    def found() -> Forecast | None:
        return forecast(result, rounds=rounds, alpha=alpha, margin=MARGIN, kind=kind)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(module, "_FAR", math.inf)
        patched.setattr(module, "_NOTHING", -1.0)
        whole = found()
    assert found() == whole


@pytest.mark.parametrize("stage", [9, 16, 24])
def test_the_middle_is_fair_and_the_range_holds_what_it_says(stage: int) -> None:
    """Over true effects from none to twice the margin: METHODOLOGY.md#forecast."""
    ratios, held = [], []
    for effect in (0.0, 0.003, 0.005, 0.008, 0.01, 0.012, 0.02):
        mean, sd, decided = deciding_rounds(effect, series=150, rounds=2500)
        for one in np.flatnonzero(decided > stage)[:60]:
            found = forecast_of(an_estimate(mean[one, stage - 1], sd[one, stage - 1], rounds=stage), stage)
            assert found is not None
            more = decided[one] - stage
            ratios.append(more / found.rounds)
            held.append(found.low <= more <= (found.high or math.inf))

    assert 0.7 <= np.median(ratios) <= 1.1
    assert np.mean([0.5 <= ratio <= 2 for ratio in ratios]) >= 0.65
    assert 0.8 <= np.mean(held) <= 0.96


@pytest.mark.parametrize("kind", Kind)
@pytest.mark.parametrize("log_ratio", [0.0, 0.004, -0.007, 0.012, 0.05])
@pytest.mark.parametrize("rounds", [5, 9, 12])
def test_a_forecast_is_in_order_and_forecasts_a_verdict_that_may_be(
    kind: Kind, log_ratio: float, rounds: int
) -> None:
    found = forecast_of(an_estimate(log_ratio, 0.02, rounds=rounds), rounds, kind)

    assert found is not None
    assert max(1, ROUNDS_MIN - rounds) <= found.low <= found.rounds
    assert found.high is None or found.rounds <= found.high
    n = rounds + found.low
    assert np.isfinite(half_width_t(ALPHA, kind, df=n - 4, information=float(n)))


def test_the_forecast_does_not_depend_on_which_arm_is_the_baseline() -> None:
    one, other = (forecast_of(an_estimate(sign * 0.006, 0.01, rounds=12), 12) for sign in (1, -1))

    assert one == other


def test_more_scatter_takes_more_rounds() -> None:
    found = [forecast_of(an_estimate(0.002, sd, rounds=12), 12) for sd in (0.01, 0.02, 0.04)]

    rounds = [one.rounds for one in found if one is not None]
    assert len(rounds) == 3
    assert rounds == sorted(set(rounds))


def test_there_is_no_forecast_beyond_what_anybody_would_wait_for() -> None:
    found = forecast_of(an_estimate(0.0001, 0.2, rounds=20), 20)

    assert found is not None
    assert found.high is None
    assert forecast_of(an_estimate(0.0001, 2.0, rounds=20), 20) is None
    assert MORE_ROUNDS_MAX == 10_000


def test_there_is_no_forecast_without_an_estimate() -> None:
    assert forecast_of(Estimate(np.array(math.nan), np.array(math.nan), 0, 4.0), 4) is None


@pytest.mark.parametrize("log_ratio", [0.02, 0.0])
def test_rounds_without_scatter_still_wait_for_evidence_enough(log_ratio: float) -> None:
    assert forecast_of(an_estimate(log_ratio, 0.0, rounds=8), 8) == Forecast(1, 1, 1)
