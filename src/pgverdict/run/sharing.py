"""Which arms share loads of the data or copies of an install, and who makes what (METHODOLOGY.md#loads)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from pgverdict.datasets.outside import OutsideSpec
from pgverdict.datasets.template import TemplateSpec
from pgverdict.plan.pools import LOADS_MAX, Pools, how_many_installs, how_many_loads, shared_by
from pgverdict.run.listener import Listener
from pgverdict.run.outside import Stays
from pgverdict.servers.home import Home
from pgverdict.servers.install import Install
from pgverdict.servers.obtain import obtain
from pgverdict.servers.stay import Stay
from pgverdict.servers.workspace import Workspace
from pgverdict.spec.arms import Arm
from pgverdict.spec.campaign import Campaign
from pgverdict.spec.spelling import Image, Outside, read_spelling
from pgverdict.workloads.workload import Dataset

Spec = TemplateSpec | OutsideSpec
"""What a load is made of."""


class Visits(Protocol):
    """Of a site: where it is on servers it only connects to, and who removes what it starts there."""

    @property
    def stays(self) -> Stays: ...
    @property
    def workspace(self) -> Workspace: ...


@dataclass(frozen=True)
class ObtainedArm:
    """An arm with the copies of its build's install, or where its server is somebody else's."""

    arm: Arm
    installs: tuple[Install, ...]
    stay: Stay | None = None

    @property
    def install(self) -> Install:
        """One of them, where it does not matter which."""
        return self.installs[0]

    @property
    def identity(self) -> str:
        """What tells builds apart, and servers of others."""
        return self.stay.identity if self.stay else self.install.identity

    @property
    def version(self) -> str:
        return self.stay.version if self.stay else self.install.version

    @property
    def data_format(self) -> str:
        """Arms with the same can take turns on the same loads."""
        return self.stay.identity if self.stay else self.install.data_format

    def spec(self, dataset: Dataset, scale: int, load: int) -> Spec:
        """A load that the arm makes."""
        if self.stay is not None:
            return OutsideSpec(self.stay, dataset, scale, self.arm.settings, load)
        return TemplateSpec(self.install, dataset, scale, self.arm.settings, load)


def obtain_arms(
    campaign: Campaign, home: Home, listener: Listener, visits: Visits | None = None
) -> tuple[list[ObtainedArm], Pools]:
    """Copies of each arm's install; arms of one build take turns on the same ones. `visits`: where servers
    that are only connected to are found."""
    first = [_first(arm, home, listener, visits) for arm in campaign.arms]
    of = shared_by([one.identity for one in first])
    copies: list[tuple[Install, ...]] = []
    for pool in range(max(of) + 1):
        if first[of.index(pool)].stay is not None:
            copies.append(())
            continue
        install = first[of.index(pool)].install
        count = how_many_installs(len(of), campaign.rounds, sharing=of.count(pool))
        listener.step(f"unpacking copies of PostgreSQL {install.version}")
        # By the package's own name: `17` may have become another release since it was asked for.
        others = [
            obtain(install.package, home, copy=copy, progress=listener.amount, say=listener.step)
            for copy in range(2, count + 1)
        ]
        copies.append((install, *others))
    arms = [replace(one, installs=copies[pool]) for one, pool in zip(first, of, strict=True)]
    return arms, Pools(of, tuple(len(made) or of.count(pool) for pool, made in enumerate(copies)))


def _first(arm: Arm, home: Home, listener: Listener, visits: Visits | None) -> ObtainedArm:
    """The arm with one copy of its install, or none where somebody else runs it."""
    asked = read_spelling(arm.server)
    if visits is not None and isinstance(asked, Image):
        listener.step(f"starting a container of {asked.name}")
        supervisor = visits.workspace.supervisor
        return ObtainedArm(arm, (), visits.stays.inside(arm, asked.name, supervisor, listener.note))
    if not isinstance(asked, Outside) or visits is None:
        listener.step(f"obtaining PostgreSQL {arm.server}")
        return ObtainedArm(arm, (obtain(arm.server, home, progress=listener.amount, say=listener.step),))
    listener.step(f"connecting to {asked.dsn}")
    stay = visits.stays.at(asked.dsn)
    for remains in stay.sweep():
        listener.note(remains)
    return ObtainedArm(arm, (), stay)


def load_pools(
    arms: Sequence[ObtainedArm], load_bytes: int, rounds: int | None, *, most: int = LOADS_MAX
) -> Pools:
    """Arms whose data directories are interchangeable share a pool; settings may shape what is loaded."""
    of = shared_by([(arm.data_format, arm.arm.settings) for arm in arms])
    sizes = (
        how_many_loads(load_bytes, rounds, arms=of.count(pool), most=most) for pool in range(max(of) + 1)
    )
    return Pools(of, tuple(sizes))


def share_out_making(
    pools: Pools, arms: Sequence[ObtainedArm], dataset: Dataset, scale: int
) -> list[list[tuple[Arm, Spec]]]:
    """Per pool, its loads and who makes each: the pool's arms in turn, so that none made them all."""
    made = []
    for pool, size in enumerate(pools.sizes):
        makers = [arms[number] for number in pools.arms_of(pool)]
        turns = [makers[number % len(makers)] for number in range(size)]
        made.append(
            [(maker.arm, maker.spec(dataset, scale, load)) for load, maker in enumerate(turns, start=1)]
        )
    return made
