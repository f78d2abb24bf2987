"""What stays the same over all rounds of a cell."""

from dataclasses import dataclass
from pathlib import Path

from pgverdict.conduct.placement import Placement
from pgverdict.plan.cold import once
from pgverdict.plan.pools import Pools
from pgverdict.plan.rounds import RoundPlan, arrange, usual_pairs
from pgverdict.plan.streams import pairs_of_streams
from pgverdict.plan.stretches import whole
from pgverdict.servers.confine import Confiner
from pgverdict.servers.freeze import Means
from pgverdict.servers.install import Install
from pgverdict.servers.layout import obstacle
from pgverdict.servers.stay import Stay
from pgverdict.spec.cache import Cache
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
    slots: tuple[Path, ...] = ()
    """Slots of its own, in a directory the user named for its data; none: those of the cell."""
    wal_slots: tuple[Path, ...] = ()
    """The same for its WAL; none: in its data directory."""
    stay: Stay | None = None
    """Where its server is somebody else's; it then has no installs, and databases for loads."""
    databases: tuple[str, ...] = ()
    """`databases[n]` is load n of the arm's pool, on that server."""


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
    confiner: Confiner | None = None
    """By what every server is confined; None for not at all."""
    stretch_slices: int = 0
    """How long an arm's stretch will be in a steady round, as far as ageing could tell."""
    asks_preliminaries: bool = False
    """Whether its first rounds ask what transactions plan and lock (`conduct.preliminaries`)."""
    shares_layouts: bool = True
    """Whether all arms of a round are to have one memory layout, where that can be (`has_layouts`)."""

    @property
    def regime(self) -> Regime:
        """On which data its rounds work."""
        return regime_of(self.spec, self.workload)

    def fresh_data(self, plan: RoundPlan, arm: int) -> Path:
        """Where an arm's copy of its data goes in a round."""
        return (self.arms[arm].slots or self.slots)[plan.slots[arm]] / "data"

    def fresh_wal(self, plan: RoundPlan, arm: int) -> Path | None:
        """Where the WAL of that copy goes; None: with it."""
        own = self.arms[arm].wal_slots
        return own[plan.slots[arm]] / "wal" if own else None

    @property
    def ours(self) -> tuple[int, ...]:
        """The arms whose servers we start."""
        return tuple(number for number, arm in enumerate(self.arms) if arm.stay is None)

    @property
    def has_layouts(self) -> bool:
        """Whether the memory of its servers lies where the round's plan says, the same for all arms; else the kernel
        draws that for every start."""
        if not self.shares_layouts:
            return False
        programs = {install.postgres for arm in self.arms for install in arm.installs}
        return len(self.ours) == len(self.arms) and not any(obstacle(program) for program in programs)

    @property
    def is_cold(self) -> bool:
        """Whether its rounds begin with nothing of the data in memory."""
        return self.spec.cache is Cache.COLD

    @property
    def memory_bytes(self) -> int | None:
        """What every server may use at most; None for all the host has."""
        return self.confiner.limits.memory_bytes if self.confiner else None

    @property
    def is_evicted(self) -> bool:
        """Whether nothing of the data may be in the page cache when a server starts (`datasets.page_cache`)."""
        return self.is_cold or self.memory_bytes is not None

    @property
    def _pairs(self) -> int:
        if (streams := self.workload.streams) is not None:
            return pairs_of_streams(streams.length, clients=self.spec.clients)
        return self.spec.pairs or usual_pairs(self.workload, self.regime)

    def arrange(self, *, seed: int, ordinal: int) -> RoundPlan:
        """Round number `ordinal` (from 0) of the cell, in the way of its regime."""
        plan = arrange(
            self.spec.key,
            seed=seed,
            ordinal=ordinal,
            arms=len(self.arms),
            pairs=self._pairs,
            loads=self.load_pools,
            installs=self.install_pools,
        )
        if self.is_cold:
            return once(plan)
        return whole(plan) if self.regime in (Regime.STEADY, Regime.CHAIN) else plan
