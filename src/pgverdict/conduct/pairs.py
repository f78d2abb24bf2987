"""A pair of slices, one of each arm, with what the kernel counted around each."""

from collections.abc import Sequence

from pgverdict.conduct.boundary import growth
from pgverdict.conduct.bounds import Bounds
from pgverdict.conduct.live import LiveArm
from pgverdict.conduct.slices import record_slice
from pgverdict.conduct.streams import Streams
from pgverdict.conduct.turns import Turns
from pgverdict.engine.process import Engine
from pgverdict.plan.rounds import Pair
from pgverdict.records.round import SliceRecord
from pgverdict.servers.interruption import heed


def run_pair(
    engine: Engine,
    live: Sequence[LiveArm],
    turns: Turns,
    number: int,
    pair: Pair,
    bounds: Bounds,
    streams: Streams | None = None,
) -> list[SliceRecord]:
    """The slices of a pair, in the plan's order.

    What a thawed server makes up for at once is within its own slice's processor time. The first transactions
    after it, which are slower, are among those that are discarded.
    """
    bound, discard = bounds.as_request()
    tasks = streams.of_slice(number) if streams else None
    records = []
    for position, arm in enumerate(pair.order):
        heed()
        before = live[arm].reader.read()
        turns.give(arm)
        done = engine.slice(arm, seed=pair.seed, bound=bound, discard=discard, tasks=tasks)
        after = live[arm].reader.read()
        name = f"a slice of arm {arm} in pair {number}"
        records.append(
            record_slice(done, growth(before, after), arm=arm, pair=number, position=position, name=name)
        )
    return records
