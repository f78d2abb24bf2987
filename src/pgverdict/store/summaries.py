"""What lists of runs show of them. Values alone: where they come from is `glances` and `runs`."""

from dataclasses import dataclass

from pgverdict.records.run import Purpose, RunState
from pgverdict.spec.campaign import CellSpec


@dataclass(frozen=True)
class CellSummary:
    """A cell of a listed run, and how many of its rounds there are."""

    spec: CellSpec
    primary: str
    measured: int
    failed: int


@dataclass(frozen=True)
class RunSummary:
    """What a list of runs shows of one. `arms` are (name, version)."""

    id: str
    state: RunState
    started: str
    seconds: float
    arms: tuple[tuple[str, str], ...]
    cells: tuple[CellSummary, ...]
    purpose: Purpose
    path: str | None = None
    """Of the campaign file it was read from."""


@dataclass(frozen=True)
class RunGlance:
    """A line of a list of runs. `arms` are (name, version); `measured` counts the rounds of all `cells`.

    `told`: the cells, where they are few; else none.
    """

    id: str
    state: RunState
    arms: tuple[tuple[str, str], ...]
    purpose: Purpose
    cells: int
    measured: int
    told: tuple[CellSummary, ...]
