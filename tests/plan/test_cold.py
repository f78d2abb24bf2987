"""Rounds in which every arm works once."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgverdict.plan.cold import once
from pgverdict.plan.rounds import arrange

KEY = "select-only scale=1 clients=1 cache=cold"


@given(st.integers(0, 2**63 - 1), st.integers(0, 20))
def test_who_works_first_is_balanced_against_every_other_order(seed: int, block: int) -> None:
    plans = [once(arrange(KEY, seed=seed, ordinal=8 * block + place)) for place in range(8)]

    for other in ("start_order", "connect_order", "slots"):
        seen = Counter((plan.pairs[0].order, getattr(plan, other)) for plan in plans)
        assert set(seen.values()) == {2}
    assert {len(plan.pairs) for plan in plans} == {1}


@pytest.mark.parametrize("arms", [3, 5, 8])
def test_many_arms_work_once_each_and_each_comes_first_equally_often(arms: int) -> None:
    plans = [once(arrange(KEY, seed=3, ordinal=ordinal, arms=arms)) for ordinal in range(arms)]

    assert {len(set(plan.pairs[0].order)) for plan in plans} == {arms}
    assert {plan.pairs[0].order[0] for plan in plans} == set(range(arms))


def test_all_else_is_as_it_was_drawn() -> None:
    plan = arrange(KEY, seed=1, ordinal=4)
    cold = once(plan)

    assert (cold.loads, cold.installs, cold.start_order) == (plan.loads, plan.installs, plan.start_order)
    assert cold.pairs[0].seed == plan.pairs[0].seed
