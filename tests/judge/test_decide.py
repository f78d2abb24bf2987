"""The verdict rule."""

import math

from pgverdict.judge.decide import ROUNDS_MIN, decide
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
