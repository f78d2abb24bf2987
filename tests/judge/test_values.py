"""What one round says: hand-computed."""

import dataclasses
import math

import pytest

from pgverdict.judge.series import series
from pgverdict.judge.values import Question, questions, values
from pgverdict.plan.rounds import arrange
from pgverdict.records.round import (
    ArmRecord,
    KindRecord,
    Latency,
    RoundRecord,
    RoundState,
    SliceRecord,
    StatementRecord,
    TaskRecord,
)

from .made import a_cell, a_round, a_slice, a_statement, an_arm, latency

PLAN = arrange("made", seed=1, ordinal=0)
P50 = Question("latency_us_p50")


def round_with(*slices: SliceRecord) -> RoundRecord:
    return a_round(PLAN, slices=slices, arms=[an_arm(0, latency(1.0)), an_arm(1, latency(1.0))])


def round_of_totals(baseline: Latency, candidate: Latency) -> RoundRecord:
    return a_round(PLAN, arms=[an_arm(0, baseline), an_arm(1, candidate)])


def round_of_statements(baseline: StatementRecord, candidate: StatementRecord) -> RoundRecord:
    arms = [an_arm(i, latency(1.0), statements=[s]) for i, s in enumerate((baseline, candidate))]
    return a_round(PLAN, arms=arms)


def test_typical_latency_is_the_median_over_pairs_of_the_log_ratio() -> None:
    pairs = [(20.0, 22.0), (10.0, 10.0), (40.0, 42.0)]
    record = round_with(*(a_slice(i, arm, us) for i, pair in enumerate(pairs) for arm, us in enumerate(pair)))

    found = values(record, P50, clients=1)

    assert found is not None
    assert (found.baseline, found.candidate) == (20.0, 22.0)
    assert found.log_ratio == pytest.approx(math.log(42 / 40))


@pytest.mark.parametrize("useless", [0.0, math.nan])
def test_a_pair_without_its_other_half_or_without_a_median_is_left_out(useless: float) -> None:
    record = round_with(
        a_slice(0, 0, 20.0), a_slice(0, 1, 30.0),
        a_slice(1, 0, 20.0),
        a_slice(2, 0, 20.0), dataclasses.replace(a_slice(2, 1, 1.0), latency=latency(useless)),
    )  # fmt: skip

    found = values(record, P50, clients=1)

    assert found is not None
    assert found.log_ratio == pytest.approx(math.log(1.5))


def test_a_round_without_a_whole_pair_says_nothing() -> None:
    assert values(round_with(a_slice(0, 0, 20.0), a_slice(1, 1, 20.0)), P50, clients=1) is None
    assert values(a_round(PLAN, state=RoundState.FAILED), P50, clients=1) is None


def test_throughput_is_transactions_by_busy_time_of_all_clients() -> None:
    arms = [
        an_arm(0, latency(1.0), transactions=1000, busy_ns=100_000_000),
        an_arm(1, latency(1.0), transactions=1000, busy_ns=125_000_000),
    ]

    found = values(a_round(PLAN, arms=arms), Question("tps"), clients=8)

    assert found is not None
    assert (found.baseline, found.candidate) == (80_000.0, 64_000.0)
    assert found.log_ratio == pytest.approx(math.log(0.8))


@pytest.mark.parametrize(
    ("name", "baseline", "candidate"),
    [("latency_us_mean", 25.0, 50.0), ("latency_us_p95", 60.0, 90.0), ("latency_us_p99", 100.0, 101.0)],
)
def test_means_and_tails_come_from_the_totals_of_a_round(
    name: str, baseline: float, candidate: float
) -> None:
    record = round_of_totals(
        latency(20.0, mean_us=25.0, p95_us=60.0, p99_us=100.0),
        latency(20.0, mean_us=50.0, p95_us=90.0, p99_us=101.0),
    )

    found = values(record, Question(name), clients=1)

    assert found is not None
    assert (found.baseline, found.candidate) == (baseline, candidate)
    assert found.log_ratio == pytest.approx(math.log(candidate / baseline))


def test_the_spread_of_latency_is_that_of_all_transactions_of_a_round() -> None:
    spread = [latency(20.0, sd_us=sd) for sd in (4.0, 5.0)]

    found = values(round_of_totals(*spread), Question("latency_us_stddev"), clients=1)

    assert found is not None
    assert (found.baseline, found.candidate) == (4.0, 5.0)
    assert found.log_ratio == pytest.approx(math.log(5 / 4))


