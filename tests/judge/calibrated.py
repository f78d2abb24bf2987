"""A calibration run whose truth is known, made by hand: five arms of one build, three of them slowed down."""

import dataclasses
import math

import numpy as np

from pgverdict.plan.pools import Pools
from pgverdict.plan.rounds import RoundPlan, arrange
from pgverdict.records.round import RoundRecord
from pgverdict.records.run import ArmFacts, CellRecord, Purpose, RunRecord, RunState
from pgverdict.spec.arms import make_arms
from pgverdict.spec.campaign import Campaign

from .made import SPEC, a_round, a_slice, an_arm, latency

BASE_US = 20.0
HANDICAPS_NS = (0, 0, 200, 400, 1000)
START_SD = 0.006
"""Of one arm in one round: a log ratio of two scatters by 0.85 %."""
PAIR_SD = 0.004
STARTED_FIRST = 0.004
PAIRS = 12
SHORT_S, WHOLE_S = 3.0, 6.0

_POOLS = {arms: Pools((0,) * arms, (8,)) for arms in (2, 5)}


def a_calibration(rounds: int, *, seed: int = 1, short_every: int = 8) -> RunRecord:
    """So many rounds; every `short_every`th has two arms only."""
    random = np.random.default_rng(seed)
    made = []
    for number in range(rounds):
        arms = 2 if number % short_every == 0 else 5
        plan = arrange(
            f"made {arms}",
            seed=seed,
            ordinal=number,
            arms=arms,
            pairs=PAIRS,
            loads=_POOLS[arms],
            installs=_POOLS[arms],
        )
        made.append(_round(plan, arms, random))
    servers = make_arms(("17",) * 5)
    arms_ = tuple(
        dataclasses.replace(arm, handicap_ns=ns) for arm, ns in zip(servers, HANDICAPS_NS, strict=True)
    )
    return RunRecord(
        id="2026-11-21-1000-abcd",
        state=RunState.DONE,
        started="2026-11-21T10:00:00.000+00:00",
        seconds=600.0,
        campaign=Campaign(arms_, (SPEC,), seed=seed),
        host=(("name", "here"), ("processor", "A"), ("cores", "2"), ("memory_bytes", "1000")),
        arms=tuple(ArmFacts(arm.name, arm.role, arm.server, "17.11", (), ()) for arm in arms_),
        cells=(CellRecord(SPEC, "latency_us_p50", "read-only", tuple(made), (0,) * 5, (0,) * 5),),
        purpose=Purpose.CALIBRATE,
    )


def _round(plan: RoundPlan, arms: int, random: np.random.Generator) -> RoundRecord:
    last = arms - 1
    logs = [
        START_SD * random.standard_normal()
        + STARTED_FIRST * (0.5 - plan.start_order.index(arm) / last)
        + math.log1p(HANDICAPS_NS[arm] / BASE_US / 1e3)
        for arm in range(arms)
    ]
    slices = [
        dataclasses.replace(
            a_slice(pair, arm, BASE_US * math.exp(logs[arm] + PAIR_SD * random.standard_normal())),
            ended_at_ns=50_000_000,
            server_cpu_ns=100 * (14_000 + HANDICAPS_NS[arm]),
        )
        for pair in range(PAIRS)
        for arm in range(arms)
    ]
    executed = 100 * PAIRS
    records = [
        dataclasses.replace(
            an_arm(arm, latency(BASE_US * math.exp(logs[arm])), transactions=executed),
            handicap_messages=executed,
            handicap_spun_ns=executed * HANDICAPS_NS[arm],
        )
        for arm in range(arms)
    ]
    made = a_round(plan, slices=slices, arms=records)
    return dataclasses.replace(made, seconds=SHORT_S if arms == 2 else WHOLE_S, placement=(("threads", "1"),))
