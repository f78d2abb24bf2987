"""What stays the same over all rounds of a cell."""

from dataclasses import dataclass
from pathlib import Path

from pgverdict.conduct.placement import Placement
from pgverdict.plan.pools import Pools
from pgverdict.plan.rounds import PAIRS, PAIRS_FRESH, RoundPlan, arrange
from pgverdict.plan.stretches import whole
from pgverdict.servers.freeze import Means
from pgverdict.servers.install import Install
from pgverdict.spec.campaign import CellSpec
from pgverdict.spec.regime import Regime
from pgverdict.workloads.regimes import regime_of
from pgverdict.workloads.workload import Workload


@dataclass(frozen=True)
class PreparedArm:
    """An arm as rounds need it: its name, the copies of its install, its settings, and where its loads are.

    `loads[n]` is the data directory of load n of the arm's pool: to be copied anew each round in the fresh regime,
    to be worked on in place in the read-only one. In the steady regime they are aged, and copied too.
    """

    name: str
    installs: tuple[Install, ...]
    settings: tuple[tuple[str, str], ...]
    loads: tuple[Path, ...]
    handicap_ns: int | None = None
    """What its servers spin per message; None where no arm of the cell has a handicap (`servers.handicap`)."""
    vacuumed: tuple[str, ...] = ()
    """The tables that autovacuum came to while its data aged."""
    notes: tuple[str, ...] = ()
    """What is to be said of its data: that it did not settle while it aged."""


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
    freeze: Means | None = None
    """By what the idle arms are frozen; None for not at all."""
    stretch_slices: int = 0
    """How long an arm's stretch will be in a steady round, as far as ageing could tell."""

    @property
    def regime(self) -> Regime:
        """On which data its rounds work."""
        return regime_of(self.spec, self.workload)

    def arrange(self, *, seed: int, ordinal: int) -> RoundPlan:
        """Round number `ordinal` (from 0) of the cell, in the way of its regime."""
        plan = arrange(
            self.spec.key,
            seed=seed,
            ordinal=ordinal,
            arms=len(self.arms),
            pairs=self.spec.pairs or (PAIRS_FRESH if self.regime is Regime.FRESH else PAIRS),
            loads=self.load_pools,
            installs=self.install_pools,
        )
        return whole(plan) if self.regime is Regime.STEADY else plan