def test_typical_throughput_is_the_median_over_pairs_and_does_not_see_a_stall() -> None:
    busy_us = [(100.0, 125.0), (100.0, 125.0), (100.0, 900.0)]
    record = round_with(
        *(
            dataclasses.replace(a_slice(i, arm, 20.0, transactions=10), busy_ns=round(us * 1e3))
            for i, pair in enumerate(busy_us)
            for arm, us in enumerate(pair)
        )
    )

    found = values(record, Question("tps_p50"), clients=2)

    assert found is not None
    assert [found.baseline, found.candidate] == pytest.approx([200_000.0, 160_000.0])
    assert found.log_ratio == pytest.approx(math.log(0.8))


def test_a_slice_in_which_nothing_was_busy_has_no_throughput() -> None:
    idle = dataclasses.replace(a_slice(0, 1, 20.0), busy_ns=0)

    assert values(round_with(a_slice(0, 0, 20.0), idle), Question("tps_p50"), clients=1) is None


def test_processor_time_is_shared_by_everything_that_was_executed() -> None:
    record = round_with(
        a_slice(0, 0, 20.0, transactions=90, discarded=8, failed=2, server_cpu_ns=1_500_000),
        a_slice(1, 0, 20.0, transactions=100, server_cpu_ns=500_000),
        a_slice(0, 1, 20.0, transactions=100, server_cpu_ns=2_000_000),
    )

    found = values(record, Question("server_cpu_us_per_txn"), clients=1)

    assert found is not None
    assert (found.baseline, found.candidate) == (10.0, 20.0)


def test_a_statement_is_found_by_its_text() -> None:
    slow, fast = a_statement("UPDATE", 2.0, 0.5), a_statement("SELECT", 0.01, 0.001)
    arms = [
        an_arm(0, latency(1.0), statements=[slow, fast]),
        an_arm(1, latency(1.0), statements=[fast, slow]),
    ]

    found = values(a_round(PLAN, arms=arms), Question("server_ms_stddev", "UPDATE"), clients=1)

    assert found is not None
    assert (found.baseline, found.candidate, found.log_ratio) == (0.5, 0.5, 0.0)


@pytest.mark.parametrize("missing", [None, 0.0, -1.0, math.nan, math.inf])
def test_a_missing_or_impossible_value_leaves_the_round_out(missing: float | None) -> None:
    record = round_of_statements(a_statement("SELECT", 1.0, 1.0), a_statement("SELECT", 2.0, missing))

    assert values(record, Question("server_ms_stddev", "SELECT"), clients=1) is None
    assert values(record, Question("server_ms_mean", "SELECT"), clients=1) is not None


def test_a_statement_that_only_one_arm_has_says_nothing() -> None:
    record = round_of_statements(a_statement("SELECT 1", 1.0, 1.0), a_statement("SELECT 2", 1.0, 1.0))

    assert values(record, Question("server_ms_mean", "SELECT 1"), clients=1) is None


@pytest.mark.parametrize("primary", ["latency_us_p50", "tps"])
def test_the_primary_question_comes_first_and_every_question_once(primary: str) -> None:
    record = round_of_statements(a_statement("SELECT", 1.0, None), a_statement("SELECT", 1.0, None))

    found = questions(a_cell([record], primary=primary))

    assert found[0] == Question(primary)
    assert len(set(found)) == len(found)
    assert {q.metric for q in found if q.subject == "cell"} == {
        "tps", "tps_p50", "server_cpu_us_per_txn", "latency_us_stddev",
        "latency_us_mean", "latency_us_p50", "latency_us_p95", "latency_us_p99",
    }  # fmt: skip
    assert [q for q in found if q.subject != "cell"] == [Question("server_ms_mean", "SELECT")]


def alone(*arms: ArmRecord) -> tuple[ArmRecord, ...]:
    return tuple(dataclasses.replace(arm, checkpoints=2) for arm in arms)


def test_arms_that_worked_whole_and_alone_are_compared_by_the_medians_of_all_their_samples() -> None:
    slices = [a_slice(number, arm, us) for number in range(3) for arm, us in enumerate((20.0, 80.0))]
    arms = [an_arm(0, latency(20.0)), an_arm(1, latency(25.0))]
    record = a_round(PLAN, slices=slices, arms=alone(*arms))

    found = values(record, P50, clients=1)

    assert found is not None
    assert (found.baseline, found.candidate) == (20.0, 25.0)
    assert found.log_ratio == pytest.approx(math.log(25 / 20))
    # The same slices of arms that took turns are pairs.
    paired = values(a_round(PLAN, slices=slices, arms=arms), P50, clients=1)
    assert paired is not None
    assert paired.log_ratio == pytest.approx(math.log(4))


def test_typical_throughput_of_arms_that_worked_alone_is_a_ratio_of_medians_over_their_slices() -> None:
    counts = ((100, 400), (200, 100), (300, 200))  # by pairs it would be a half
    slices = [
        a_slice(number, arm, 20.0, transactions=count, busy_ns=10**9)
        for number, both in enumerate(counts)
        for arm, count in enumerate(both)
    ]
    record = a_round(PLAN, slices=slices, arms=alone(an_arm(0, latency(20.0)), an_arm(1, latency(20.0))))

    found = values(record, Question("tps_p50"), clients=1)

    assert found is not None
    assert (found.baseline, found.candidate) == (200, 200)
    assert found.log_ratio == 0


