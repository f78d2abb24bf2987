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
"""An arm is started from up to so many copies of its install, and each from one; disks of test machines are small."""


SHAPE_NO_DATA = frozenset(
    (
        "autovacuum_max_workers", "effective_cache_size", "effective_io_concurrency", "hash_mem_multiplier",
        "huge_pages", "io_method", "io_workers", "jit", "max_connections", "max_parallel_workers",
        "max_parallel_workers_per_gather", "max_worker_processes", "random_page_cost", "seq_page_cost",
        "shared_buffers", "synchronous_commit", "temp_buffers", "track_io_timing", "wal_buffers", "work_mem",
    )
)  # fmt: skip
"""Settings that say how a server works and leave nothing in what it wrote while a dataset was loaded.

Only what is surely one stands here: cells that differ in others are loaded apart.
"""


def settings_of_loads(
    arm: tuple[tuple[str, str], ...], cell: tuple[tuple[str, str], ...]
) -> tuple[tuple[str, str], ...]:
    """With which settings the data of a cell is loaded: the arm's, and the cell's where they may shape it.

    >>> settings_of_loads((("jit", "on"),), (("default_statistics_target", "500"), ("shared_buffers", "2GB")))
    (('default_statistics_target', '500'), ('jit', 'on'))
    """
    shaping = {name: value for name, value in cell if name not in SHAPE_NO_DATA}
    return tuple(sorted({**dict(arm), **shaping}.items())) if shaping else arm


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
    fitting = max(1, min(INSTALLS_MAX, INSTALLS_OF_ALL_ARMS // arms))
    return max(sharing, fitting if rounds is None else min(fitting, rounds))
