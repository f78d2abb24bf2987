"""Where the next round goes, and how long it all will take."""

from pgverdict.plan.budget import CellProgress, next_cell, time_left_s

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
