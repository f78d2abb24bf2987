"""Rounds that failed: whom they are blamed on, and what they keep from being said."""

import dataclasses
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from pgverdict.judge.alpha import cell_alphas
from pgverdict.judge.cell import judge_cell
from pgverdict.judge.failures import Failures, blame_p_value, count_failures
from pgverdict.judge.verdict import Outcome, Verdict
from pgverdict.records.round import RoundRecord, RoundState
from pgverdict.records.run import CellRecord

from .made import ARMS, a_campaign, a_cell, rounds_of

counts = st.integers(0, 60)


def failed(blamed: Sequence[int | None]) -> list[RoundRecord]:
    measured = rounds_of([0.0] * len(blamed))
    return [
        dataclasses.replace(r, state=RoundState.FAILED, slices=(), arms=(), story="it broke", blamed=arm)
        for r, arm in zip(measured, blamed, strict=True)
    ]


@given(baseline=counts, candidate=counts)
def test_the_check_is_the_exact_binomial_test_and_does_not_care_who_is_who(
    baseline: int, candidate: int
) -> None:
    p = blame_p_value(baseline, candidate)

    if baseline + candidate:
        assert p == pytest.approx(binomtest(candidate, baseline + candidate).pvalue)
    assert p == blame_p_value(candidate, baseline)


def test_rounds_that_another_candidate_failed_say_nothing_about_this_one() -> None:
    cell = a_cell([*rounds_of([0.0] * 10), *failed([0, 1, 1, 2, 2, 2, None])])

    assert count_failures(cell, 1) == Failures(rounds=14, failed=4, baseline=1, candidate=2)
    assert count_failures(cell, 2) == Failures(rounds=15, failed=5, baseline=1, candidate=3)


def test_without_failures_nothing_is_uneven_or_withheld() -> None:
    none = count_failures(a_cell(rounds_of([0.0] * 3)), 1)

    assert (none.p_value, none.withholds_same, none.more_rounds) == (1.0, False, 0)
    assert not count_failures(a_cell([]), 1).withholds_same


@given(rounds=st.integers(1, 500), failures=st.integers(1, 60))
def test_the_forecast_is_the_first_number_of_rounds_at_which_same_may_be_said(
    rounds: int, failures: int
) -> None:
    found = Failures(rounds + failures, failures, 0, 0)
    more = found.more_rounds

    assert found.withholds_same == (more > 0)
    assert not dataclasses.replace(found, rounds=found.rounds + more).withholds_same
    if more:
        assert dataclasses.replace(found, rounds=found.rounds + more - 1).withholds_same


def primary(cell: CellRecord) -> Verdict:
    campaign = a_campaign()
    return judge_cell(cell, campaign, ARMS, cell_alphas(cell, campaign))[0]


def test_same_is_withheld_where_too_many_rounds_failed_and_the_verdict_says_why() -> None:
    measured = rounds_of(small_noise(38))
    assert primary(a_cell(measured)).outcome is Outcome.SAME

    enough = primary(a_cell([*measured, *failed([1, 1])]))
    too_many = primary(a_cell([*measured, *failed([1, 1, None])]))

    assert (enough.outcome, enough.withheld) == (Outcome.SAME, None)
    assert too_many.outcome is Outcome.UNDECIDED
    assert too_many.withheld == "3 of 41 rounds failed, more than 5 %"
    assert too_many.more_rounds == 60 - 41
    assert (too_many.low, too_many.high) == (enough.low, enough.high)


def test_a_difference_is_no_less_of_one_because_rounds_failed() -> None:
    slower = rounds_of([0.05 + e for e in small_noise(20)])

    verdict = primary(a_cell([*slower, *failed([1] * 5)]))

    assert (verdict.outcome, verdict.withheld) == (Outcome.SLOWER, None)


def test_what_is_undecided_anyway_is_not_called_withheld() -> None:
    verdict = primary(a_cell([*rounds_of(small_noise(4)), *failed([1] * 5)]))

    assert (verdict.outcome, verdict.withheld) == (Outcome.UNDECIDED, None)


def small_noise(rounds: int) -> list[float]:
    return [0.001 * (-1) ** number for number in range(rounds)]
