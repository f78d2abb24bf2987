"""From records to verdicts."""

import dataclasses
import math

import numpy as np
import pytest

from pgverdict.judge.cell import is_decided, judge_cell, judge_run
from pgverdict.judge.decide import ROUNDS_MIN
from pgverdict.judge.estimate import order_columns
from pgverdict.judge.verdict import Outcome, Verdict
from pgverdict.records.round import RoundRecord, RoundState
from pgverdict.records.run import CellRecord, RunRecord, RunState
from pgverdict.spec.campaign import Campaign, CellSpec

from .made import a_campaign, a_cell, rounds_of
from .simulated import NEVER, Series, decided_after

QUIET = [0.001, -0.002, 0.0005, 0.0015, -0.001, 0.002, -0.0015, -0.0005, 0.001, -0.001, 0.002, -0.002] * 2


def judged(cell: CellRecord, campaign: Campaign | None = None) -> dict[str, Verdict]:
    campaign = campaign or a_campaign()
    (verdicts,) = judge_cell(cell, campaign)
    return {v.metric: v for v in verdicts}


def cell_with(effect: float, *, primary: str = "latency_us_p50", rounds: int = 24) -> CellRecord:
    return a_cell(rounds_of([math.log(effect) + noise for noise in QUIET[:rounds]]), primary=primary)


def test_a_slower_candidate_is_slower_in_every_metric_whichever_direction_is_better() -> None:
    verdicts = judged(cell_with(1.05))

    assert {v.outcome for v in verdicts.values()} == {Outcome.SLOWER}
    assert verdicts["latency_us_p50"].effect == pytest.approx(1.05, rel=1e-3)
    assert verdicts["tps"].effect == pytest.approx(1 / 1.05, rel=1e-3)
    assert len(verdicts) == 10


def test_a_faster_candidate_is_faster() -> None:
    assert {v.outcome for v in judged(cell_with(0.95)).values()} == {Outcome.FASTER}


def test_equal_arms_are_the_same_and_a_small_difference_is_the_same_and_detectable() -> None:
    same, small = judged(cell_with(1.0))["latency_us_p50"], judged(cell_with(1.005))["latency_us_p50"]

    assert (same.outcome, same.detectable) == (Outcome.SAME, False)
    assert (small.outcome, small.detectable) == (Outcome.SAME, True)
    assert same.low < 1 < same.high
    assert 1 < small.low < small.effect < small.high < 1.01


def test_a_verdict_says_what_it_rests_on() -> None:
    verdict = judged(cell_with(1.05))["latency_us_p50"]

    assert (verdict.baseline, verdict.candidate) == ("17", "18")
    assert verdict.baseline_value == pytest.approx(20.0)
    assert verdict.candidate_value == pytest.approx(21.0, rel=1e-3)
    assert (verdict.confidence, verdict.margin, verdict.rounds) == (0.99, 0.01, 24)
    assert verdict.alpha == pytest.approx(0.01)
    assert verdict.e_value > 1 / verdict.alpha
    assert verdict.round_sd == pytest.approx(0.0015, rel=0.2)
    assert verdict.more_rounds is None


@pytest.mark.parametrize("primary", ["latency_us_p50", "tps"])
def test_the_primary_alone_decides_the_cell(primary: str) -> None:
    cell = cell_with(1.05, primary=primary)
    campaign = a_campaign()

    (verdicts,) = judge_cell(cell, campaign)

    assert verdicts[0].metric == primary
    undecided = dataclasses.replace(verdicts[0], outcome=Outcome.UNDECIDED)
    assert is_decided([verdicts])
    assert not is_decided([(undecided, *verdicts[1:])])


def test_swapped_arms_have_the_reciprocal_effect() -> None:
    def swapped(r: RoundRecord) -> RoundRecord:
        plan = dataclasses.replace(
            r.plan,
            start_order=tuple(1 - arm for arm in r.plan.start_order),
            connect_order=tuple(1 - arm for arm in r.plan.connect_order),
            slots=r.plan.slots[::-1],
        )
        slices = tuple(dataclasses.replace(s, arm=1 - s.arm) for s in r.slices)
        return dataclasses.replace(
            r, plan=plan, slices=slices, arms=tuple(dataclasses.replace(a, arm=1 - a.arm) for a in r.arms)
        )

    cell = cell_with(1.05)
    one, other = judged(cell), judged(a_cell([swapped(r) for r in cell.rounds]))

    for name in one:
        assert other[name].effect == pytest.approx(1 / one[name].effect)
        assert other[name].low == pytest.approx(1 / one[name].high)
        assert other[name].high == pytest.approx(1 / one[name].low)
        assert other[name].e_value == pytest.approx(one[name].e_value)
        assert other[name].outcome is Outcome.FASTER


def test_failed_rounds_do_not_count() -> None:
    cell = cell_with(1.05)
    failed = [dataclasses.replace(r, state=RoundState.FAILED) for r in cell_with(2.0).rounds]
    mixed = a_cell([r for both in zip(failed, cell.rounds, strict=True) for r in both])

    assert repr(judged(mixed)) == repr(judged(cell))


