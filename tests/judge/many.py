"""Rounds of more than two arms, made by hand."""

import math
from collections.abc import Sequence

from pgverdict.plan.rounds import RoundPlan, arrange
from pgverdict.records.round import RoundRecord

from .made import SPEC, a_round, a_slice, a_statement, an_arm, latency


def plans_of(arms: int, rounds: int, *, seed: int = 1) -> list[RoundPlan]:
    return [arrange(SPEC.key, seed=seed, ordinal=n, arms=arms) for n in range(rounds)]


def round_of_arms(plan: RoundPlan, log_times: Sequence[float], *, base_us: float = 20.0) -> RoundRecord:
    """A planned round in which everything that is a time per transaction is `base_us` times e to an arm's number."""
    times = [base_us * math.exp(log_time) for log_time in log_times]
    return a_round(
        plan,
        slices=[
            a_slice(pair, arm, us, server_cpu_ns=round(1e6 * us))
            for pair in (0, 1)
            for arm, us in enumerate(times)
        ],
        arms=[
            an_arm(
                arm,
                latency(us, p95_us=2 * us, p99_us=3 * us),
                busy_ns=round(us * 1e6),
                statements=[a_statement("SELECT 1", us / 1e3, us / 1e4)],
            )
            for arm, us in enumerate(times)
        ],
    )
