"""Where in its address space a round's servers have their memory: drawn anew for every round, the same for all arms.

Where code and data come to lie makes two starts of one server differ (METHODOLOGY.md#layout). The kernel draws that
for every start by itself; drawn once for all arms of a round, it is in all of them and leaves their ratio, while the
rounds still go through as many draws.

>>> draw_layout(1) == draw_layout(1), draw_layout(1) == draw_layout(2)
(True, False)
"""

import random
from dataclasses import dataclass

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


def draw_layout(seed: int) -> Layout:
    """That of all servers of a round, from the seed of the round's first pair."""
    lot = random.Random(f"{seed}/layout")
    return Layout(STACK_STEP_BYTES * lot.randrange(STACK_STEPS), lot.randrange(MAP_PAGES))
