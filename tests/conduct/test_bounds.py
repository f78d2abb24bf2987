"""How long slices are."""

from hypothesis import given
from hypothesis import strategies as st

from pgverdict.conduct.bounds import BY_TIME, BY_TRANSACTIONS, DISCARDED_US, choose_bounds
from pgverdict.workloads.workload import SliceBound

rates = st.lists(st.floats(10, 1e6), min_size=2, max_size=2)


def test_fast_work_gets_the_usual_slice() -> None:
    bounds = choose_bounds(SliceBound.TIME, [50_000.0, 40_000.0], clients=1)

    assert dict(bounds.bound) == {"duration_us": BY_TIME.usual_us}
    assert dict(bounds.discard) == {"duration_us": DISCARDED_US}


def test_slow_work_gets_slices_long_enough_for_eighty_transactions_of_every_client() -> None:
    bounds = choose_bounds(SliceBound.TIME, [8_000.0, 8_000.0], clients=8)

    assert dict(bounds.bound) == {"duration_us": 80_000}
    assert dict(bounds.discard) == {"duration_us": 8_000}


def test_a_slice_has_an_upper_bound() -> None:
    assert dict(choose_bounds(SliceBound.TIME, [10.0, 10.0], clients=1).bound) == {
        "duration_us": BY_TIME.most_us
    }


def test_bounds_by_transactions_follow_the_slower_arm() -> None:
    bounds = choose_bounds(SliceBound.TRANSACTIONS, [10_000.0, 5_000.0], clients=1)

    assert dict(bounds.bound) == {"transactions_per_client": 250}
    assert dict(bounds.discard) == {"transactions_per_client": 25}


@given(rates=rates, clients=st.integers(1, 64), kind=st.sampled_from(SliceBound))
def test_every_slice_counts_something_and_discards_less_than_it_counts(
    rates: list[float], clients: int, kind: SliceBound
) -> None:
    bounds = choose_bounds(kind, rates, clients)
    (name, bound), (_, discard) = bounds.bound[0], bounds.discard[0]

    assert bound >= 1
    assert 0 <= discard <= bound / 2
    assert (
        name != "transactions_per_client"
        or bound <= max(1, BY_TRANSACTIONS.transactions_per_client, rates[0]) * 2
    )
