"""What stays the same over all rounds of a cell."""

from dataclasses import dataclass
from pathlib import Path

from pgverdict.conduct.placement import Placement
from pgverdict.servers.freeze import Means
from pgverdict.servers.install import Install
from pgverdict.spec.campaign import CellSpec
from pgverdict.workloads.workload import Workload


@dataclass(frozen=True)
class PreparedArm:
    """An arm as rounds need it: its name, its build, its settings, and where its loads are.

    `loads[n]` is the data directory of load n: to be copied anew each round in the fresh regime, to be worked
    on in place in the read-only one.
    """

    name: str
    install: Install
    settings: tuple[tuple[str, str], ...]
    loads: tuple[Path, ...]
    handicap_ns: int | None = None
    """What its servers spin per message; None where no arm of the cell has a handicap (`servers.handicap`)."""


@dataclass(frozen=True)
class PreparedCell:
    """A cell with everything a round of it needs; `slots[n]` are directories the product made for it."""

    spec: CellSpec
    workload: Workload
    arms: tuple[PreparedArm, ...]
    placement: Placement
    slots: tuple[Path, ...]
    freeze: Means | None = None
    """By what the idle arms are frozen; None for not at all."""

    @property
    def loads(self) -> int:
        """How many loads each arm has."""
        return len(self.arms[0].loads)
