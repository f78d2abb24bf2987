"""The verdict rule and the forecast."""

import math

import numpy as np
import pytest

from pgverdict.judge.decide import MORE_ROUNDS_MAX, ROUNDS_MIN, decide, more_rounds
from pgverdict.judge.estimate import Estimate
from pgverdict.judge.interval import Kind, half_width_t
from pgverdict.judge.verdict import Outcome
from pgverdict.spec.metrics import Better


def check(low: float, high: float, expected: Outcome, *, detectable: bool = False) -> None:
    """The outcome of an interval of effects where less is better; the mirror images follow from it."""
    opposite = {Outcome.SLOWER: Outcome.FASTER, Outcome.FASTER: Outcome.SLOWER}
    lower, higher = math.log(low), math.log(high)

    def decided(low: float, high: float, better: Better) -> tuple[Outcome, bool]:
        return decide(low, high, margin=0.01, better=better, rounds=ROUNDS_MIN)

    assert decided(lower, higher, Better.LOWER) == (expected, detectable)
    assert decided(lower, higher, Better.HIGHER) == (opposite.get(expected, expected), detectable)
    assert decided(-higher, -lower, Better.LOWER) == (opposite.get(expected, expected), detectable)


def test_inside_the_margin_is_the_same() -> None:
    check(0.995, 1.009, Outcome.SAME)


def test_inside_the_margin_without_no_change_is_the_same_and_detectable() -> None:
    check(1.002, 1.009, Outcome.SAME, detectable=True)


def test_beyond_no_change_and_not_inside_the_margin_is_a_direction() -> None:
    check(1.002, 1.03, Outcome.SLOWER)
    check(1.02, 1.03, Outcome.SLOWER)


def test_an_interval_that_holds_no_change_and_more_than_the_margin_is_undecided() -> None:
    check(0.995, 1.02, Outcome.UNDECIDED)
    check(0.9, 1.1, Outcome.UNDECIDED)
    check(1.0, 1.02, Outcome.UNDECIDED)


def test_the_margin_is_symmetric_on_the_log_scale() -> None:
    check(1 / 1.00999, 1.00999, Outcome.SAME)
    check(0.99, 1.0, Outcome.UNDECIDED)


def test_nothing_is_decided_before_the_first_block_is_complete() -> None:
    for low, high in ((0.001, 0.002), (0.5, 0.6)):
        outcome, detectable = decide(low, high, margin=0.01, better=Better.LOWER, rounds=ROUNDS_MIN - 1)
        assert (outcome, detectable) == (Outcome.UNDECIDED, False)


def an_estimate(log_ratio: float, sd: float, *, rounds: int) -> Estimate:
    return Estimate(np.array(log_ratio), np.array(sd), rounds - 4, float(rounds))


@pytest.mark.parametrize("kind", Kind)
@pytest.mark.parametrize("log_ratio", [0.0, 0.004, -0.007, 0.012, 0.05])
@pytest.mark.parametrize("rounds", [5, 9, 12])
def test_the_forecast_is_the_first_round_that_would_decide(kind: Kind, log_ratio: float, rounds: int) -> None:
    def decided_with(more: int) -> bool:
        n = rounds + more
        t = float(half_width_t(0.005, kind, df=n - 4, information=float(n)))
        half = t * 0.02 / math.sqrt(n)
        outcome, _ = decide(log_ratio - half, log_ratio + half, margin=0.01, better=Better.LOWER, rounds=n)
        return outcome is not Outcome.UNDECIDED

    more = more_rounds(
        an_estimate(log_ratio, 0.02, rounds=rounds), rounds=rounds, alpha=0.005, margin=0.01, kind=kind
    )

    assert more is not None
    assert [m for m in range(1, more + 1) if decided_with(m)] == [more]


def test_there_is_no_forecast_beyond_what_anybody_would_wait_for() -> None:
    far = an_estimate(0.0001, 2.0, rounds=20)

    assert more_rounds(far, rounds=20, alpha=0.005, margin=0.01, kind=Kind.ANYTIME) is None
    assert MORE_ROUNDS_MAX == 10_000


def test_there_is_no_forecast_without_an_estimate() -> None:
    nothing = Estimate(np.array(math.nan), np.array(math.nan), 0, 4.0)

    assert more_rounds(nothing, rounds=4, alpha=0.005, margin=0.01, kind=Kind.ANYTIME) is None


def test_rounds_without_scatter_still_wait_for_evidence_enough() -> None:
    exact = an_estimate(0.02, 0.0, rounds=8)

    assert more_rounds(exact, rounds=8, alpha=0.005, margin=0.01, kind=Kind.ANYTIME) == 1
