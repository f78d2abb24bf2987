"""A pair of slices, one of each arm, with the processor time of the arm's server around each."""

from collections.abc import Sequence

from pgverdict.conduct.bounds import Bounds
from pgverdict.conduct.live import LiveArm
from pgverdict.engine.process import Engine
from pgverdict.errors import RoundFailed
from pgverdict.observe import processes
from pgverdict.plan.rounds import Pair
from pgverdict.records.round import SliceRecord


def run_pair(
    engine: Engine, live: Sequence[LiveArm], number: int, pair: Pair, bounds: Bounds
) -> list[SliceRecord]:
    """The slices of a pair, in the plan's order."""
    bound, discard = bounds.as_request()
    records = []
    for position, arm in enumerate(pair.order):
        server = live[arm].server
        cpu_before = processes.cpu_ns(server.pids())
        done = engine.slice(arm, seed=pair.seed, bound=bound, discard=discard)
        cpu_after = processes.cpu_ns(server.pids())
        if done.latency is None:
            raise RoundFailed(f"a slice of arm {arm} in pair {number} ended without a transaction")
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
                server_cpu_ns=processes.grown(cpu_before, cpu_after),
                engine_cpu_ns=done.engine_cpu_ns,
                engine_run_delay_ns=done.engine_run_delay_ns,
                begin_late_ns_max=done.begin_late_ns_max,
                drain_ns_max=done.drain_ns_max,
            )
        )
    return records