def round_of_kinds(*names: str, candidate_us: float = 30.0) -> RoundRecord:
    arms = []
    for arm, us in enumerate((20.0, candidate_us)):
        kinds = tuple(KindRecord(name, 10, 0, 0, 0, latency(us), "") for name in names)
        arms.append(dataclasses.replace(an_arm(arm, latency(1.0)), kinds=kinds))
    return a_round(PLAN, arms=arms)


def test_a_kind_of_transaction_is_judged_by_its_own_times() -> None:
    found = values(round_of_kinds("read", "order"), Question("kind_us_p50", "order"), clients=1)

    assert found is not None
    assert (found.baseline, found.candidate) == (20.0, 30.0)
    assert found.log_ratio == pytest.approx(math.log(1.5))


def test_a_kind_of_which_nothing_was_counted_says_nothing() -> None:
    record = round_of_kinds("read", "order")
    bare = dataclasses.replace(record.arms[1].kinds[1], count=0, latency=None)
    arms = (record.arms[0], dataclasses.replace(record.arms[1], kinds=(record.arms[1].kinds[0], bare)))
    record = dataclasses.replace(record, arms=arms)

    assert values(record, Question("kind_us_p50", "order"), clients=1) is None
    assert values(record, Question("kind_us_p50", "read"), clients=1) is not None


def test_one_kind_alone_is_the_cell_and_no_question_of_its_own() -> None:
    asked = [
        {q.subject for q in questions(a_cell([round_of_kinds(*names)])) if q.metric.startswith("kind_us_")}
        for names in (("event",), ("read", "order"))
    ]

    assert asked == [set(), {"read", "order"}]


def a_stream(arm: int, times_us: dict[str, float], *, is_stream: bool = True) -> ArmRecord:
    kinds = tuple(KindRecord(name, 1, 0, 0, 0, latency(us), "") for name, us in times_us.items())
    tasks = tuple(TaskRecord(0, name, (), "Result", None) for name in times_us) if is_stream else ()
    return dataclasses.replace(an_arm(arm, latency(1.0)), kinds=kinds, tasks=tasks)


def test_in_the_geometric_mean_every_query_of_a_stream_weighs_the_same() -> None:
    arms = [a_stream(0, {"q01": 100.0, "q02": 1e6}), a_stream(1, {"q01": 50.0, "q02": 2e6})]

    found = values(a_round(PLAN, arms=arms), Question("latency_us_geomean"), clients=1)

    assert found is not None
    assert found.baseline == pytest.approx(1e4)
    assert found.candidate == pytest.approx(1e4)
    assert found.log_ratio == pytest.approx(0.0, abs=1e-12)


def test_there_is_no_geometric_mean_where_a_query_was_not_counted() -> None:
    missing = dataclasses.replace(a_stream(1, {"q01": 1.0}), kinds=(KindRecord("q01", 0, 1, 0, 0, None, ""),))
    record = a_round(PLAN, arms=[a_stream(0, {"q01": 1.0}), missing])

    assert values(record, Question("latency_us_geomean"), clients=1) is None


def test_the_geometric_mean_is_asked_of_streams_alone() -> None:
    times = {"q01": 100.0, "q02": 200.0}
    asked = {
        is_stream: questions(
            a_cell([a_round(PLAN, arms=[a_stream(n, times, is_stream=is_stream) for n in (0, 1)])])
        )
        for is_stream in (True, False)
    }

    assert Question("latency_us_geomean") in asked[True]
    assert Question("latency_us_geomean") not in asked[False]


def test_of_a_kind_that_ran_once_a_percentile_is_asked_once() -> None:
    times = {"q01": 100.0, "q02": 200.0}
    asked = questions(a_cell([a_round(PLAN, arms=[a_stream(0, times), a_stream(1, times)])]))

    assert {q.metric for q in asked if q.subject == "q01"} == {"kind_us_p50"}


def test_stalls_and_trends_are_not_looked_for_in_streams() -> None:
    arms = [a_stream(0, {"q01": 1.0}), a_stream(1, {"q01": 1.0})]
    slices = [a_slice(pair, arm, 10.0 ** (pair + 3)) for pair in range(5) for arm in (0, 1)]
    records = [a_round(arrange("made", seed=1, ordinal=n), slices=slices, arms=arms) for n in range(3)]

    found = series(a_cell(records), candidate=1)

    assert not found.stalls.any()
    assert all(math.isnan(trend) for trend in found.trends.flat)
