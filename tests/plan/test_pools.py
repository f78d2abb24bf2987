"""Pools of loads and installs: who draws from which, and how large they are."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgverdict.plan.pools import (
    INSTALLS_MAX,
    INSTALLS_OF_ALL_ARMS,
    LOADS_MAX,
    LOADS_MIN,
    Pools,
    how_many_installs,
    how_many_loads,
    shared_by,
)
from pgverdict.plan.stretches import LOADS_AGED
from pgverdict.spec.campaign import ARMS_MAX


@given(
    load_bytes=st.integers(1, 10**13), rounds=st.none() | st.integers(2, 100), arms=st.integers(1, ARMS_MAX)
)
def test_there_are_as_many_loads_as_room_and_rounds_allow(
    load_bytes: int, rounds: int | None, arms: int
) -> None:
    loads = how_many_loads(load_bytes, rounds, arms=arms)

    assert max(LOADS_MIN, arms) <= loads <= max(LOADS_MAX, arms)
    assert rounds is None or loads <= max(rounds, arms)


def test_there_are_fewer_loads_where_each_costs_more_and_still_one_for_every_arm_of_the_pool() -> None:
    assert how_many_loads(200_000_000, arms=2, most=LOADS_AGED) == LOADS_AGED
    assert how_many_loads(200_000_000, arms=6, most=LOADS_AGED) == 6


@given(builds=st.lists(st.integers(0, 7), min_size=2, max_size=ARMS_MAX))
def test_all_arms_together_have_no_more_than_eight_installs_unless_each_has_one(builds: list[int]) -> None:
    of = shared_by(builds)

    sizes = [how_many_installs(len(of), sharing=of.count(pool)) for pool in set(of)]

    assert sum(sizes) <= max(INSTALLS_OF_ALL_ARMS, len(of))
    assert all(of.count(pool) <= size for pool, size in enumerate(sizes))
    assert len(of) > 2 or set(sizes) == {INSTALLS_MAX}


def test_no_more_installs_are_unpacked_than_there_will_be_rounds() -> None:
    assert how_many_installs(2, 2) == 2
    assert how_many_installs(3, 2, sharing=3) == 3


def test_a_pool_that_cannot_serve_its_arms_at_once_is_refused() -> None:
    with pytest.raises(AssertionError):
        Pools((0, 0, 0), (2,))
