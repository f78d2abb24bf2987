"""What stays the same over all rounds of a cell."""

from dataclasses import dataclass
from pathlib import Path

from pgverdict.conduct.placement import Placement
from pgverdict.servers.install import Install
from pgverdict.spec.campaign import CellSpec
from pgverdict.spec.regime import Regime
from pgverdict.workloads.workload import Workload


@dataclass(frozen=True)
class PreparedArm:
    """An arm as rounds need it: its name, its build, its settings, and where its loads are.

    `loads[n]` is the data directory of load n: to be copied anew each round in the fresh regime, to be worked
    on in place in the read-only one. In the steady regime they are aged, and copied too.
    """

    name: str
    install: Install
    settings: tuple[tuple[str, str], ...]
    loads: tuple[Path, ...]
    notes: tuple[str, ...] = ()
    """What is to be said of its data: that it did not settle while it aged."""
    vacuumed: tuple[str, ...] = ()
    """The tables that autovacuum came to while its data aged."""


@dataclass(frozen=True)
class PreparedCell:
    """A cell with everything a round of it needs; `slots[n]` are directories the product made for it."""

    spec: CellSpec
    workload: Workload
    arms: tuple[PreparedArm, ...]
    placement: Placement
    slots: tuple[Path, ...]
    stretch_slices: int = 0
    """How long an arm's stretch will be in a steady round, as far as ageing could tell."""

    @property
    def regime(self) -> Regime:
        """On which data its rounds work."""
        return self.spec.regime or self.workload.regime

    @property
    def loads(self) -> int:
        """How many loads each arm has."""
        return len(self.arms[0].loads)
