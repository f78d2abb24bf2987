"""What arms do before the first slice that counts: as long as their memory takes to be as users meet it."""

from collections.abc import Mapping

from pgverdict.conduct.bounds import warm_up_us
from pgverdict.conduct.cell import PreparedCell
from pgverdict.conduct.collect import storage_read_bytes
from pgverdict.conduct.live import LiveArm
from pgverdict.conduct.turnover import Filling, WarmedUp, warm_until_turnover
from pgverdict.engine.process import Engine
from pgverdict.plan.rounds import RoundPlan


def warm_up(
    engine: Engine, cell: PreparedCell, live: Mapping[int, LiveArm], plan: RoundPlan
) -> dict[int, WarmedUp]:
    """All clients of all arms at work, uncounted, in the order given; until turnover where data exceeds memory.

    Of any arm: what the others do in a round is the same for all.
    """
    if any(arm.footprint.exceeds(cell.memory_bytes) for arm in live.values()):
        return reach_turnover(engine, cell, live, plan)
    duration_us = warm_up_us(cell.workload.bound, clients=cell.spec.clients, cores=len(cell.placement.cpus))
    return {arm: _warm_up(engine, arm, plan, duration_us) for arm in live}


def reach_turnover(
    engine: Engine, cell: PreparedCell, live: Mapping[int, LiveArm], plan: RoundPlan
) -> dict[int, WarmedUp]:
    """Until turnover of all these arms, whatever they did before."""

    def filling(number: int, arm: LiveArm) -> Filling:
        return Filling(cell.arms[number].name, lambda: sum((storage_read_bytes(cell, arm) or {}).values()))

    return warm_until_turnover(engine, {number: filling(number, arm) for number, arm in live.items()}, plan)


def _warm_up(engine: Engine, arm: int, plan: RoundPlan, duration_us: int) -> WarmedUp:
    done = engine.slice(
        arm,
        seed=plan.pairs[0].seed ^ 1,
        bound={"duration_us": duration_us},
        discard={"duration_us": 0},
        keep=False,
    )
    return WarmedUp(done.rate_hz, warm_up_us=duration_us)
