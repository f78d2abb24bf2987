"""What a case is: one figure or several of our program and of a rival, each taken anew in every repetition."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass

Figures = Mapping[str, float]
"""By the name of the figure, which says its unit."""

Side = Callable[[], Figures]
"""One repetition of one program."""


@dataclass(frozen=True)
class Goal:
    """The ratio ours / theirs of a figure, in the median of repetitions, is to be at most this, or at least."""

    figure: str
    most: float | None = None
    least: float | None = None

    def met(self, ratio: float) -> bool:
        """Whether a ratio meets it."""
        return (self.most is None or ratio <= self.most) and (self.least is None or ratio >= self.least)

    def spelled(self) -> str:
        return f"<= {self.most:g}" if self.most is not None else f">= {self.least:g}"


@dataclass(frozen=True)
class Size:
    """How much a repetition does: a real measurement, or one that only shows that it works."""

    seconds: float
    scale: int
    clients: int


@dataclass(frozen=True)
class Case:
    """`get_ready` does what may take minutes and needs nobody to be quiet (building the rival), and says which version
    of it there is; WorldError where there is none. `opened` makes everything that repetitions share (a server,
    loaded data), and gives both sides: ours, theirs."""

    name: str
    title: str
    rival: str
    differs: str
    """In which respects the two do not do the same: sentences."""
    goals: tuple[Goal, ...]
    size: Size
    tiny: Size
    get_ready: Callable[[], str]
    opened: Callable[[Size], AbstractContextManager[tuple[Side, Side]]]


Opened = Iterator[tuple[Side, Side]]
"""What a generator under `contextmanager` gives for `Case.opened`."""
