"""The change per release over a series of releases, against a simulated truth."""

import dataclasses
import math

import numpy as np
import pytest

from pgverdict.judge.trend import Trend, is_series, judge_trend, judge_trends
from pgverdict.records.run import ArmFacts, CellRecord, RunRecord, RunState
from pgverdict.spec.arms import Arm, make_arms

from .made import a_campaign, a_cell
from .many import plans_of, round_of_arms
from .simulated import most

RELEASES = ("13", "14", "15", "16")
CAMPAIGN = dataclasses.replace(a_campaign(), arms=make_arms(RELEASES))
START_EFFECT = 0.0094
ALPHA = 0.05


def series(per_release: float, *, rounds: int = 16, sd: float = 0.004, seed: int = 1) -> CellRecord:
    """Rounds whose arms are that much slower from one to the next, and slower the earlier they are started."""
    random = np.random.default_rng(seed)
    arms = np.arange(len(RELEASES))
    return a_cell(
        [
            round_of_arms(
                plan,
                [
                    *(
                        per_release * arms
                        - START_EFFECT * np.argsort(plan.start_order) / (len(arms) - 1)
                        + sd * random.standard_normal(len(arms))
                    )
                ],
            )
            for plan in plans_of(len(RELEASES), rounds, seed=seed)
        ]
    )


def a_run(cell: CellRecord, versions: tuple[str, ...], arms: tuple[Arm, ...] = CAMPAIGN.arms) -> RunRecord:
    facts = tuple(
        ArmFacts(arm.name, arm.role, arm.server, version, (), ())
        for arm, version in zip(arms, versions, strict=True)
    )
    campaign = dataclasses.replace(CAMPAIGN, arms=arms)
    return RunRecord("r", RunState.DONE, "2026-11-21T12:00:00Z", 60.0, campaign, (), facts, (cell,))


VERSIONS = ("13.22", "14.19", "15.14", "16.10")


def p50_of(cell: CellRecord) -> Trend:
    return judge_trend(cell, CAMPAIGN, "latency_us_p50", ALPHA)


def test_a_trend_is_found_with_its_size() -> None:
    trend = p50_of(series(0.01, rounds=40))

    assert 1 < trend.low < math.exp(0.01) < trend.high
    assert trend.effect == pytest.approx(math.exp(0.01), abs=0.001)
    assert trend.rounds == 40


def test_of_arms_without_noise_the_slope_is_exact_and_throughput_mirrors_it() -> None:
    cell = series(0.01, sd=0.0, rounds=11)

    assert p50_of(cell).effect == pytest.approx(math.exp(0.01), abs=1e-12)
    assert judge_trend(cell, CAMPAIGN, "tps", ALPHA).effect == pytest.approx(math.exp(-0.01), abs=1e-7)


def test_where_there_is_no_trend_one_is_seen_no_more_often_than_promised() -> None:
    """Looked at after every eighth round of 24."""
    campaigns = 200
    false = 0
    for seed in range(campaigns):
        cell = series(0.0, rounds=24, seed=seed)
        looks = [p50_of(a_cell(cell.rounds[:n])) for n in (8, 16, 24)]
        false += any(not look.low <= 1 <= look.high for look in looks)

    assert false <= most(campaigns, ALPHA)


def test_the_interval_holds_the_truth_as_often_as_promised() -> None:
    campaigns = 100
    missed = 0
    for seed in range(campaigns):
        trend = p50_of(series(0.004, rounds=12, seed=seed))
        missed += not trend.low <= math.exp(0.004) <= trend.high

    assert missed <= most(campaigns, ALPHA)


def test_a_run_over_ascending_releases_has_a_trend_of_each_metric_the_primary_first() -> None:
    ((first, *others),) = judge_trends(a_run(series(0.01), VERSIONS))

    assert first.metric == "latency_us_p50"
    assert {trend.metric for trend in others} == {
        *("tps", "tps_p50", "latency_us_mean", "latency_us_stddev", "latency_us_p95", "latency_us_p99"),
        "server_cpu_us_per_txn",
    }
    assert first.confidence == 0.99
    assert sum(t.alpha for t in (first, *others) if t.metric != "latency_us_mean") == pytest.approx(0.01)


@pytest.mark.parametrize(
    "versions", [VERSIONS[::-1], ("13.22", "15.14", "14.19", "16.10"), ("13.22", "14.19", "16.10", "16.10")]
)
def test_arms_in_another_order_or_twice_are_no_series(versions: tuple[str, ...]) -> None:
    run = a_run(series(0.01), versions)

    assert not is_series(run)
    assert judge_trends(run) == ((),)


def test_arms_that_differ_in_their_settings_too_are_no_series() -> None:
    other = make_arms(RELEASES, (("15", "jit", "off"),))

    assert is_series(a_run(series(0.01), VERSIONS))
    assert not is_series(a_run(series(0.01), VERSIONS, other))


def test_releases_that_were_aligned_or_tuned_differently_are_still_a_series() -> None:
    first, *others = make_arms(RELEASES, ((None, "work_mem", "8MB"),))
    tuned = dataclasses.replace(
        first, settings=(("jit", "off"), ("work_mem", "8MB")), origins=(("jit", "tuned"),)
    )

    assert is_series(a_run(series(0.01), VERSIONS, (tuned, *others)))


def test_an_optional_setting_that_a_release_does_not_know_ends_no_series() -> None:
    arms = make_arms(RELEASES, tuple((name, "jit", "off") for name in RELEASES[1:]))
    run = a_run(series(0.01), VERSIONS, arms)
    known = tuple(
        dataclasses.replace(found, defaults=(("jit", "on"),)) if number else found
        for number, found in enumerate(run.arms)
    )
    unlike = dataclasses.replace(arms[1], settings=(("jit", "on"),))

    assert not is_series(run)  # the first one knows it, and was not given it
    assert is_series(dataclasses.replace(run, arms=known))
    other = a_run(series(0.01), VERSIONS, (arms[0], unlike, *arms[2:]))
    assert not is_series(dataclasses.replace(other, arms=known))


def test_releases_on_servers_of_others_are_no_series() -> None:
    first, *others = make_arms(RELEASES)
    elsewhere = dataclasses.replace(first, server="dsn:postgresql://me@db/app")

    assert not is_series(a_run(series(0.01), VERSIONS, (elsewhere, *others)))


def test_releases_on_different_storage_are_no_series() -> None:
    first, *others = make_arms(RELEASES)
    elsewhere = dataclasses.replace(first, data_directory="/mnt/hdd")

    assert not is_series(a_run(series(0.01), VERSIONS, (elsewhere, *others)))


def test_before_the_first_round_nothing_is_known() -> None:
    trend = p50_of(a_cell([]))

    assert math.isnan(trend.effect)
    assert (trend.low, trend.high, trend.rounds) == (0.0, math.inf, 0)
