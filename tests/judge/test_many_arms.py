"""Several candidates, each against the baseline."""

import dataclasses

import numpy as np
import pytest

from pgverdict.judge.cell import is_decided, judge_cell, rounds_to_decide
from pgverdict.judge.estimate import estimate, order_columns
from pgverdict.judge.verdict import Outcome
from pgverdict.plan.rounds import RoundPlan
from pgverdict.records.round import RoundRecord
from pgverdict.spec.arms import make_arms

from .made import a_campaign, a_cell
from .many import plans_of, round_of_arms

CAMPAIGN = dataclasses.replace(a_campaign(), arms=make_arms(("16", "17", "18")))
SD = 0.0015


def rounds_with(*log_effects: float, rounds: int = 24, seed: int = 1) -> list[RoundRecord]:
    random = np.random.default_rng(seed)
    return [
        round_of_arms(plan, [*(np.array([0.0, *log_effects]) + SD * random.standard_normal(3))])
        for plan in plans_of(3, rounds)
    ]


def test_every_candidate_has_verdicts_of_its_own() -> None:
    slower, same = judge_cell(a_cell(rounds_with(0.05, 0.0)), CAMPAIGN)

    assert (slower[0].baseline, slower[0].candidate) == ("16", "17")
    assert (same[0].baseline, same[0].candidate) == ("16", "18")
    assert (slower[0].outcome, same[0].outcome) == (Outcome.SLOWER, Outcome.SAME)
    assert slower[0].effect == pytest.approx(np.exp(0.05), abs=0.002)
    assert [v.metric for v in slower] == [v.metric for v in same]


def test_candidates_are_members_of_one_family_and_each_has_an_alpha_for_its_other_metrics() -> None:
    slower, same = judge_cell(a_cell(rounds_with(0.05, 0.0)), CAMPAIGN)

    assert [slower[0].alpha, same[0].alpha] == [pytest.approx(0.005)] * 2
    for judged in (slower, same):
        others = [v.alpha for v in judged[1:] if v.metric != "latency_us_mean"]
        assert sum(others) == pytest.approx(0.01)


def test_a_cell_is_decided_when_every_candidate_is() -> None:
    verdicts = judge_cell(a_cell(rounds_with(0.05, 0.0)), CAMPAIGN)
    open_ = dataclasses.replace(verdicts[1][0], outcome=Outcome.UNDECIDED, more_rounds=7)

    assert is_decided(verdicts)
    assert not is_decided([verdicts[0], (open_, *verdicts[1][1:])])
    assert rounds_to_decide([verdicts[0], (open_,)]) == 7
    assert rounds_to_decide([(dataclasses.replace(open_, more_rounds=31),), (open_,)]) == 31
    assert rounds_to_decide([(dataclasses.replace(open_, more_rounds=None),), (open_,)]) is None


def test_an_arm_that_says_nothing_leaves_only_its_own_verdicts_without_the_round() -> None:
    rounds = rounds_with(0.0, 0.0)
    silent = dataclasses.replace(rounds[3].arms[2], statements=())
    rounds[3] = dataclasses.replace(rounds[3], arms=(*rounds[3].arms[:2], silent))

    first, second = ({v.metric: v for v in judged} for judged in judge_cell(a_cell(rounds), CAMPAIGN))

    assert (first["server_ms_mean"].rounds, second["server_ms_mean"].rounds) == (24, 23)


def test_orders_are_how_far_the_candidate_is_before_the_baseline() -> None:
    plan = RoundPlan(0, (2, 0, 1), (1, 2, 0), (0, 2, 1), (0, 0, 0), (0, 0, 0), ())

    assert order_columns([plan], 1).tolist() == [[-0.25, 0.5, 0.5]]
    assert order_columns([plan], 2).tolist() == [[0.25, 0.25, 0.25]]


@pytest.mark.parametrize("arms", [3, 4, 5, 8])
def test_whole_blocks_of_any_number_of_arms_lose_no_information(arms: int) -> None:
    plans = plans_of(arms, 3 * arms)
    ratios = np.random.default_rng(1).standard_normal(3 * arms)

    for candidate in range(1, arms):
        found = estimate(ratios, order_columns(plans, candidate))
        assert found.information == pytest.approx(3 * arms)
        assert float(found.log_ratio) == pytest.approx(ratios.mean())


@pytest.mark.parametrize("arms", [3, 4, 8])
@pytest.mark.parametrize("seed", range(10))
def test_eight_rounds_of_many_arms_say_something_about_every_candidate(arms: int, seed: int) -> None:
    plans = plans_of(arms, 8, seed=seed)

    for candidate in range(1, arms):
        assert estimate(np.arange(8.0), order_columns(plans, candidate)).known


def test_a_slow_down_that_grows_with_the_place_in_the_order_moves_no_estimate() -> None:
    """Whoever starts first is slower: with the orders accounted for, exactly nothing is left of it."""
    rounds = [
        round_of_arms(plan, [-0.01 * plan.start_order.index(arm) for arm in range(3)])
        for plan in plans_of(3, 11)
    ]

    for judged in judge_cell(a_cell(rounds), CAMPAIGN):
        assert judged[0].effect == pytest.approx(1.0, abs=1e-12)
