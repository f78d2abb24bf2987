"""What a chain is: steps of fixed work that follow each other on the same data, each with a name.

A step is a program's, or SQL that is timed, or a wait for servers to settle, which nothing is measured of.
"""

from dataclasses import dataclass
from enum import Enum

from pgverdict.spec.parameters import Value


class Operation(Enum):
    """What the throughput of a step counts."""

    INSERTED = "rows inserted"
    INDEXED = "rows indexed"
    QUERY = "queries"


@dataclass(frozen=True)
class Step:
    """A step. What is done `before` it is not measured."""

    name: str
    operation: Operation | None
    """None: it is no subject of metrics."""
    before: tuple[str, ...] = ()
    """SQL."""
    clients: int = 0
    """Of the chain's program; 0: it has no part in the step."""
    parameters: tuple[tuple[str, Value], ...] = ()
    """Of the program, all of them."""
    rows: int = 0
    """Inserted by the program, or indexed."""
    rows_per_second: int | None = None
    """To be inserted, all clients; None: as fast as they can."""
    lanes: tuple[tuple[str, ...], ...] = ()
    """SQL that is the step: a connection for each, side by side."""
    vacuumed: tuple[str, ...] = ()
    """Tables that are vacuumed and analyzed, side by side, before a checkpoint ends the step."""
    least_s: float = 0.0
    """How long it lasts at least."""

    def __post_init__(self) -> None:
        kinds = (self.clients > 0, bool(self.lanes), bool(self.vacuumed))
        assert kinds.count(True) == 1, f"a step is one thing: {self.name}"


@dataclass(frozen=True)
class Chain:
    """The steps of a round, in their order."""

    program: str
    """Native, of the engine: what the clients of its steps do."""
    steps: tuple[Step, ...]

    @property
    def least_s(self) -> float:
        """How long it lasts on an arm at least."""
        return sum(step.least_s for step in self.steps)
