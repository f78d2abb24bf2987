"""The arrangement of rounds: balanced, seeded, complete."""

import itertools
from collections import Counter
from collections.abc import Iterable

from hypothesis import given
from hypothesis import strategies as st

from pgverdict.plan.pools import LOADS_MAX, Pools
from pgverdict.plan.rounds import PAIRS, arrange
from pgverdict.spec.campaign import ARMS_MAX

CELL = "select-only scale=10 clients=1"
seeds = st.integers(0, 2**63 - 1)


@given(seed=seeds, block=st.integers(0, 1000))
def test_eight_rounds_hold_every_combination_of_orders_once(seed: int, block: int) -> None:
    plans = [arrange(CELL, seed=seed, ordinal=8 * block + n) for n in range(8)]

    assert len({(plan.start_order, plan.connect_order, plan.slots) for plan in plans}) == 8


@given(seeds, st.integers(0, 20))
def test_two_arms_are_warmed_in_an_order_that_no_other_order_or_two_of_them_tell(
    seed: int, block: int
) -> None:
    plans = [arrange("cell", seed=seed, ordinal=8 * block + place) for place in range(8)]
    seen = Counter((p.warm_order, p.start_order, p.connect_order) for p in plans)
    beside = Counter((p.warm_order, p.start_order, p.slots) for p in plans)

    assert set(seen.values()) == set(beside.values()) == {1}
    assert len(seen) == len(beside) == 8


@given(seed=seeds, ordinal=st.integers(0, 10_000))
def test_as_many_pairs_begin_with_one_arm_as_with_the_other(seed: int, ordinal: int) -> None:
    plan = arrange(CELL, seed=seed, ordinal=ordinal)

    assert Counter(pair.order for pair in plan.pairs) == {(0, 1): PAIRS // 2, (1, 0): PAIRS // 2}


@given(seed=seeds, ordinal=st.integers(0, 1000), pairs=st.integers(1, 25))
def test_an_odd_number_of_pairs_is_off_balance_by_one(seed: int, ordinal: int, pairs: int) -> None:
    orders = Counter(pair.order for pair in arrange(CELL, seed=seed, ordinal=ordinal, pairs=pairs).pairs)

    assert orders.total() == pairs
    assert abs(orders[0, 1] - orders[1, 0]) == pairs % 2


@given(seed=seeds, ordinal=st.integers(0, 10_000))
def test_the_same_seed_gives_the_same_round(seed: int, ordinal: int) -> None:
    assert arrange(CELL, seed=seed, ordinal=ordinal) == arrange(CELL, seed=seed, ordinal=ordinal)


def test_another_cell_or_another_seed_gives_another_arrangement() -> None:
    rounds = range(16)
    here = [arrange(CELL, seed=1, ordinal=n) for n in rounds]

    assert here != [arrange(CELL, seed=2, ordinal=n) for n in rounds]
    assert here != [arrange("simple-update scale=10 clients=1", seed=1, ordinal=n) for n in rounds]


@given(seed=seeds, block=st.integers(0, 1000), loads=st.integers(1, LOADS_MAX))
def test_every_load_of_an_arm_serves_equally_often(seed: int, block: int, loads: int) -> None:
    plans = [
        arrange(CELL, seed=seed, ordinal=loads * block + n, loads=Pools.apart(2, loads)) for n in range(loads)
    ]

    for arm in (0, 1):
        assert sorted(plan.loads[arm] for plan in plans) == list(range(loads))


@given(seed=seeds, block=st.integers(0, 1000), arms=st.integers(2, 5), more=st.integers(0, 4))
def test_arms_of_one_pool_take_turns_on_its_members_and_never_share_one(
    seed: int, block: int, arms: int, more: int
) -> None:
    size = arms + more
    pools = Pools((*[0] * arms, 1), (size, 3))
    plans = [
        arrange(
            CELL, seed=seed, ordinal=size * block + n, arms=arms + 1,
            loads=pools, installs=Pools.apart(arms + 1, 2),
        )
        for n in range(size)
    ]  # fmt: skip

    for plan in plans:
        assert len(set(plan.loads[:arms])) == arms
    for arm in range(arms):
        assert sorted(plan.loads[arm] for plan in plans) == list(range(size))


@given(seed=seeds, block=st.integers(0, 1000))
def test_every_copy_of_an_install_serves_equally_often(seed: int, block: int) -> None:
    for pools in (Pools.apart(2, 3), Pools((0, 0), (3,))):
        plans = [arrange(CELL, seed=seed, ordinal=3 * block + n, installs=pools) for n in range(3)]

        for arm in (0, 1):
            assert sorted(plan.installs[arm] for plan in plans) == [0, 1, 2]


@given(seed=seeds, block=st.integers(0, 1000), arms=st.integers(3, ARMS_MAX))
def test_of_many_arms_each_is_in_every_place_of_every_order_once_in_as_many_rounds(
    seed: int, block: int, arms: int
) -> None:
    plans = [arrange(CELL, seed=seed, ordinal=arms * block + n, arms=arms) for n in range(arms)]

    once = dict.fromkeys(itertools.product(range(arms), repeat=2), 1)
    assert _places(plan.start_order for plan in plans) == once
    assert _places(plan.connect_order for plan in plans) == once
    assert _places(plan.slots for plan in plans) == once


@given(seed=seeds, block=st.integers(0, 1000), arms=st.integers(3, ARMS_MAX))
def test_of_many_arms_each_is_started_right_after_every_other_equally_often(
    seed: int, block: int, arms: int
) -> None:
    plans = [arrange(CELL, seed=seed, ordinal=2 * arms * block + n, arms=arms) for n in range(2 * arms)]

    after = Counter(neighbours for plan in plans for neighbours in itertools.pairwise(plan.start_order))

    assert after == dict.fromkeys(itertools.permutations(range(arms), 2), 2)


@given(seed=seeds, ordinal=st.integers(0, 1000), arms=st.integers(3, ARMS_MAX), pairs=st.integers(1, 40))
def test_of_many_arms_each_works_in_every_place_as_often_as_pairs_allow(
    seed: int, ordinal: int, arms: int, pairs: int
) -> None:
    plan = arrange(CELL, seed=seed, ordinal=ordinal, arms=arms, pairs=pairs)

    places = _places(pair.order for pair in plan.pairs)
    assert len(plan.pairs) == pairs
    assert {sorted(pair.order) == list(range(arms)) for pair in plan.pairs} == {True}
    assert {places[arm, place] for arm in range(arms) for place in range(arms)} <= {
        pairs // arms,
        -(-pairs // arms),
    }


def _places(orders: Iterable[tuple[int, ...]]) -> Counter[tuple[int, int]]:
    """How often an arm is in a place."""
    return Counter((arm, place) for order in orders for place, arm in enumerate(order))


def test_no_two_pairs_of_a_run_draw_the_same_keys() -> None:
    keys = [pair.seed for n in range(200) for pair in arrange(CELL, seed=7, ordinal=n).pairs]

    assert len(set(keys)) == len(keys)


def test_a_recorded_arrangement_never_changes() -> None:
    """A run is resumed and re-run from its seed: what a seed means must outlive releases of the product."""
    plan = arrange(CELL, seed=1, ordinal=0, pairs=12)

    assert (plan.start_order, plan.connect_order, plan.slots, plan.loads) == RECORDED_ORDERS
    assert plan.pairs[0].seed == RECORDED_SEED


RECORDED_ORDERS = ((0, 1), (1, 0), (1, 0), (6, 7))
RECORDED_SEED = 6424383811685319301
