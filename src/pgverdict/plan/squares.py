"""Orders of many arms that are balanced: in place, and in who comes right after whom.

E. J. Williams, "Experimental designs balanced for the estimation of residual effects of treatments" (1949): the
cyclic shifts of the zigzag 0, 1, K-1, 2, K-2, ... put every arm in every place once, and for even K every arm
right after every other once; for odd K the shifts and their reversals together do so twice.
"""

import random

Order = tuple[int, ...]


def orders_by_square(arms: int, count: int, draw: random.Random) -> list[Order]:
    """`count` orders of the arms, square by square, each square's rows in drawn sequence.

    How often two arms are in a place differs by one at most, and over every multiple of `arms` orders not at all,
    so that a series that stops anywhere is nearly balanced. Over every multiple of 2 * arms orders, every arm also
    comes right after every other equally often.

    >>> sorted(orders_by_square(3, 6, random.Random(1)))
    [(0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)]
    """
    names = list(range(arms))
    draw.shuffle(names)
    mirrored = draw.random() < 0.5
    orders: list[Order] = []
    while len(orders) < count:
        square = [tuple(names[place] for place in row) for row in _square(arms, mirrored=mirrored)]
        draw.shuffle(square)
        orders += square[: count - len(orders)]
        mirrored = not mirrored
    return orders


def _square(arms: int, *, mirrored: bool) -> list[Order]:
    zigzag = [(turn + 1) // 2 if turn % 2 else -(turn // 2) for turn in range(arms)]
    rows = [tuple((place + shift) % arms for place in zigzag) for shift in range(arms)]
    return [row[::-1] for row in rows] if mirrored else rows
