"""Whether a round begins with its data in memory."""

from enum import Enum


class Cache(Enum):
    """What is in memory of a dataset when the first transaction begins (docs/confinement.md#cold-cells).

    WARM: as much of it as there is room for. COLD: nothing: neither in the page cache nor in shared buffers.
    """

    WARM = "warm"
    COLD = "cold"
