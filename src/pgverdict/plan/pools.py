"""What rounds draw from: pools of loads and of copies of an install, and how large they are.

Rounds that share a load share its luck, and no number of rounds averages that out (METHODOLOGY.md#loads). Where
two arms draw from one pool, each has each member's luck equally often, and it cancels between them.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Self

LOADS_MAX = 8
LOADS_MIN = 2
LOADS_BYTES = 2_000_000_000
"""An arm draws its data from so many independent loads: as many as fit these bytes, within these limits."""

INSTALLS_MAX = 3
INSTALLS_OF_ALL_ARMS = 8
"""An arm is started from up to so many copies of its install; disks of test machines are small."""


@dataclass(frozen=True)
class Pools:
    """`of[arm]` is the number of the pool an arm draws from, `sizes[pool]` how many members it has.

    Each round draws one member for each arm, and never the same for two arms: two servers cannot work in one
    directory at once.
    """

    of: tuple[int, ...]
    sizes: tuple[int, ...]

    def __post_init__(self) -> None:
        assert set(self.of) == set(range(len(self.sizes))), self
        assert all(size >= len(self.arms_of(pool)) for pool, size in enumerate(self.sizes)), self

    @classmethod
    def apart(cls, arms: int, size: int) -> Self:
        """Every arm has a pool of its own."""
        return cls(tuple(range(arms)), (size,) * arms)

    def arms_of(self, pool: int) -> tuple[int, ...]:
        """The arms that draw from a pool."""
        return tuple(arm for arm, drawn in enumerate(self.of) if drawn == pool)


def shared_by(keys: Sequence[Hashable]) -> tuple[int, ...]:
    """Per arm the number of its pool: arms share one if their keys are equal.

    >>> shared_by(["17", "18", "17"])
    (0, 1, 0)
    """
    numbers = {key: number for number, key in enumerate(dict.fromkeys(keys))}
    return tuple(numbers[key] for key in keys)


def how_many_loads(
    load_bytes: int, rounds: int | None = None, *, arms: int = 1, most: int = LOADS_MAX
) -> int:
    """How many loads a pool of so many arms has, from the size of one.

    No more than `most` and no more than there will be rounds, as long as every arm can have its own in a round.

    >>> [how_many_loads(size) for size in (200_000_000, 500_000_000, 50_000_000_000)]
    [8, 4, 2]
    """
    fitting = max(LOADS_MIN, min(most, arms * LOADS_BYTES // load_bytes))
    return max(arms, fitting if rounds is None else min(fitting, rounds))


def how_many_installs(arms: int, rounds: int | None = None, *, sharing: int = 1) -> int:
    """How many copies of a build's install there are, in a campaign of `arms`, `sharing` of which have the build.

    >>> [how_many_installs(arms) for arms in (2, 3, 4, 5, 8)]
    [3, 2, 2, 1, 1]
    >>> how_many_installs(4, sharing=4)
    4
    """
    fitting = min(INSTALLS_MAX, INSTALLS_OF_ALL_ARMS // arms)
    return max(sharing, fitting if rounds is None else min(fitting, rounds))
