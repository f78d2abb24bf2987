"""What a round brought, or the part of one arm where arms work one after the other."""

from collections.abc import Sequence
from dataclasses import dataclass

from pgverdict.observe.surroundings import together
from pgverdict.records.host import Surroundings
from pgverdict.records.round import ArmRecord, SliceRecord


@dataclass(frozen=True)
class Measured:
    """`placement`: [name, value] pairs, of threads, pinning and bounds; `surroundings`: None where nobody looked."""

    slices: tuple[SliceRecord, ...]
    arms: tuple[ArmRecord, ...]
    placement: tuple[tuple[str, str], ...]
    surroundings: Surroundings | None


def gathered(parts: Sequence[Measured]) -> Measured:
    """The parts of a round as one: slices in the order they were worked, arms by their number."""
    went_on = [part.surroundings for part in parts if part.surroundings is not None]
    return Measured(
        slices=tuple(one for part in parts for one in part.slices),
        arms=tuple(sorted((arm for part in parts for arm in part.arms), key=lambda arm: arm.arm)),
        placement=parts[-1].placement,
        surroundings=together(went_on) if len(went_on) == len(parts) else None,
    )
