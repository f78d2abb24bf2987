"""Segments of throughput by clients, on curves whose truth is known."""

import random
from collections.abc import Callable

import pytest

from pgverdict.judge.apart import apart, around
from pgverdict.judge.curve import Curve, Mark, curve

COUNTS = (1, 2, 3, 4, 6, 8, 10, 12, 14, 16, 20, 24, 28, 32)


def rises_and_stays(clients: int) -> float:
    return 1000.0 * min(clients, 8)


def rises_and_falls(clients: int) -> float:
    return rises_and_stays(clients) if clients <= 10 else 8000.0 * 0.6 ** ((clients - 10) / 6)


def drawn(truth: Callable[[int], float], sd: float, seed: int, rounds: int = 8) -> Curve:
    draw = random.Random(seed)
    found = curve([(n, [truth(n) * draw.lognormvariate(0, sd) for _ in range(rounds)]) for n in COUNTS], 0.01)
    assert found is not None
    return found


def holds(mark: Mark | None, truth: int | None) -> bool:
    if mark is None or truth is None:
        return truth is None and (mark is None or mark.latest is None)
    return mark.earliest <= truth and (mark.latest is None or truth <= mark.latest)


def test_a_plateau_is_found_with_its_begin_and_no_collapse() -> None:
    found = drawn(rises_and_stays, 0.01, seed=1)

    # 8000 / 10 is 0.8 per client, right at the rule; 12 clients are surely beyond linear growth.
    assert found.linear_up_to.earliest == 8
    assert found.linear_up_to.latest in (8, 10)
    assert found.plateau_from == Mark(8, 8)
    assert found.collapse_from is None


def test_a_collapse_is_found_where_it_begins() -> None:
    found = drawn(rises_and_falls, 0.01, seed=2)

    assert found.plateau_from == Mark(8, 8)
    # 12 clients still have 0.84 of the highest throughput, which is less than nine tenths.
    assert found.collapse_from == Mark(12, 12)


def test_rounds_that_scatter_widely_leave_marks_between_two_counts() -> None:
    found = drawn(rises_and_falls, 0.25, seed=3)

    assert not (found.plateau_from.is_sure and found.linear_up_to.is_sure)


@pytest.mark.slow
@pytest.mark.parametrize("sd", [0.01, 0.05, 0.15])
def test_what_is_said_of_simulated_curves_is_true(sd: float) -> None:
    """At 99 %, of all comparisons of a curve together, 300 curves have about three with a wrong mark."""
    wrong = 0
    for seed in range(300):
        found = drawn(rises_and_falls, sd, seed)
        wrong += not (holds(found.plateau_from, 8) and holds(found.collapse_from, 12))

    assert wrong <= 10


def test_linear_growth_without_an_end_has_its_plateau_at_the_last_count() -> None:
    found = drawn(lambda clients: 500.0 * clients, 0.005, seed=4)

    assert found.linear_up_to == Mark(32, 32)
    assert found.plateau_from == Mark(32, 32)
    assert found.collapse_from is None


def test_a_line_that_falls_from_the_first_count_on_collapses_at_the_second() -> None:
    found = drawn(lambda clients: 5000.0 / clients, 0.005, seed=5)

    assert (found.peak, found.plateau_from, found.collapse_from) == (1, Mark(1, 1), Mark(2, 2))
    assert found.linear_up_to == Mark(1, 1)


def test_single_rounds_say_nothing_for_sure() -> None:
    found = curve([(1, [100.0]), (2, [190.0]), (4, [60.0])], 0.01)

    assert found is not None
    assert (found.linear_up_to, found.plateau_from, found.collapse_from) == (
        Mark(1, 4),
        Mark(1, 2),
        Mark(4, None),
    )


def test_two_counts_make_no_curve() -> None:
    assert curve([(1, [1.0, 1.0]), (2, [2.0, 2.0]), (4, [])], 0.01) is None


def test_rounds_without_scatter_are_taken_at_their_word() -> None:
    assert apart([2.0, 2.0], [3.0, 3.0], 0.01).low == pytest.approx(1.5)
    assert around([2.0, 2.0], 0.01).high == pytest.approx(2.0)


def test_intervals_hold_the_truth_as_often_as_they_say() -> None:
    draw = random.Random(6)
    missed = 0
    for _ in range(1000):
        first = [draw.lognormvariate(0, 0.02) for _ in range(8)]
        second = [1.1 * draw.lognormvariate(0, 0.06) for _ in range(12)]
        found = apart(first, second, 0.1)
        missed += not found.low <= 1.1 <= found.high

    assert 70 <= missed <= 130
