"""When an arm whose data is larger than its memory has been warmed up for long enough."""

import itertools
from collections.abc import Iterator, Sequence
from types import SimpleNamespace
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgverdict.conduct.turnover import (
    FEW_BYTES,
    SLICE_US,
    SLICES_MAX,
    WINDOW,
    Filling,
    WarmedUp,
    has_turned_over,
    warm_until_turnover,
)
from pgverdict.conduct.warmth import Footprint
from pgverdict.engine.process import Engine
from pgverdict.errors import RoundFailed
from pgverdict.plan.rounds import arrange

PLAN = arrange("cell", seed=1, ordinal=0)


@given(st.lists(st.floats(0, 1e9), max_size=2 * WINDOW - 1))
def test_fewer_than_six_slices_tell_nothing(read_bytes: list[float]) -> None:
    assert not has_turned_over(read_bytes)


@given(st.floats(0, 1e9), st.integers(2 * WINDOW, 50))
def test_reads_that_stay_as_they_are_have_turned_over(read_bytes: float, slices: int) -> None:
    assert has_turned_over([read_bytes] * slices)


@given(st.floats(1e3, 1e6), st.floats(0.5, 0.98))
def test_reads_that_fall_by_more_than_a_twentieth_over_three_slices_have_not(
    first: float, factor: float
) -> None:
    falling = [first * factor**number for number in range(2 * WINDOW)]
    assert falling[1] > FEW_BYTES

    assert not has_turned_over(falling)


def test_a_single_slice_that_reads_less_delays_nothing_and_hastens_nothing() -> None:
    assert has_turned_over([400, 410, 405, 20, 402, 408])
    assert not has_turned_over([900, 800, 700, 600, 5000, 400])


def test_an_arm_that_hardly_reads_has_turned_over_whatever_the_trend() -> None:
    assert has_turned_over([81, 60, 50, 3, 2, 1])


class FakeEngine:
    """Works through slices of a hundred transactions; `coming` is what each arm's server reads in its slices."""

    def __init__(self, *coming: Sequence[int]) -> None:
        self._coming: list[Iterator[int]] = [
            itertools.chain(reads, itertools.repeat(reads[-1])) for reads in coming
        ]
        self.read_bytes = [0] * len(coming)
        self.worked: list[tuple[int, int]] = []

    def slice(self, arm: int, *, seed: int, **more: Any) -> SimpleNamespace:
        assert more == {"bound": {"duration_us": SLICE_US}, "discard": {"duration_us": 0}, "keep": False}
        self.worked.append((arm, seed))
        self.read_bytes[arm] += next(self._coming[arm])
        return SimpleNamespace(transactions=98, failed=2, rate_hz=100.0 * len(self.worked))

    def warm(self, *order: int) -> dict[int, WarmedUp]:
        arms = {arm: Filling(f"arm{arm}", lambda arm=arm: self.read_bytes[arm]) for arm in order}  # type: ignore[misc]
        return warm_until_turnover(cast(Engine, self), arms, PLAN)


FALLS = [900_000, 800_000, 700_000, 600_000, 500_000]


def test_an_arm_works_until_its_reads_fall_no_further_and_how_long_is_told() -> None:
    engine = FakeEngine(FALLS)

    assert engine.warm(0) == {0: WarmedUp(900.0, 9.0)}
    assert len(set(engine.worked)) == 9, "each slice has keys of its own"


def test_arms_take_turns_until_the_last_one_is_there() -> None:
    engine = FakeEngine([1000], FALLS)

    warmed = engine.warm(1, 0)

    assert [arm for arm, _ in engine.worked] == [1, 0] * 9
    assert {seed for arm, seed in engine.worked if arm == 0} == {
        seed for arm, seed in engine.worked if arm == 1
    }
    assert {arm: done.turnover_s for arm, done in warmed.items()} == {0: 6.0, 1: 9.0}
    assert warmed[0].rate_hz == 1800, "the rate of its last slice, which is nearest to those that count"


def test_an_arm_that_never_gets_there_fails_its_round_with_what_was_seen() -> None:
    engine = FakeEngine([1000], [int(1e12 * 0.9**number) for number in range(SLICES_MAX)])

    with pytest.raises(
        RoundFailed, match="arm arm1 was still filling its memory after 120 s of work"
    ) as caught:
        engine.warm(0, 1)

    assert caught.value.arm == 1
    assert "--memory" in (caught.value.hint or "")
    assert len(engine.worked) == 2 * SLICES_MAX


def test_data_is_larger_than_memory_if_it_and_its_shared_buffers_leave_nothing_to_the_processes() -> None:
    weight = Footprint(data_bytes=700, shared_buffers_bytes=200)

    assert not weight.exceeds(None)
    assert not weight.exceeds(1000)
    assert weight.exceeds(999)
