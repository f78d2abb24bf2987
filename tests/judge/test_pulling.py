"""Rounds far out are pulled in: none that noise explains, and one outlier no longer hides what forty rounds say."""

import numpy as np
import pytest

from bench.simulations.campaigns import UNDECIDED, equal, mixed, run, simulate
from bench.simulations.noise import NOISES
from pgverdict.judge.estimate import FloatArray, estimate
from pgverdict.judge.interval import Kind, interval
from pgverdict.judge.pulling import REACH, ROUNDS_MIN, as_judged, pull_in

from .simulated import most

RANDOM = 20261121
RUNS = 4000


def rounds(number: int = 40, *, seed: int = RANDOM) -> FloatArray:
    return 0.01 + 0.009 * np.random.default_rng(seed).standard_normal(number)


def test_normal_rounds_stay_what_they_are() -> None:
    noise = np.random.default_rng(RANDOM).standard_normal((500, 40))

    assert (pull_in(noise) != noise).mean() < 1e-3


def test_a_round_far_out_counts_as_one_at_the_reach_and_the_others_as_they_are() -> None:
    plain = rounds()
    wild = np.append(plain, -0.5)

    pulled = pull_in(wild)

    assert (pulled[:-1] == plain).all()
    assert -(REACH + 1.5) * 0.009 < pulled[-1] < -2 * 0.009
    assert pull_in(np.append(plain, -50.0))[-1] == pytest.approx(pulled[-1])


def test_an_interval_is_no_longer_widened_by_how_far_out_a_round_was() -> None:
    def half(log_ratios: FloatArray) -> float:
        low, high = interval(estimate(log_ratios, np.empty((41, 0))), 0.01, Kind.ANYTIME)
        return float(high - low) / 2

    wild = np.append(rounds(), -0.12)

    assert half(as_judged("tps", wild)) > 2 * half(rounds(41))
    assert half(as_judged("latency_us_p50", wild)) < 1.3 * half(rounds(41))


def test_few_rounds_and_totals_are_left_alone() -> None:
    few = np.array([0.0] * (ROUNDS_MIN - 2) + [1.0])
    many = np.append(rounds(), -0.5)

    assert (pull_in(few) == few).all()
    for name in ("tps", "latency_us_mean", "latency_us_p99", "server_cpu_us_per_txn"):
        assert (as_judged(name, many) == many).all()


def test_mirrored_rounds_are_pulled_in_mirrored_and_every_row_by_itself() -> None:
    wild = np.stack([np.append(rounds(), -0.5), np.append(rounds(seed=1), 0.0)])

    assert pull_in(-wild) == pytest.approx(-pull_in(wild))
    assert (pull_in(wild)[1] == pull_in(wild[1])).all()


@pytest.mark.parametrize("noise", ["normal", "t3", "lognormal, arms alike", "bimodal", "outliers"])
@pytest.mark.parametrize("truth", [equal, mixed])
def test_pulling_in_keeps_the_error_probability(noise: str, truth: object) -> None:
    random = np.random.default_rng(RANDOM)
    looks = simulate(NOISES[noise], truth, random, campaigns=RUNS, cells=1, rounds=40, pulled=True)  # type: ignore[arg-type]

    ended = run(looks, 0.01, rounds_each=40)

    assert (ended.wrong & (ended.verdict != UNDECIDED)).sum() <= most(RUNS, 0.01)


def test_with_outliers_verdicts_come_sooner() -> None:
    found = []
    for pulled in (False, True):
        random = np.random.default_rng(RANDOM)
        looks = simulate(NOISES["outliers"], mixed, random, campaigns=1000, cells=1, rounds=40, pulled=pulled)
        found.append(run(looks, 0.01, rounds_each=40).rounds.mean())

    assert found[1] < 0.9 * found[0]
