"""The table's figures, from small repetitions whose figures are known."""

import dataclasses
import math

import numpy as np
import pytest

from bench.verdicts.figures import figures, judged, quantile, series, standing
from bench.verdicts.injection import handicap_ns, injected_log_ratio
from bench.verdicts.lines import EQUAL_SERIES, LINES, PROMISES, RECOVERIES, line
from bench.verdicts.measure import campaign_of, next_line
from pgverdict.judge.estimate import order_columns
from pgverdict.plan.rounds import arrange
from pgverdict.spec.metrics import METRICS

from . import made

TYPICAL = line("typical-2")


def test_a_wrong_or_missing_verdict_counts_as_for_ever() -> None:
    lots = [made.ended("SLOWER", 20.0 + n) for n in range(8)]
    found = figures(TYPICAL, [*lots, made.ended("SAME", 5.0), made.ended("UNDECIDED", 180.0)])

    assert (found.right, found.wrong, found.open) == (8, 1, 1)
    assert (found.median_s, found.p90_s, found.longest_s) == (25.0, math.inf, math.inf)


def test_a_repetition_whose_cell_was_given_up_has_no_verdict() -> None:
    failed = dataclasses.replace(made.ended("SLOWER", 20.0), failure="gave up")

    assert figures(TYPICAL, [failed]).open == 1


def test_a_demo_is_right_when_all_its_cells_are_decided() -> None:
    same, open_ = (dataclasses.replace(made.CELL, outcome=one) for one in ("SAME", "UNDECIDED"))
    demo = made.repetition(seconds=100.0)

    found = figures(
        line("demo"), [dataclasses.replace(demo, cells=(made.CELL, one)) for one in (same, open_)]
    )

    assert (found.right, found.open) == (1, 1)


@pytest.mark.parametrize(("count", "median", "p90"), [(1, 1, 1), (8, 5, 8), (20, 11, 19), (21, 11, 19)])
def test_quantiles_never_flatter(count: int, median: float, p90: float) -> None:
    values = [float(one) for one in range(count, 0, -1)]

    assert (quantile(values, 0.5), quantile(values, 0.9)) == (median, p90)


def test_a_series_grows_as_the_candidate_gets_slower_whatever_the_metric_counts() -> None:
    rounds = made.rounds_of([0.01, -0.02] * 8, seed=3, metrics=["tps", made.METRIC])
    plans = [arrange(made.CELL.key, seed=3, ordinal=ordinal) for ordinal in range(16)]

    latency, throughput = (series(rounds, name) for name in (made.METRIC, "tps"))
    assert latency.log_ratios.tolist() == [0.01, -0.02] * 8
    assert throughput.log_ratios.tolist() == [-0.01, 0.02] * 8
    assert np.array_equal(latency.orders, order_columns(plans))


def test_the_judge_says_the_same_of_the_rounds_in_the_file() -> None:
    rounds = made.rounds_of(0.02 + made.normal(16, 0.004), spun_us=0.4)

    assert judged(made.repetition(rounds)) == ("SLOWER",)
    assert figures(TYPICAL, [made.repetition(rounds)]).judged_alike == 1
    claims_same = made.repetition(rounds, cell=dataclasses.replace(made.CELL, outcome="SAME"))
    assert figures(TYPICAL, [claims_same]).judged_alike == 0


def test_a_fixed_number_of_rounds_that_was_not_reached_is_undecided() -> None:
    rounds = made.rounds_of(0.02 + made.normal(16, 0.004))

    assert judged(made.repetition(rounds, fixed_rounds=16)) == ("SLOWER",)
    assert judged(made.repetition(rounds, fixed_rounds=20)) == ("UNDECIDED",)


def test_what_was_injected_is_what_was_spun_beside_the_baseline() -> None:
    rounds = made.rounds_of([0.02] * 4, spun_us=0.4, base_us=20.0)

    assert injected_log_ratio(made.CELL, rounds) == pytest.approx(math.log(1.02))
    assert math.isnan(injected_log_ratio(made.CELL, made.rounds_of([0.02] * 4)))


@pytest.mark.parametrize(("low", "high", "held"), [(1.01, 1.03, 1), (1.021, 1.03, 0), (0.99, 1.019, 0)])
def test_an_interval_is_held_against_what_was_injected(low: float, high: float, held: int) -> None:
    cell = dataclasses.replace(made.CELL, low=low, high=high)
    found = figures(TYPICAL, [made.repetition(made.rounds_of([0.02] * 9, spun_us=0.4), cell=cell)])

    assert found.held == held
    assert found.injected == pytest.approx(0.02)


def test_of_throughput_the_interval_is_held_against_the_reciprocal() -> None:
    cell = dataclasses.replace(made.CELL, primary="tps", low=0.97, high=0.99)
    rounds = made.rounds_of([-0.02] * 9, spun_us=0.4, base_us=50_000.0, metrics=["tps"])

    assert figures(line("update-2"), [made.repetition(rounds, cell=cell)]).held == 1


def test_a_share_of_a_latency_is_split_among_the_messages_of_a_transaction() -> None:
    rounds = [dataclasses.replace(r, messages=5.0) for r in made.rounds_of([0.0] * 4, base_us=200.0)]

    assert handicap_ns(0.02, made.CELL, rounds) == 800


def test_a_share_of_throughput_is_of_the_time_a_core_has_for_a_transaction() -> None:
    cell = dataclasses.replace(made.CELL, primary="tps", threads=2)
    rounds = made.rounds_of([0.0] * 4, base_us=100_000.0, metrics=["tps"])

    assert handicap_ns(0.02, cell, rounds) == 400


def test_how_a_line_stands() -> None:
    right = [made.ended("SLOWER", 20.0)] * 20

    assert standing(TYPICAL, None) == "nothing measured"
    assert standing(TYPICAL, figures(TYPICAL, right)) == "met"
    assert standing(TYPICAL, figures(TYPICAL, right[:3])) == "incomplete: 3 of 20, met so far"
    slow = figures(TYPICAL, [*right[:10], *[made.ended("SLOWER", 70.0)] * 10])
    assert standing(TYPICAL, slow) == "missed"


def test_the_line_with_the_fewest_repetitions_is_next() -> None:
    one, two = line("typical-1"), line("typical-2")

    assert next_line([one, two], {one.name: 3, two.name: 2}, None) is two
    assert next_line([one, two], {one.name: 3, two.name: 3}, None) is one
    assert next_line([one, two], {one.name: 3, two.name: 20}, 3) is None
    assert next_line([one, two], {one.name: 20, two.name: 20}, None) is None


def test_lines_are_fit_to_be_measured() -> None:
    assert len({one.name for one in LINES}) == len(LINES)
    assert set(PROMISES) | set(RECOVERIES) | set(EQUAL_SERIES) == set(LINES)
    for one in LINES:
        campaign = campaign_of(one, seed=1, handicap=0)
        assert campaign.budget_s == one.cap_s
        assert {cell.primary for cell in campaign.cells} == {one.primary}
        assert one.primary is None or one.primary in METRICS
        if one.goal_s is not None and one.name != "demo":
            assert one.cap_s >= 3 * (one.goal_s[1] or one.goal_s[0])