def test_a_round_without_a_value_is_left_out_of_that_metric_alone() -> None:
    rounds = list(cell_with(1.05).rounds)
    candidate = rounds[3].arms[1]
    silent = dataclasses.replace(candidate, statements=())
    rounds[3] = dataclasses.replace(rounds[3], arms=(rounds[3].arms[0], silent))

    verdicts = judged(a_cell(rounds))

    assert verdicts["server_ms_mean"].rounds == 23
    assert verdicts["latency_us_p50"].rounds == 24


def test_before_the_first_round_nothing_is_known() -> None:
    verdict = judged(a_cell([]))["latency_us_p50"]

    assert math.isnan(verdict.effect)
    assert math.isnan(verdict.baseline_value)
    assert (verdict.low, verdict.high, verdict.e_value, verdict.rounds) == (0.0, math.inf, 1.0, 0)
    assert (verdict.outcome, verdict.more_rounds) == (Outcome.UNDECIDED, None)


@pytest.mark.parametrize("rounds", range(1, 13))
def test_any_number_of_rounds_can_be_judged(rounds: int) -> None:
    verdict = judged(cell_with(1.2, rounds=rounds))["latency_us_p50"]

    assert verdict.rounds == rounds
    assert math.isnan(verdict.effect) == (rounds < 5)
    assert (verdict.outcome is Outcome.SLOWER) == (rounds >= 9)
    assert (verdict.more_rounds is not None) == (5 <= rounds < 9)


def test_a_fixed_number_of_rounds_is_judged_by_students_interval_once_it_is_reached() -> None:
    cell = a_cell(rounds_of([0.02 + noise for noise in QUIET[:9]]))

    reached = judged(cell, a_campaign(rounds=9))["latency_us_p50"]
    open_end = judged(cell)["latency_us_p50"]
    cut_short = judged(cell, a_campaign(rounds=10))["latency_us_p50"]

    assert math.isnan(reached.e_value)
    assert reached.high - reached.low < open_end.high - open_end.low
    assert (cut_short.low, cut_short.high) == (open_end.low, open_end.high)
    assert open_end.outcome is Outcome.SLOWER
    assert cut_short.outcome is Outcome.UNDECIDED, "two looks with a whole alpha each would be one too many"


def test_fewer_rounds_than_a_verdict_needs_stay_undecided_even_if_fixed() -> None:
    verdict = judged(cell_with(1.2, rounds=7), a_campaign(rounds=7))["latency_us_p50"]

    assert ROUNDS_MIN == 8
    assert verdict.low > 1
    assert verdict.outcome is Outcome.UNDECIDED
    assert verdict.more_rounds == 1


def test_rounds_that_agree_to_the_last_digit_are_judged() -> None:
    assert judged(a_cell(rounds_of([0.0] * 12)))["latency_us_p50"].outcome is Outcome.SAME
    assert judged(a_cell(rounds_of([0.05] * 12)))["latency_us_p50"].outcome is Outcome.SLOWER


def test_a_wider_confidence_gives_a_wider_interval() -> None:
    widths = []
    for confidence in (0.9, 0.95, 0.99, 0.999):
        verdict = judged(cell_with(1.05), a_campaign(confidence=confidence))["latency_us_p50"]
        widths.append(verdict.high - verdict.low)

    assert widths == sorted(widths)


def test_a_run_is_judged_cell_by_cell_and_always_alike() -> None:
    specs = (CellSpec("select-only", 10, 1), CellSpec("select-only", 10, 2))
    cells = tuple(
        CellRecord(spec, "latency_us_p50", "read-only", cell_with(effect).rounds)
        for spec, effect in zip(specs, (1.05, 1.0), strict=True)
    )
    run = RunRecord("r1", RunState.DONE, "2026-11-21T12:00:00Z", 60.0, a_campaign(cells=specs), (), (), cells)

    first, again = judge_run(run), judge_run(run)

    assert repr(first) == repr(again)
    assert [verdicts[0].outcome for (verdicts,) in first] == [Outcome.SLOWER, Outcome.SAME]
    assert (first[0][0][0].baseline, first[0][0][0].candidate) == ("17", "18")
    assert [verdicts[0].alpha for (verdicts,) in first] == [pytest.approx(0.005)] * 2
    others = [v.alpha for v in first[0][0][1:] if v.metric != "latency_us_mean"]
    assert sum(others) == pytest.approx(0.01)


@pytest.mark.parametrize("seed", range(4))
def test_simulations_decide_in_the_round_in_which_records_do(seed: int) -> None:
    """Ties the vectorised rule of the simulation tests to the product's."""
    ratios = 0.004 + 0.005 * np.random.default_rng(seed).standard_normal(40)
    rounds = rounds_of(ratios.tolist(), seed=seed)
    orders = order_columns([r.plan for r in rounds])

    outcomes = [judged(a_cell(rounds[:n]))["latency_us_p50"] for n in range(1, 41)]

    different, same = decided_after([Series(ratios[None, :], orders)], alpha=1 - 0.99)
    assert int(different[0]) == next((v.rounds for v in outcomes if _different(v)), NEVER)
    assert int(same[0]) == next((v.rounds for v in outcomes if v.outcome is Outcome.SAME), NEVER)


def _different(verdict: Verdict) -> bool:
    return verdict.detectable or verdict.outcome in (Outcome.SLOWER, Outcome.FASTER)
