"""A calibration run whose truth is known says this truth."""

import dataclasses
import math

import pytest

from pgverdict.judge.calibration import Calibration, calibration
from pgverdict.records.round import RoundRecord, RoundState

from .calibrated import PAIR_SD, SHORT_S, START_SD, STARTED_FIRST, WHOLE_S, a_calibration


@pytest.fixture(scope="module")
def found() -> Calibration:
    return calibration(a_calibration(160))


def test_rounds_of_all_arms_and_of_two_are_told_apart(found: Calibration) -> None:
    assert (found.rounds, found.short_rounds, found.failed_rounds) == (140, 20, 0)
    assert found.round_s == WHOLE_S


def test_rounds_become_seconds_by_what_rounds_of_two_arms_took(found: Calibration) -> None:
    assert found.costs is not None
    assert found.costs.round_s == SHORT_S
    assert found.costs.pair_s == pytest.approx(0.1)
    assert found.costs.overhead_s == pytest.approx(SHORT_S - 1.2)
    assert found.seconds(20) == 20 * SHORT_S
    assert found.rounds_max == 100, "as many as fit five minutes"


def test_the_truth_is_what_was_spun_over_what_the_baseline_takes(found: Calibration) -> None:
    assert [math.expm1(slowed.found.truth) for slowed in found.slowed] == pytest.approx(
        [0.01, 0.02, 0.05], rel=0.02
    )
    assert [slowed.spun_ns for slowed in found.slowed] == [200, 400, 1000]
    assert [slowed.cpu_ns for slowed in found.slowed] == pytest.approx([200, 400, 1000])


def test_slow_downs_are_found_the_sooner_the_larger_they_are(found: Calibration) -> None:
    rounds = [slowed.found.rounds_p50 for slowed in found.slowed]

    assert None not in rounds
    assert rounds == sorted(rounds, reverse=True)  # type: ignore[type-var]
    assert all(slowed.found.low < slowed.found.truth < slowed.found.high for slowed in found.slowed)
    assert all(slowed.found.slower.share > 0.9 for slowed in found.slowed)
    assert all(slowed.found.holding.share > 0.9 for slowed in found.slowed)


def test_equal_arms_are_the_same_and_raise_hardly_an_alarm(found: Calibration) -> None:
    assert found.equal is not None
    assert found.alarms is not None
    assert found.equal.same.share > 0.9
    assert found.alpha == pytest.approx(0.01)
    assert found.alarms.low <= found.alpha


def test_the_levels_are_those_the_rounds_were_made_of(found: Calibration) -> None:
    levels = found.levels

    assert levels is not None
    assert levels.start_sd == pytest.approx(START_SD * math.sqrt(2), rel=0.1)
    assert levels.pair_sd == pytest.approx(PAIR_SD * math.sqrt(2) * math.sqrt(1.5), rel=0.15)
    assert levels.loads is not None
    assert levels.loads.members == 8
    assert levels.loads.sd < levels.loads.sd_high < 0.002, "loads were all alike"
    start = levels.orders[0]
    assert start.name == "started first"
    assert start.low < STARTED_FIRST < start.high
    assert found.best_pairs == pytest.approx(
        math.sqrt((SHORT_S - 1.2) / 0.1) * levels.pair_sd / levels.start_sd
    )


def test_independent_rounds_do_not_correlate(found: Calibration) -> None:
    assert found.correlation is not None
    value, error = found.correlation
    assert abs(value) < 3 * error


def test_the_same_run_says_the_same() -> None:
    run = a_calibration(24)

    assert calibration(run) == calibration(run)


def test_a_run_of_a_few_rounds_says_that_it_knows_nothing() -> None:
    found = calibration(a_calibration(3))

    assert (found.alarms, found.equal, found.slowed, found.correlation) == (None, None, (), None)


def test_a_run_without_rounds_says_that_it_knows_nothing() -> None:
    found = calibration(a_calibration(0))

    assert (found.rounds, found.round_s, found.costs, found.levels) == (0, None, None, None)


def test_without_a_round_of_two_arms_rounds_are_not_turned_into_seconds() -> None:
    run = a_calibration(20)
    (cell,) = run.cells
    whole = tuple(r for r in cell.rounds if len(r.arms) == 5)

    found = calibration(dataclasses.replace(run, cells=(dataclasses.replace(cell, rounds=whole),)))

    assert found.seconds(20) is None
    assert found.best_pairs is None
    assert found.equal is not None


def test_failed_rounds_are_counted_and_used_for_nothing() -> None:
    run = a_calibration(20)
    (cell,) = run.cells
    plan = cell.rounds[0].plan
    failed = RoundRecord(plan, RoundState.FAILED, "2026-11-21T12:00:00Z", 1.0, story="the server died")
    more = dataclasses.replace(run, cells=(dataclasses.replace(cell, rounds=(*cell.rounds, failed)),))

    assert calibration(more) == dataclasses.replace(calibration(run), failed_rounds=1)
