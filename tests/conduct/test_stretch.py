"""How long a stretch is, and how it is written down."""

import math

from hypothesis import given
from hypothesis import strategies as st

from pgverdict.conduct.stretch import (
    CHECKPOINTS_FIRST,
    CHECKPOINTS_MIN,
    MARGIN,
    SLICES_MIN,
    expected_round_s,
    expected_slices,
    lengthened,
    slices_max,
    stretch_bounds,
    stretch_slices,
)

counts = st.integers(1, 10_000)


@given(slices=counts)
def test_a_stretch_is_read_back_from_its_placement(slices: int) -> None:
    assert stretch_slices(stretch_bounds(slices)) == slices


@given(slices=counts)
def test_a_stretch_is_a_quarter_longer_than_the_first_arm_needed(slices: int) -> None:
    assert slices * MARGIN <= lengthened(slices) < max(SLICES_MIN, slices * MARGIN) + 1


@given(
    cycle_s=st.floats(1, 1000), slower=st.floats(0.1, MARGIN), begun=st.floats(0, 1), phase=st.floats(0, 1)
)
def test_an_arm_whose_cycles_are_a_quarter_longer_gets_through_two_wherever_they_begin(
    cycle_s: float, slower: float, begun: float, phase: float
) -> None:
    needed = math.ceil((CHECKPOINTS_FIRST - begun) * cycle_s)

    assert math.floor(lengthened(needed) / (slower * cycle_s) + phase + 1e-9) >= CHECKPOINTS_MIN


def test_settings_as_shipped_make_a_round_take_tens_of_minutes() -> None:
    """A checkpoint every five minutes, of two arms."""
    slices = expected_slices(300.0)

    assert slices == 1500
    assert 3000 < expected_round_s(slices, arms=2) < 3100
    assert slices_max(slices) == 3000
