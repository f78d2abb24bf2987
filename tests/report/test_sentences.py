"""The sentences, one by one, as people read them."""

import dataclasses
import math

import pytest

from pgverdict.judge.summary import Summary
from pgverdict.judge.verdict import Outcome, Verdict
from pgverdict.report import sentences

from .samples import FASTER, READ_ONLY, SAME, SLOWER, UNDECIDED, a_verdict

PACE_S = 3.0


def check(verdict: Verdict, sentence: str) -> None:
    assert sentences.headline(verdict, READ_ONLY, ("17.7", "18.1"), PACE_S) == sentence


def latency(effect: tuple[float, float, float], outcome: Outcome, **changes: object) -> Verdict:
    return a_verdict("latency_us_p50", (19.6, 20.0), effect, outcome, **changes)


def throughput(effect: tuple[float, float, float], outcome: Outcome, **changes: object) -> Verdict:
    return a_verdict("tps", (5000.0, 4900.0), effect, outcome, **changes)


def a_summary(slowdown: float, low: float, high: float, **changes: object) -> Summary:
    made = Summary("17", "18", slowdown, low, high, confidence=0.99, cells=6, cells_of_campaign=6, rounds=17)
    return dataclasses.replace(made, **changes)  # type: ignore[arg-type]


def test_more_time_is_slower() -> None:
    check(
        latency((1.016, 1.021, 1.026), SLOWER),
        "18.1 is 2.1 % slower than 17.7 on select-only (typical latency), between 1.6 and 2.6 %, 99 % sure",
    )


def test_same_that_is_withheld_says_why_and_what_it_takes() -> None:
    check(
        latency((0.998, 1.001, 1.004), UNDECIDED, rounds=38, more_rounds=19,
                withheld="3 of 41 rounds failed, more than 5 %"),
        "No verdict on whether 18.1 is slower than 17.7 on select-only (typical latency): 3 of 41 rounds failed,"
        " more than 5 %; between 0.20 % faster and 0.40 % slower, 99 % sure, after 38 rounds; a run of about"
        " 57 rounds, 3 min at this pace, would settle it",
    )  # fmt: skip


def test_less_work_per_time_is_slower() -> None:
    check(
        throughput((0.971, 0.98, 0.989), SLOWER),
        "18.1 is 2.0 % slower than 17.7 on select-only (throughput), between 1.1 and 2.9 %, 99 % sure",
    )


def test_less_time_is_faster() -> None:
    check(
        latency((0.931, 0.95, 0.969), FASTER),
        "18.1 is 5.0 % faster than 17.7 on select-only (typical latency), between 3.1 and 6.9 %, 99 % sure",
    )


def test_narrow_intervals_have_a_second_decimal() -> None:
    check(
        latency((1.0112, 1.0134, 1.0156), SLOWER),
        "18.1 is 1.34 % slower than 17.7 on select-only (typical latency), between 1.12 and 1.56 %, 99 % sure",
    )


@pytest.mark.parametrize(
    ("verdict", "change", "metric", "interval"),
    [
        (latency((4.7, 4.9, 5.1), SLOWER), "4.90 times as slow", "typical latency", "4.70 and 5.10"),
        (latency((0.196, 0.2, 0.2128), FASTER), "5.00 times as fast", "typical latency", "4.70 and 5.10"),
        (throughput((0.196, 0.2, 0.2128), SLOWER), "5.00 times as slow", "throughput", "4.70 and 5.10"),
        (throughput((2.9, 3.0, 3.2), FASTER), "3.00 times as fast", "throughput", "2.90 and 3.20"),
    ],
)
def test_from_a_factor_of_two_on_effects_are_ratios(
    verdict: Verdict, change: str, metric: str, interval: str
) -> None:
    check(verdict, f"18.1 is {change} as 17.7 on select-only ({metric}), between {interval} times, 99 % sure")


def test_the_same_within_the_margin_says_what_is_left() -> None:
    check(
        latency((0.9971, 1.0004, 1.0038), SAME),
        "18.1 is as fast as 17.7 on select-only (typical latency) to within 1 %: no difference above 0.38 %,"
        " between 0.29 % faster and 0.38 % slower, 99 % sure",
    )


def test_a_detectable_difference_within_the_margin_is_named() -> None:
    check(
        throughput((0.9931, 0.9952, 0.9973), SAME, detectable=True),
        "18.1 is as fast as 17.7 on select-only (throughput) to within 1 %: no difference above 0.70 %,"
        " between 0.27 and 0.69 % slower, 99 % sure; the difference is detectable, and smaller than matters",
    )


def test_what_is_undecided_says_what_it_would_take() -> None:
    check(
        throughput((0.985, 0.992, 1.004), UNDECIDED, rounds=12, more_rounds=20),
        "Cannot tell yet whether 18.1 is slower than 17.7 on select-only (throughput):"
        " between 0.4 % faster and 1.5 % slower, 99 % sure, after 12 rounds;"
        " a run of about 32 rounds, 2 min at this pace, would settle it",
    )


def test_what_would_take_for_ever_says_so() -> None:
    check(
        latency((0.985, 1.009, 1.024), UNDECIDED, rounds=80),
        "Cannot tell yet whether 18.1 is slower than 17.7 on select-only (typical latency):"
        " between 1.5 % faster and 2.4 % slower, 99 % sure, after 80 rounds;"
        " more than 10,000 further rounds would be needed",
    )


