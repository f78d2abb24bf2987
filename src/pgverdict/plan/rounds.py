"""The arrangement of one round: who starts first, who connects first, who lives where, who goes first in a pair.

The arm that starts first is measurably slower (METHODOLOGY.md#order), so nothing about the order may
be fixed or left to chance alone. Over every eight rounds each combination of start order, connection
order and directory occurs once, in an order drawn from the seed; the same seed and cell always give
the same arrangement, so a run can be done again from its seed.

    >>> first = arrange("select-only scale=10 clients=1", seed=1, ordinal=0)
    >>> first == arrange("select-only scale=10 clients=1", seed=1, ordinal=0)
    True
"""

import itertools
import random
from collections.abc import Sequence
from dataclasses import dataclass

PAIRS = 12
"""Pairs per round: longer rounds bought nothing where it was measured (METHODOLOGY.md#round)."""

LOADS_MAX = 8
LOADS_MIN = 2
LOADS_BYTES = 2_000_000_000
"""An arm draws its data from so many independent loads: as many as fit these bytes, within these limits.

Rounds that share a load share its luck, and no number of rounds averages that out (METHODOLOGY.md#loads).
"""

_COMBINATIONS = tuple(itertools.product((False, True), repeat=3))


@dataclass(frozen=True)
class Pair:
    """Neighbouring slices: arms in the order they work, and the seed that gives both the same keys."""

    order: tuple[int, ...]
    seed: int


@dataclass(frozen=True)
class RoundPlan:
    """Arms are numbers: 0 is the baseline. `slots[arm]` and `loads[arm]` say where an arm's data lives."""

    ordinal: int
    start_order: tuple[int, ...]
    connect_order: tuple[int, ...]
    slots: tuple[int, ...]
    loads: tuple[int, ...]
    pairs: tuple[Pair, ...]


def arrange(
    cell_key: str, *, seed: int, ordinal: int, pairs: int = PAIRS, loads: int = LOADS_MAX
) -> RoundPlan:
    """Round number `ordinal` (from 0) of a cell with two arms."""
    block, place = divmod(ordinal, len(_COMBINATIONS))
    combinations = list(_COMBINATIONS)
    _random(seed, cell_key, "orders", block).shuffle(combinations)
    swap_start, swap_connect, swap_slots = combinations[place]
    return RoundPlan(
        ordinal=ordinal,
        start_order=_order(swap_start),
        connect_order=_order(swap_connect),
        slots=_order(swap_slots),
        loads=tuple(_load(seed, cell_key, arm, ordinal, loads) for arm in (0, 1)),
        pairs=_pairs(_random(seed, cell_key, "pairs", ordinal), pairs),
    )


def how_many_loads(load_bytes: int, rounds: int | None = None) -> int:
    """How many loads each arm of a cell has, from the size of one; no more than there will be rounds.

    >>> [how_many_loads(size) for size in (200_000_000, 500_000_000, 50_000_000_000)]
    [8, 4, 2]
    """
    fitting = max(LOADS_MIN, min(LOADS_MAX, LOADS_BYTES // load_bytes))
    return fitting if rounds is None else min(fitting, rounds)


def _random(*parts: object) -> random.Random:
    # A string seed is hashed by SHA-512: the same on every machine and Python.
    return random.Random("/".join(map(str, parts)))


def _order(swap: bool) -> tuple[int, int]:
    return (1, 0) if swap else (0, 1)


def _load(seed: int, cell_key: str, arm: int, ordinal: int, loads: int) -> int:
    """Every load serves once in `loads` rounds, in random order, independently for each arm."""
    block, place = divmod(ordinal, loads)
    return _shuffled(range(loads), _random(seed, cell_key, "loads", arm, block))[place]


def _pairs(draw: random.Random, pairs: int) -> tuple[Pair, ...]:
    """As many pairs begin with one arm as with the other (one more, drawn, where their number is odd)."""
    half, odd = divmod(pairs, 2)
    swaps = [False] * half + [True] * half + [draw.random() < 0.5] * odd
    draw.shuffle(swaps)
    return tuple(Pair(_order(swap), draw.getrandbits(63)) for swap in swaps)


def _shuffled(items: Sequence[int], draw: random.Random) -> list[int]:
    shuffled = list(items)
    draw.shuffle(shuffled)
    return shuffled
