"""Where in its address space a round's servers have their memory: drawn anew for every round, the same for all arms.

Where code and data come to lie makes two starts of one server differ (METHODOLOGY.md#layout). The kernel draws that
for every start by itself; drawn once for all arms of a round, it is in all of them and leaves their ratio, while the
rounds still go through as many draws.

>>> from pgverdict.plan.rounds import arrange
>>> one, other = (layout_of(arrange("select-only", seed=1, ordinal=n)) for n in (0, 1))
>>> one != other, one == layout_of(arrange("select-only", seed=1, ordinal=0))
(True, True)
"""

import random
from dataclasses import dataclass

from pgverdict.plan.rounds import RoundPlan

STACK_STEP_BYTES = 16
STACK_STEPS = 256
"""To what a stack is aligned, and how many such steps a page has: what lies beyond its page, the maps move anyway."""

MAP_PAGES = 1 << 18
"""Over how many pages the begin of the maps is drawn: a gigabyte."""


@dataclass(frozen=True)
class Layout:
    """By how much the stack, and everything that is mapped (code, libraries, shared memory), lies lower."""

    stack_bytes: int
    map_pages: int


def layout_of(plan: RoundPlan) -> Layout:
    """That of all servers of a round."""
    lot = random.Random(f"{plan.pairs[0].seed}/layout")
    return Layout(STACK_STEP_BYTES * lot.randrange(STACK_STEPS), lot.randrange(MAP_PAGES))