def test_an_effect_without_an_interval_is_no_more_than_that() -> None:
    check(
        latency((0.0, 1.02, math.inf), UNDECIDED, rounds=5, more_rounds=3),
        "No verdict yet on whether 18.1 is slower than 17.7 on select-only (typical latency):"
        " a verdict takes at least 8 rounds; 2.00 % slower after 5 rounds, too few for an interval;"
        " a run of about 8 rounds, 24 s at this pace, would settle it",
    )


def test_nothing_is_estimated_from_nothing() -> None:
    check(
        latency((0.0, math.nan, math.inf), UNDECIDED, rounds=1),
        "No verdict yet on whether 18.1 is slower than 17.7 on select-only (typical latency):"
        " a verdict takes at least 8 rounds; too little to go by after 1 round",
    )


def test_before_eight_rounds_an_interval_is_no_verdict() -> None:
    check(
        latency((1.082, 1.133, 1.186), UNDECIDED, rounds=7, more_rounds=1),
        "No verdict yet on whether 18.1 is slower than 17.7 on select-only (typical latency):"
        " a verdict takes at least 8 rounds; between 8.2 and 18.6 % slower after 7 rounds;"
        " a run of about 8 rounds, 24 s at this pace, would settle it",
    )


@pytest.mark.parametrize("rounds", [6, 12])
def test_what_holds_a_verdict_back_is_said(rounds: int) -> None:
    verdict = latency((1.082, 1.133, 1.186), UNDECIDED, rounds=rounds, more_rounds=1)
    held_back = "stopped before its 20 rounds"
    assert sentences.headline(verdict, READ_ONLY, ("17.7", "18.1"), PACE_S, held_back=held_back) == (
        "No verdict on whether 18.1 is slower than 17.7 on select-only (typical latency):"
        f" stopped before its 20 rounds; between 8.2 and 18.6 % slower after {rounds} rounds"
    )


@pytest.mark.parametrize(
    ("verdict", "between"),
    [
        (
            latency((1e-9, 1.3, 3.8e23), UNDECIDED),
            "between more than 99 % faster and more than 9900 % slower",
        ),
        (
            throughput((1e-9, 1.3, 3.8e23), UNDECIDED),
            "between more than 9900 % faster and more than 99 % slower",
        ),
        (latency((1.02, 1.3, 3.8e23), UNDECIDED), "between 2.0 and more than 9900 % slower"),
        (latency((1.5, 40.0, 3.8e23), UNDECIDED), "between 1.50 and more than 100 times"),
        (latency((140.0, 150.0, 160.0), UNDECIDED), "more than 100 times"),
    ],
)
def test_limits_without_measure_are_capped_in_sentences(verdict: Verdict, between: str) -> None:
    assert sentences.change_words(verdict).endswith(f", {between}")


@pytest.mark.parametrize(
    ("effect", "said"),
    [
        ((1.016, 1.021, 1.026), "2.1 % slower, between 1.6 and 2.6 %"),
        ((0.0, 1.021, math.inf), "2.10 % slower"),
        ((0.0, math.nan, math.inf), "not yet known"),
    ],
)
def test_a_change_is_said_in_few_words(effect: tuple[float, float, float], said: str) -> None:
    assert sentences.change_words(latency(effect, SLOWER)) == said


@pytest.mark.parametrize(("high", "said"), [(80, "52"), (None, "52")])
def test_a_forecast_says_how_far_it_is_to_be_trusted(high: int | None, said: str) -> None:
    open_ = throughput(
        (0.99, 0.995, 1.001), UNDECIDED, rounds=12, more_rounds=40, more_rounds_range=(9, high)
    )
    most = "92" if high else "more than 10,000"

    sentence = sentences.headline(open_, READ_ONLY, ("17.7", "18.1"), PACE_S)

    assert f"a run of about {said} rounds" in sentence
    assert sentence.endswith(f"would settle it (8 in 10: 21 to {most})")


def test_a_candidate_is_summed_up_over_all_cells() -> None:
    assert sentences.summary_sentence(a_summary(1.012, 0.999, 1.0252), ("17.7", "18.1")) == (
        "18.1 over 6 cells, geometric mean of the primary metrics: 1.20 % slower than 17.7,"
        " between 0.10 % faster and 2.52 % slower, 99 % sure, from the 17 rounds that each of them has"
    )


def test_a_summary_says_what_it_leaves_out_and_what_it_does_not_know() -> None:
    few = a_summary(0.98, 0.0, math.inf, cells=2, rounds=8)
    nothing = a_summary(math.nan, 0.0, math.inf)

    assert sentences.summary_sentence(few, ("a", "b")) == (
        "b over 2 of 6 cells, geometric mean of the primary metrics: 2.00 % faster than a,"
        " from the 8 rounds that each of them has, too few for an interval"
    )
    assert sentences.summary_sentence(nothing, ("a", "b")).endswith(": not yet known")


def test_the_promise_for_many_primaries_is_a_share() -> None:
    assert sentences.promise(0.95, members=2).startswith("of the differences claimed on primary metrics")
    assert "a share of at most 5 %" in sentences.promise(0.95, members=2)
    assert "cell by cell" in sentences.promise(0.95, members=2)
