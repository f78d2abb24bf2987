"""A slice as it is recorded: what the engine said of it, and what the kernel counted around it."""

from collections.abc import Sequence

from pgverdict.conduct.boundary import Growth
from pgverdict.engine.messages import SliceDone
from pgverdict.errors import RoundFailed
from pgverdict.records.round import SecondsRecord, SliceRecord


def record_slice(
    done: SliceDone,
    counted: Growth,
    *,
    arm: int,
    pair: int,
    position: int,
    name: str,
    kinds: Sequence[str] = (),
) -> SliceRecord:
    """The record; RoundFailed, blamed on the arm, if no transaction ended in it. `name` is the slice's in messages.

    `kinds`: the names of kinds of transactions, where their seconds are to be recorded, too.
    """
    if done.latency is None:
        raise RoundFailed(f"{name} ended without a transaction", arm=arm)
    return SliceRecord(
        pair=pair,
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
        seconds=tuple(
            SecondsRecord(None if one.kind is None else kinds[one.kind], one.transactions, one.mean_ns)
            for one in done.seconds
            if one.kind is None or kinds
        ),
        **counted,
    )
