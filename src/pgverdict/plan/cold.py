"""The arrangement of a cold round: one slice of each arm, after which nothing is cold any more.

>>> from pgverdict.plan.rounds import arrange
>>> plan = once(arrange("select-only scale=10 clients=1 cache=cold", seed=1, ordinal=0))
>>> len(plan.pairs), plan.pairs[0].order == plan.warm_order
(1, True)
"""

from dataclasses import replace

from pgverdict.plan.rounds import Pair, RoundPlan


def once(plan: RoundPlan) -> RoundPlan:
    """The same draw for arms that work once each.

    Nobody is prewarmed, so the order of that, which is balanced against the others over eight rounds, is who works
    first. One drawn by lot, as the many pairs of other rounds have, would not be balanced over rounds.
    """
    return replace(plan, pairs=(Pair(plan.warm_order, plan.pairs[0].seed),))
