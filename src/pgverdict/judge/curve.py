"""Throughput by number of clients: where it grows with them, where it stays, where it collapses.

The rule, for the throughput T(n) of n clients, the smallest count a, and the count p with the highest mean:

    it grows linearly up to the last count of the leading run with T(n) / T(a) >= LINEAR * n / a
    the plateau begins at the first count of the unbroken run up to p with T(n) >= PLATEAU * T(p)
    it collapses at the first count after p with T(n) < PLATEAU * T(p)

Each comparison is of two cells that were measured apart, and has an interval (`judge.apart`), all together at `alpha`.
Where an interval holds both answers, the mark is between two counts: it cannot be told. p is the highest of means that
scatter, so that T(p) is a little too high where several counts are nearly equal; a tenth is more than that, as a rule.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from pgverdict.judge.apart import Apart, apart, around

LINEAR = 0.8
"""What of the throughput per client of the smallest count is still called linear growth."""

PLATEAU = 0.9
"""What of the highest throughput is still the plateau."""

COUNTS_MIN = 3
"""A line through two counts has no segments."""


@dataclass(frozen=True)
class Mark:
    """A client count, or the two between which it lies. `latest` None: perhaps not within the counts measured."""

    earliest: int
    latest: int | None

    @property
    def is_sure(self) -> bool:
        return self.earliest == self.latest


@dataclass(frozen=True)
class Point:
    """Throughput of so many clients, per second: the geometric mean over rounds, with limits for this point alone."""

    clients: int
    tps: float
    low: float
    high: float
    rounds: int


@dataclass(frozen=True)
class Curve:
    """An arm over all client counts, ascending."""

    points: tuple[Point, ...]
    peak: int
    linear_up_to: Mark
    plateau_from: Mark
    collapse_from: Mark | None
    """None: none within the counts measured, surely."""


def curve(rounds: Sequence[tuple[int, Sequence[float]]], alpha: float) -> Curve | None:
    """From client counts, ascending, with what each round of theirs said, in transactions per second.

    None: fewer counts than COUNTS_MIN have rounds."""
    known = [(clients, values) for clients, values in rounds if values]
    if len(known) < COUNTS_MIN:
        return None
    points = []
    for clients, values in known:
        found = around(values, alpha)
        points.append(Point(clients, found.ratio, found.low, found.high, len(values)))
    peak = max(range(len(points)), key=lambda n: points[n].tps)
    share = alpha / (2 * len(known))
    first = known[0]
    linear = [
        _at_least(apart(first[1], values, share), LINEAR * clients / first[0]) if n else True
        for n, (clients, values) in enumerate(known)
    ]
    high = [
        _at_least(apart(known[peak][1], values, share), PLATEAU) if n != peak else True
        for n, (_, values) in enumerate(known)
    ]
    counts = [clients for clients, _ in known]
    return Curve(
        points=tuple(points),
        peak=counts[peak],
        linear_up_to=Mark(counts[_run(linear, sure=True) - 1], counts[_run(linear, sure=False) - 1]),
        plateau_from=Mark(
            counts[peak + 1 - _run(high[peak::-1], sure=False)],
            counts[peak + 1 - _run(high[peak::-1], sure=True)],
        ),
        collapse_from=_collapse(counts[peak + 1 :], high[peak + 1 :]),
    )


def _at_least(found: Apart, wanted: float) -> bool | None:
    """Whether the ratio is; None: its interval holds both answers."""
    if found.low >= wanted:
        return True
    return False if found.high < wanted else None


def _run(answers: Sequence[bool | None], *, sure: bool) -> int:
    """How many from the first on are yes, or may be."""
    broken = (n for n, yes in enumerate(answers) if not (yes or (yes is None and not sure)))
    return next(broken, len(answers))


def _collapse(counts: Sequence[int], high: Sequence[bool | None]) -> Mark | None:
    earliest = next((clients for clients, yes in zip(counts, high, strict=True) if not yes), None)
    latest = next((clients for clients, yes in zip(counts, high, strict=True) if yes is False), None)
    return None if earliest is None else Mark(earliest, latest)


def is_known(point: Point) -> bool:
    """Whether it has limits."""
    return point.low > 0 and math.isfinite(point.high)
