"""On which data a round works, and how its arms share the time."""

from enum import Enum


class Regime(Enum):
    """What a round does with its data (METHODOLOGY.md#regimes).

    READ_ONLY: the data stays in place between rounds, nothing changes it; arms take turns in short slices.
    FRESH: every round starts from fresh copies of the loaded data, and arms take turns; rounds are short, so they
    see mostly first touches of pages after a checkpoint, and no vacuum.
    STEADY: every round starts from copies of aged data, and each arm works whole and alone, through checkpoints
    and vacuums.
    CHAIN: every round starts from fresh copies of the loaded data, often of none, and each arm works whole and alone,
    through all steps of a chain.
    """

    READ_ONLY = "read-only"
    FRESH = "fresh"
    STEADY = "steady"
    CHAIN = "chain"


CHOSEN_REGIMES = (Regime.FRESH, Regime.STEADY)
"""Those there is a choice of: the others are what a workload is."""
