"""What stays the same over all rounds of a cell."""

from dataclasses import dataclass
from pathlib import Path

from pgverdict.conduct.placement import Placement
from pgverdict.plan.pools import Pools
from pgverdict.servers.install import Install
from pgverdict.spec.campaign import CellSpec
from pgverdict.workloads.workload import Workload


@dataclass(frozen=True)
class PreparedArm:
    """An arm as rounds need it: its name, the copies of its install, its settings, and where its loads are.

    `loads[n]` is the data directory of load n of the arm's pool: to be copied anew each round in the fresh regime,
    to be worked on in place in the read-only one.
    """

    name: str
    installs: tuple[Install, ...]
    settings: tuple[tuple[str, str], ...]
    loads: tuple[Path, ...]
    handicap_ns: int | None = None
    """What its servers spin per message; None where no arm of the cell has a handicap (`servers.handicap`)."""


@dataclass(frozen=True)
class PreparedCell:
    """A cell with everything a round of it needs; `slots[n]` are directories the product made for it.

    Arms that share a pool of loads, or of installs, have the same ones in the same order.
    """

    spec: CellSpec
    workload: Workload
    arms: tuple[PreparedArm, ...]
    placement: Placement
    slots: tuple[Path, ...]
    load_pools: Pools
    install_pools: Pools
