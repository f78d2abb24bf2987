"""A pair of slices, with what the kernel counted around each."""

from collections.abc import Sequence

from pgverdict.conduct.boundary import growth
from pgverdict.conduct.bounds import Bounds
from pgverdict.conduct.live import LiveArm
from pgverdict.conduct.turns import Turns
from pgverdict.engine.process import Engine
from pgverdict.errors import RoundFailed
from pgverdict.plan.rounds import Pair
from pgverdict.records.round import SliceRecord


def run_pair(
    engine: Engine, live: Sequence[LiveArm], turns: Turns, number: int, pair: Pair, bounds: Bounds
) -> list[SliceRecord]:
    """The slices of a pair, in the plan's order.

    What a thawed server makes up for at once is within its own slice's processor time. The first transactions
    after it, which are slower, are among those that are discarded.
    """
    bound, discard = bounds.as_request()
    records = []
    for position, arm in enumerate(pair.order):
        before = live[arm].reader.read()
        turns.give(arm)
        done = engine.slice(arm, seed=pair.seed, bound=bound, discard=discard)
        after = live[arm].reader.read()
        if done.latency is None:
            raise RoundFailed(f"a slice of arm {arm} in pair {number} ended without a transaction", arm=arm)
        records.append(
            SliceRecord(
                pair=number,
                position=position,
                arm=arm,
                begun_at_ns=done.begun_at_ns,
                ended_at_ns=done.ended_at_ns,
                transactions=done.transactions,
                failed=done.failed,
                discarded=done.discarded,
                busy_ns=done.busy_ns,
                rate_hz=done.rate_hz,
                latency=done.latency,
                engine_cpu_ns=done.engine_cpu_ns,
                engine_run_delay_ns=done.engine_run_delay_ns,
                begin_late_ns_max=done.begin_late_ns_max,
                drain_ns_max=done.drain_ns_max,
                **growth(before, after),
            )
        )
    return records
