"""The arrangement of one round: who starts first, who connects first, who lives where, who goes first in a pair.

The arm that starts first is measurably slower (METHODOLOGY.md#order), so nothing about the order may
be fixed or left to chance alone. With two arms, over every eight rounds each combination of start order,
connection order and directory occurs once; with K arms, over every K rounds each arm takes each place in each
of them once. What comes when is drawn from the seed; the same seed and cell always give the same
arrangement, so a run can be done again from its seed.

    >>> first = arrange("select-only scale=10 clients=1", seed=1, ordinal=0)
    >>> first == arrange("select-only scale=10 clients=1", seed=1, ordinal=0)
    True
"""

import itertools
import random
from collections.abc import Sequence
from dataclasses import dataclass

from pgverdict.plan.pools import LOADS_MAX, Pools
from pgverdict.plan.squares import orders_by_square
from pgverdict.spec.regime import Regime
from pgverdict.workloads.workload import Workload

PAIRS = 20
"""Pairs per round of work that only reads: more bought nothing where it was measured (METHODOLOGY.md#round)."""

PAIRS_FRESH = 60
"""Pairs per round on fresh copies, whose first pairs are the noisiest, and whose rounds cost the copies anyway."""


def usual_pairs(workload: Workload, regime: Regime) -> int:
    """Of a round of short slices, where nobody chose another number."""
    return workload.pairs or (PAIRS_FRESH if regime is Regime.FRESH else PAIRS)


_COMBINATIONS = tuple(itertools.product((False, True), repeat=3))


@dataclass(frozen=True)
class Pair:
    """Neighbouring slices, one of each arm: arms in the order they work, and the seed that gives all the same keys."""

    order: tuple[int, ...]
    seed: int


@dataclass(frozen=True)
class RoundPlan:
    """Arms are numbers: 0 is the baseline. What is per arm has an entry for each.

    `slots[arm]` says in which directory the arm lives, `loads[arm]` and `installs[arm]` which of its pool's loads
    its data comes from and which copy of its install it is started from.
    """

    ordinal: int
    start_order: tuple[int, ...]
    connect_order: tuple[int, ...]
    slots: tuple[int, ...]
    loads: tuple[int, ...]
    installs: tuple[int, ...]
    pairs: tuple[Pair, ...]

    @property
    def warm_order(self) -> tuple[int, ...]:
        """The arms in the order their data is read into memory before they work; not the order of starts, so that
        what one of the two does can be told from what the other does.

        Two arms change it with every change of exactly one of the orders and directories: over eight rounds it is
        balanced against each of them, and against any two together. More arms follow their directories.
        """
        if len(self.slots) > 2:
            return tuple(sorted(range(len(self.slots)), key=lambda arm: self.slots[arm]))
        return _order((self.start_order[0] + self.connect_order[0] + self.slots[0]) % 2 == 1)


def arrange(
    cell_key: str,
    *,
    seed: int,
    ordinal: int,
    arms: int = 2,
    pairs: int = PAIRS,
    loads: Pools | None = None,
    installs: Pools | None = None,
) -> RoundPlan:
    """Round number `ordinal` (from 0) of a cell; without pools, every arm has loads of its own and one install."""
    loads = loads or Pools.apart(arms, LOADS_MAX)
    installs = installs or Pools.apart(arms, 1)
    assert arms == len(loads.of) == len(installs.of), (arms, loads, installs)
    place = _two_arms if arms == 2 else _many_arms
    start_order, connect_order, slots = place(seed, cell_key, ordinal, arms)
    return RoundPlan(
        ordinal=ordinal,
        start_order=start_order,
        connect_order=connect_order,
        slots=slots,
        loads=_draw(loads, seed, cell_key, "loads", ordinal),
        installs=_draw(installs, seed, cell_key, "installs", ordinal),
        pairs=_pairs(_random(seed, cell_key, "pairs", ordinal), arms, pairs),
    )


def _random(*parts: object) -> random.Random:
    # A string seed is hashed by SHA-512: the same on every machine and Python.
    return random.Random("/".join(map(str, parts)))


Places = tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]
"""Start order, connection order, slots."""


def _two_arms(seed: int, cell_key: str, ordinal: int, _arms: int) -> Places:
    block, place = divmod(ordinal, len(_COMBINATIONS))
    combinations = list(_COMBINATIONS)
    _random(seed, cell_key, "orders", block).shuffle(combinations)
    swap_start, swap_connect, swap_slots = combinations[place]
    return _order(swap_start), _order(swap_connect), _order(swap_slots)


def _order(swap: bool) -> tuple[int, int]:
    return (1, 0) if swap else (0, 1)


def _many_arms(seed: int, cell_key: str, ordinal: int, arms: int) -> Places:
    block, place = divmod(ordinal, 2 * arms)
    start, connect, slots = (
        orders_by_square(arms, 2 * arms, _random(seed, cell_key, what, block))[place]
        for what in ("start", "connect", "slots")
    )
    return start, connect, slots


def _draw(pools: Pools, seed: int, cell_key: str, what: str, ordinal: int) -> tuple[int, ...]:
    """A member for each arm. Over as many rounds as a pool has members, each of its arms gets each of them once.

    Arms of one pool never get the same in one round: their turns are rows of a Latin rectangle.
    """
    drawn = {}
    for pool, size in enumerate(pools.sizes):
        arms = pools.arms_of(pool)
        block, place = divmod(ordinal, size)
        if len(arms) == 1:
            drawn[arms[0]] = _shuffled(range(size), _random(seed, cell_key, what, arms[0], block))[place]
            continue
        draw = _random(seed, cell_key, what, "pool", pool, block)
        members, turns = _shuffled(range(size), draw), _shuffled(range(size), draw)
        for arm, shift in zip(arms, draw.sample(range(size), len(arms)), strict=True):
            drawn[arm] = members[(turns[place] + shift) % size]
    return tuple(drawn[arm] for arm in range(len(pools.of)))


def _pairs(draw: random.Random, arms: int, pairs: int) -> tuple[Pair, ...]:
    """Every arm works in every place equally often, or once more where the number of pairs does not divide.

    Of two arms, as many pairs begin with one as with the other; the one too many, of an odd number, is drawn.
    """
    if arms > 2:
        orders = orders_by_square(arms, pairs, draw)
        return tuple(Pair(order, draw.getrandbits(63)) for order in orders)
    half, odd = divmod(pairs, 2)
    swaps = [False] * half + [True] * half + [draw.random() < 0.5] * odd
    draw.shuffle(swaps)
    return tuple(Pair(_order(swap), draw.getrandbits(63)) for swap in swaps)


def _shuffled(items: Sequence[int], draw: random.Random) -> list[int]:
    shuffled = list(items)
    draw.shuffle(shuffled)
    return shuffled
