"""What is kept of the host: what `pgverdict doctor` said of it when a run began, and what went on around a round."""

from dataclasses import dataclass
from enum import Enum


class Level(Enum):
    """How fit to measure a host is in one respect. What it does not show is NOT_KNOWN, and never fine."""

    FINE = "fine"
    NOTE = "note"
    WARNING = "warning"
    NOT_KNOWN = "not known"


@dataclass(frozen=True)
class Diagnosis:
    """One respect, as it was found: 'cpu governor', WARNING, 'powersave on 8 of 8 cores'."""

    check: str
    level: Level
    found: str


@dataclass(frozen=True)
class Surroundings:
    """What the kernel counted on the whole host from before a round's first slice to after its last one.

    In the steady regime, from before to after each arm's stretch, added up. None: the host does not count it.
    """

    watched_ns: int
    """How long that was."""
    own_cpu_ns: int
    """Processor time of this program, which starts slices and reads counters; the engine is not in it."""
    memory_stalled_ns: int | None = None
    """How long at least one process of the host waited for memory (pressure stall information, "some")."""
    io_stalled_ns: int | None = None
    """How long at least one waited for a disk: a server of ours, too, where the work writes."""
    throttles: int | None = None
    """How often the placement's cores were slowed down for their heat."""
