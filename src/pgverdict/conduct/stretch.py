"""How long an arm works in a steady round: chosen in the cell's first round, then the same for all arms and rounds."""

import math
from collections.abc import Callable

from pgverdict.conduct.bounds import Bounds

CHECKPOINTS_MIN = 2
VACUUMS_MIN = 2
"""Of every hot table: with fewer, what a round says would depend on where in a cycle it ended."""

CHECKPOINTS_FIRST = CHECKPOINTS_MIN + 1
VACUUMS_FIRST = VACUUMS_MIN + 1
"""What the cell's first arm has to go through before the length is chosen: one more, since its first may end at once,
and then as many lie in a time that is one cycle shorter."""

MARGIN = 1.25
"""That time, lengthened: arms and rounds whose cycles take up to a quarter longer get through two as well."""

SLICES_MIN = 15
"""Checkpoints and vacuums that come every second would make a stretch of a few, which the views barely resolve."""

SLICE_US = 1_000_000
"""The views of checkpoints and vacuums are looked at between slices; backends report to them once a second."""

RAMP_US = 10_000_000
"""How long every connection works uncounted before the stretch (METHODOLOGY.md#regimes)."""

BESIDE_S = 5.0
"""What an arm takes in a round beside ramp and stretch, about: a copy, a start, the prewarming, a stop."""


Tell = Callable[[int, int, int | None], None]
"""Called with the arm that works, how many slices it has done, and how many it will; None: not known yet."""


def tell_nobody(_arm: int, _done: int, _total: int | None) -> None:
    """Where nobody watches."""


def stretch_bounds(slices: int) -> Bounds:
    """A stretch in the words of a round's placement, from which it is read back.

    >>> stretch_slices(stretch_bounds(75))
    75
    """
    return Bounds((("duration_us", SLICE_US), ("stretch_slices", slices)), ())


def stretch_slices(bounds: Bounds) -> int:
    """How many slices a stretch of these bounds has."""
    return dict(bounds.bound)["stretch_slices"]


def lengthened(slices: int) -> int:
    """The stretch of a cell whose first arm went through enough in so many slices.

    >>> lengthened(60), lengthened(61), lengthened(3)
    (75, 77, 15)
    """
    return max(SLICES_MIN, math.ceil(slices * MARGIN))


def expected_slices(cycle_s: float) -> int:
    """What a stretch will be, as far as ageing could tell; `cycle_s` as in `datasets.aging.AgedTemplate`.

    The first checkpoint begins a cycle after the server, and may take as long again to be finished.
    """
    return lengthened(math.ceil(max(CHECKPOINTS_FIRST + 1, VACUUMS_FIRST) * cycle_s))


def slices_max(expected: int) -> int:
    """Where the first arm gives up waiting: the round is measured all the same, and says what it covered."""
    return max(2 * expected, 60)


def expected_round_s(expected: int, arms: int) -> float:
    """How long a round takes, about."""
    return arms * (expected * SLICE_US / 1e6 + RAMP_US / 1e6 + BESIDE_S)
