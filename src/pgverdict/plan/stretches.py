"""The arrangement of a steady round: the arms work whole, one after the other, in the order they start.

>>> from pgverdict.plan.rounds import arrange
>>> plan = whole(arrange("simple-update scale=10 clients=1 regime=steady", seed=1, ordinal=0))
>>> plan.connect_order == plan.start_order == plan.pairs[0].order
True
"""

import random
from dataclasses import replace

from pgverdict.plan.rounds import Pair, RoundPlan

LOADS_AGED = 4
"""Loads of a pool at most, fewer than of data that need not be aged: each takes minutes to age."""


def whole(plan: RoundPlan) -> RoundPlan:
    """The same draw of start order, directories and loads, for arms that do not alternate.

    An arm connects when it has started, so connecting has no order of its own; what is a pair of slices where
    arms take turns is one stretch of each arm here.
    """
    return replace(
        plan,
        connect_order=plan.start_order,
        pairs=(Pair(plan.start_order, plan.pairs[0].seed),),
    )


def slice_seed(plan: RoundPlan, number: int) -> int:
    """The seed of slice `number` of a stretch, the same for every arm of the round."""
    return random.Random(f"{plan.pairs[0].seed}/slice/{number}").getrandbits(63)
