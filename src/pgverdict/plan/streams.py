"""The arrangement of a round whose slices are whole transactions: as many pairs as a stream has, or one.

>>> from pgverdict.plan.rounds import arrange
>>> plan = arrange("tpch scale=1 clients=1", seed=1, ordinal=0, pairs=pairs_of_streams(22, clients=1))
>>> len(plan.pairs), stream_seed(plan, 0) == stream_seed(plan, 1)
(22, False)
"""

import random

from pgverdict.plan.rounds import RoundPlan


def pairs_of_streams(length: int, *, clients: int) -> int:
    """One for each transaction of the only client's stream; clients that work at once do so for all of theirs."""
    return length if clients == 1 else 1


def stream_seed(plan: RoundPlan, client: int) -> int:
    """What a client's stream is drawn from, the same for every arm of the round."""
    return random.Random(f"{plan.pairs[0].seed}/stream/{client}").getrandbits(63)
