"""Which arms share loads of the data or copies of an install, and who makes what (METHODOLOGY.md#loads)."""

from collections.abc import Sequence
from dataclasses import dataclass

from pgverdict.datasets.template import TemplateSpec
from pgverdict.plan.pools import LOADS_MAX, Pools, how_many_installs, how_many_loads, shared_by
from pgverdict.run.listener import Listener
from pgverdict.servers.home import Home
from pgverdict.servers.install import Install, obtain
from pgverdict.spec.campaign import Arm, Campaign
from pgverdict.workloads.workload import Dataset


@dataclass(frozen=True)
class ObtainedArm:
    """An arm with the copies of its build's install."""

    arm: Arm
    installs: tuple[Install, ...]

    @property
    def install(self) -> Install:
        """One of them, where it does not matter which."""
        return self.installs[0]


def obtain_arms(campaign: Campaign, home: Home, listener: Listener) -> tuple[list[ObtainedArm], Pools]:
    """Copies of each arm's install; arms of one build take turns on the same ones."""
    first = []
    for arm in campaign.arms:
        listener.step(f"obtaining PostgreSQL {arm.server}")
        first.append(obtain(arm.server, home, progress=listener.amount))
    of = shared_by([install.identity for install in first])
    copies = []
    for pool in range(max(of) + 1):
        install = first[of.index(pool)]
        count = how_many_installs(len(of), campaign.rounds, sharing=of.count(pool))
        listener.step(f"unpacking copies of PostgreSQL {install.version}")
        # By the package's own name: `17` may have become another release since it was asked for.
        others = [
            obtain(install.package, home, copy=copy, progress=listener.amount) for copy in range(2, count + 1)
        ]
        copies.append((install, *others))
    arms = [ObtainedArm(arm, copies[pool]) for arm, pool in zip(campaign.arms, of, strict=True)]
    return arms, Pools(of, tuple(len(pool) for pool in copies))


def load_pools(
    arms: Sequence[ObtainedArm], load_bytes: int, rounds: int | None, *, most: int = LOADS_MAX
) -> Pools:
    """Arms whose data directories are interchangeable share a pool; settings may shape what is loaded."""
    of = shared_by([(arm.install.data_format, arm.arm.settings) for arm in arms])
    sizes = (
        how_many_loads(load_bytes, rounds, arms=of.count(pool), most=most) for pool in range(max(of) + 1)
    )
    return Pools(of, tuple(sizes))


def share_out_making(
    pools: Pools, arms: Sequence[ObtainedArm], dataset: Dataset, scale: int
) -> list[list[tuple[Arm, TemplateSpec]]]:
    """Per pool, its loads and who makes each: the pool's arms in turn, so that none made them all."""
    made = []
    for pool, size in enumerate(pools.sizes):
        makers = [arms[number] for number in pools.arms_of(pool)]
        turns = [makers[number % len(makers)] for number in range(size)]
        made.append(
            [
                (maker.arm, TemplateSpec(maker.install, dataset, scale, maker.arm.settings, load))
                for load, maker in enumerate(turns, start=1)
            ]
        )
    return made
