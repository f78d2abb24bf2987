"""Published numbers as data: who published them, where, and the figures, each with the cells it is about.

They are read from files by `spec.published_file`.
"""

from dataclasses import dataclass
from enum import Enum


class Where(Enum):
    """Where the data of a cell lies when it is warm."""

    BUFFERS = "in shared buffers"
    MEMORY = "in memory"
    BEYOND = "beyond memory"


@dataclass(frozen=True)
class Source:
    """Where the numbers were published. `about`: how they were measured there, a sentence without a full stop."""

    author: str
    title: str
    date: str
    address: str
    about: str | None


@dataclass(frozen=True)
class Figure:
    """A published number: candidate against baseline, in a metric, and which cells it is about.

    `ratio` is candidate / baseline; `rounded` are the smallest and the largest that are printed with the same digits,
    or lie within what was said.
    `baseline` and `candidate` are as printed, None where only their ratio was; `printed` is the change as printed.
    """

    name: str
    metric: str
    ratio: float
    rounded: tuple[float, float]
    baseline: str | None
    candidate: str | None
    printed: str | None
    arms: tuple[str, str]
    workloads: tuple[str, ...]
    """Empty: any."""
    where: tuple[Where, ...]
    clients: tuple[int, ...]
    parameters: tuple[tuple[str, tuple[object, ...]], ...]
    subject: str | None
    """How the statement begins, or which kind or step it is about; None: the whole cell."""
    over_all: bool
    """Whether it is the mean over all cells it is about, and not a number for each."""
    remark: str | None


@dataclass(frozen=True)
class Published:
    """A file of published numbers. `conditions`: what builds and settings had there, name to value, by which cells of
    ours deviate. `claims`: what the source says that no cell can be held against."""

    path: str
    source: Source
    conditions: tuple[tuple[str, str], ...]
    figures: tuple[Figure, ...]
    claims: tuple[str, ...]
