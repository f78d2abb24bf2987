"""Rounds in which arms do not alternate: balanced, and with all the information there is."""

import numpy as np

from pgverdict.judge.estimate import estimate, order_columns
from pgverdict.plan.rounds import RoundPlan, arrange
from pgverdict.plan.stretches import slice_seed, whole

KEY = "simple-update scale=1 clients=1 regime=steady"


def plans(count: int) -> list[RoundPlan]:
    return [whole(arrange(KEY, seed=7, ordinal=ordinal)) for ordinal in range(count)]


def test_an_arm_connects_and_works_when_it_has_started() -> None:
    for plan in plans(16):
        assert plan.connect_order == plan.start_order == plan.pairs[0].order
        assert len(plan.pairs) == 1


def test_start_order_and_directories_are_as_balanced_as_ever() -> None:
    seen = [(plan.start_order, plan.slots) for plan in plans(8)]

    assert {seen.count(each) for each in set(seen)} == {2}
    assert len(set(seen)) == 4


def test_an_order_that_is_another_by_nature_costs_no_information_and_no_degree_of_freedom() -> None:
    found = estimate(np.arange(8.0), order_columns(plans(8)))

    assert found.information == np.float64(8).item()
    assert found.df == 8 - 2 - 1  # start (and connection, which is the same), directory, the effect


def test_slices_of_one_number_have_one_seed_and_others_another() -> None:
    (plan,) = plans(1)
    seeds = [slice_seed(plan, number) for number in range(100)]

    assert len(set(seeds)) == 100
    assert seeds == [slice_seed(plan, number) for number in range(100)]
    assert all(0 <= seed < 2**63 for seed in seeds)
