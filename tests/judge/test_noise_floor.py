"""Nothing is claimed below the noise floor, and equal servers show nothing above it more often than promised."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgverdict.judge.answer import answer
from pgverdict.judge.decide import ROUNDS_MIN
from pgverdict.judge.family import Levels
from pgverdict.judge.interval import Kind, interval
from pgverdict.judge.values import Question
from pgverdict.judge.verdict import Outcome, Verdict

from .made import a_campaign, a_cell, rounds_of
from .simulated import looks, most, normal, simulate

SERIES = 2000


def verdict_of(log_ratios: list[float], *, fixed: bool = False, alpha: float = 0.005) -> Verdict:
    campaign = a_campaign(rounds=len(log_ratios) if fixed else None)
    return answer(a_cell(rounds_of(log_ratios)), campaign, 1, Question("latency_us_p50")).verdict(
        Levels.alone(alpha)
    )


@given(
    effect=st.floats(-0.1, 0.1),
    sd=st.floats(1e-5, 0.2),
    seed=st.integers(0, 2**32 - 1),
    rounds=st.integers(2, 40),
    fixed=st.booleans(),
)
def test_no_claim_lies_below_the_noise_floor(
    effect: float, sd: float, seed: int, rounds: int, fixed: bool
) -> None:
    noise = np.random.default_rng(seed).normal(effect, sd, rounds)
    verdict = verdict_of([float(one) for one in noise], fixed=fixed)
    floor = math.log1p(verdict.noise_floor) if math.isfinite(verdict.noise_floor) else math.inf

    if verdict.outcome in (Outcome.SLOWER, Outcome.FASTER) or verdict.detectable:
        assert abs(math.log(verdict.effect)) > floor * (1 - 1e-9)
    elif math.isfinite(floor) and rounds >= ROUNDS_MIN:
        assert abs(math.log(verdict.effect)) <= floor * (1 + 1e-9)
    if verdict.outcome is Outcome.SAME:
        assert verdict.noise_floor <= verdict.bound * (1 + 1e-9)
        assert verdict.bound <= verdict.margin * (1 + 1e-9)


def test_the_floor_is_the_interval_around_no_change() -> None:
    verdict = verdict_of([0.01, -0.01, 0.004, -0.003, 0.02, -0.02, 0.0, 0.001, 0.0, 0.005, -0.002, 0.0])

    assert (1 + verdict.noise_floor) ** 2 == pytest.approx(verdict.high / verdict.low)


def test_there_is_no_floor_before_there_is_an_interval() -> None:
    verdict = verdict_of([0.01, 0.02, 0.0])

    assert (verdict.noise_floor, verdict.bound) == (math.inf, math.inf)


def test_equal_servers_show_an_effect_beyond_the_floor_no_more_often_than_promised() -> None:
    beyond = np.zeros(SERIES, dtype=bool)
    for _, estimates in looks(simulate(normal, series=SERIES, rounds=40)):
        limits = [interval(e, 0.05, Kind.ANYTIME) for e in estimates]
        half = np.concatenate([(high - low) / 2 for low, high in limits])
        beyond |= np.abs(np.concatenate([e.log_ratio for e in estimates])) > half

    assert beyond.sum() <= most(SERIES, 0.05)
