"""The arrangement of rounds: balanced, seeded, complete."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from pgverdict.plan.rounds import LOADS_MAX, LOADS_MIN, PAIRS, arrange, how_many_loads

CELL = "select-only scale=10 clients=1"
seeds = st.integers(0, 2**63 - 1)


@given(seed=seeds, block=st.integers(0, 1000))
def test_eight_rounds_hold_every_combination_of_orders_once(seed: int, block: int) -> None:
    plans = [arrange(CELL, seed=seed, ordinal=8 * block + n) for n in range(8)]

    assert len({(plan.start_order, plan.connect_order, plan.slots) for plan in plans}) == 8


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
    plans = [arrange(CELL, seed=seed, ordinal=loads * block + n, loads=loads) for n in range(loads)]

    for arm in (0, 1):
        assert sorted(plan.loads[arm] for plan in plans) == list(range(loads))


@given(load_bytes=st.integers(1, 10**13), rounds=st.none() | st.integers(2, 100))
def test_there_are_as_many_loads_as_room_and_rounds_allow(load_bytes: int, rounds: int | None) -> None:
    loads = how_many_loads(load_bytes, rounds)

    assert LOADS_MIN <= loads <= LOADS_MAX
    assert rounds is None or loads <= rounds


def test_no_two_pairs_of_a_run_draw_the_same_keys() -> None:
    keys = [pair.seed for n in range(200) for pair in arrange(CELL, seed=7, ordinal=n).pairs]

    assert len(set(keys)) == len(keys)


def test_a_recorded_arrangement_never_changes() -> None:
    """A run is resumed and re-run from its seed: what a seed means must outlive releases of the product."""
    plan = arrange(CELL, seed=1, ordinal=0)

    assert (plan.start_order, plan.connect_order, plan.slots, plan.loads) == RECORDED_ORDERS
    assert plan.pairs[0].seed == RECORDED_SEED


RECORDED_ORDERS = ((0, 1), (1, 0), (1, 0), (6, 7))
RECORDED_SEED = 6424383811685319301
