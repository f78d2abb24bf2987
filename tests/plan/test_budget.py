"""Where the next round goes, and how long it all will take."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgverdict.plan.budget import CellProgress, next_cell, reach, time_left_s, within_reach

NEW = CellProgress((), decided=False)
OPEN = CellProgress((3.0, 3.0), decided=False)
DECIDED = CellProgress((3.0,), decided=True)
GIVEN_UP = CellProgress((1.0,), decided=False, given_up=True)


def test_the_open_cell_with_the_least_time_is_next() -> None:
    assert next_cell([OPEN, NEW, DECIDED], spent_s=9, budget_s=300) == 1


def test_decided_and_given_up_cells_get_nothing_more() -> None:
    assert next_cell([DECIDED, GIVEN_UP], spent_s=4, budget_s=300) is None


def test_a_round_that_does_not_fit_the_budget_is_not_begun() -> None:
    assert next_cell([OPEN], spent_s=298, budget_s=300) is None


def test_a_shorter_cell_may_use_what_is_left_of_the_budget() -> None:
    long = CellProgress((20.0,), decided=False)

    assert next_cell([long, CellProgress((3.0,) * 9, decided=False)], spent_s=285, budget_s=300) == 1


def _seen(more_rounds: int | None, rounds: int = 8) -> CellProgress:
    return CellProgress((3.0,) * rounds, decided=False, more_rounds=more_rounds)


def test_a_verdict_that_the_budget_does_not_reach_waits_for_those_it_does() -> None:
    far, near = _seen(900), _seen(20, rounds=40)

    assert next_cell([far, near], spent_s=144, budget_s=300, minimum=8) == 1
    assert next_cell([far, near], spent_s=250, budget_s=300, minimum=8) == 0, (
        "none is reached: the least time"
    )
    assert next_cell([_seen(900, rounds=7), near], spent_s=144, budget_s=300, minimum=8) == 0


def test_of_verdicts_within_reach_the_cell_with_the_least_time_is_next() -> None:
    assert next_cell([_seen(1, rounds=12), _seen(20), _seen(None)], spent_s=84, budget_s=300, minimum=8) == 1


@given(st.lists(st.none() | st.integers(0, 50), max_size=8), st.integers(0, 400))
def test_as_many_verdicts_as_can_be_are_within_reach(wanted: list[int | None], left_s: int) -> None:
    reached = within_reach([_seen(more) for more in wanted], left_s=left_s)

    known = sorted(3 * more for more in wanted if more is not None)
    assert len(reached) == max(n for n in range(len(known) + 1) if sum(known[:n]) <= left_s)
    assert sum(3 * (wanted[number] or 0) for number in reached) <= left_s


def test_the_time_left_is_what_open_cells_want_within_the_budget() -> None:
    wants_ten = CellProgress((3.0, 3.0), decided=False, more_rounds=10)

    assert time_left_s([wants_ten, DECIDED], spent_s=60, budget_s=300) == 30
    assert time_left_s([wants_ten, DECIDED], spent_s=290, budget_s=300) == 10


def test_the_time_left_is_the_rest_of_the_budget_while_nobody_knows_better() -> None:
    assert time_left_s([NEW, OPEN], spent_s=60, budget_s=300) == 240


def test_a_first_round_that_will_not_fit_the_budget_is_not_begun() -> None:
    long = CellProgress((), decided=False, expected_s=301.0)

    assert next_cell([long], spent_s=0, budget_s=300) is None
    assert next_cell([long, NEW], spent_s=0, budget_s=300) == 1


def test_the_time_left_is_known_before_the_first_round_where_its_length_is() -> None:
    long = CellProgress((), decided=False, more_rounds=8, expected_s=20.0)

    assert time_left_s([long], spent_s=0, budget_s=300) == 160


MINIMUM = 8


def _spend(lengths_s: list[int], budget_s: int) -> list[int]:
    """Rounds of every cell, as a run would give them until all have the minimum."""
    rounds = [0] * len(lengths_s)
    while True:
        cells = [
            CellProgress((float(one),) * done, decided=done >= MINIMUM, expected_s=float(one))
            for one, done in zip(lengths_s, rounds, strict=True)
        ]
        spent_s = sum(one * done for one, done in zip(lengths_s, rounds, strict=True))
        number = next_cell(cells, spent_s=spent_s, budget_s=budget_s, minimum=MINIMUM)
        if number is None:
            return rounds
        rounds[number] += 1


_LENGTHS = st.lists(st.integers(1, 40), min_size=1, max_size=8)


@given(_LENGTHS, st.integers(0, 2500))
def test_a_budget_reaches_as_far_as_a_run_gets_with_it_to_within_a_few_rounds(
    lengths_s: list[int], budget_s: int
) -> None:
    needs_s = [MINIMUM * one for one in lengths_s]

    def had_enough(budget_s: int) -> int:
        return sum(done >= MINIMUM for done in _spend(lengths_s, budget_s))

    assert had_enough(budget_s + sum(lengths_s)) >= reach(needs_s, budget_s).cells
    slack_s = 2 * len(lengths_s) * max(lengths_s)
    assert reach(needs_s, budget_s + slack_s).cells >= had_enough(budget_s)


@given(_LENGTHS, st.integers(0, 2500))
def test_what_cells_get_is_what_there_is(needs_s: list[int], budget_s: int) -> None:
    found = reach(needs_s, budget_s)

    given_s = sum(min(need, found.share_s) for need in needs_s)
    assert given_s == pytest.approx(min(budget_s, sum(needs_s)))
    assert (found.cells == len(needs_s)) is (sum(needs_s) <= budget_s)
    assert reach(needs_s, budget_s + 1).cells >= found.cells
    assert sum(need <= found.share_s for need in needs_s) >= found.cells
