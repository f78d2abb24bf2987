"""Arms of a cold round fetch what they fetch from storage, or the round fails."""

import pytest

from pgverdict.conduct.bounds import COLD_TRANSACTIONS_PER_CLIENT_MIN, cold_bounds
from pgverdict.conduct.coldness import FETCHED_BLOCKS_MIN, check_coldness
from pgverdict.errors import RoundFailed


def check(storage_read_bytes: int, buffers_read: int | None) -> None:
    check_coldness(
        1, "18", storage_read_bytes=storage_read_bytes, buffers_read=buffers_read, block_bytes=8192
    )


def test_an_arm_that_read_from_storage_what_it_fetched_was_cold() -> None:
    check(storage_read_bytes=1000 * 8192, buffers_read=1000)
    check(storage_read_bytes=4000 * 8192, buffers_read=1000)  # read ahead


def test_an_arm_that_found_its_data_in_memory_fails_the_round() -> None:
    with pytest.raises(
        RoundFailed, match=r"arm 18 was not cold .*: of 8192000 bytes .*, 8192 came from"
    ) as caught:
        check(storage_read_bytes=8192, buffers_read=1000)
    assert caught.value.arm == 1


def test_a_server_that_does_not_count_is_believed_if_it_read_at_all() -> None:
    check(storage_read_bytes=8192, buffers_read=None)
    with pytest.raises(RoundFailed, match="it read nothing from storage"):
        check(storage_read_bytes=0, buffers_read=None)


def test_an_arm_that_needed_next_to_nothing_is_not_asked_where_from() -> None:
    check(storage_read_bytes=0, buffers_read=FETCHED_BLOCKS_MIN - 1)


def test_cold_slices_are_of_equal_work_and_count_from_the_first_transaction() -> None:
    assert cold_bounds(1).as_request() == ({"transactions_per_client": 1000}, {"transactions_per_client": 0})
    assert dict(cold_bounds(1000).bound) == {"transactions_per_client": COLD_TRANSACTIONS_PER_CLIENT_MIN}
