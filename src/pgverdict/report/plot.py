"""Where things lie in the pictures of a report: numbers only, no SVG.

Both pictures show how much slower the candidate is, so that slower is always the same direction, whether the
metric counts time or work per time. Positions are shares of the width, or pixels of a fixed height; distances
are logarithmic, so that twice as slow lies as far out as twice as fast.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass

from pgverdict.judge.verdict import Verdict
from pgverdict.report.cells import CellReport, RoundEffect
from pgverdict.report.words import RATIO_MAX, has_interval, slowdown

_STEPS = (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000)
"""Distances between ticks that people count in, in percent."""


@dataclass(frozen=True)
class Tick:
    """A place on an axis; `change` is in percent and negative where the candidate is faster."""

    at: float
    change: float


@dataclass(frozen=True)
class Axis:
    """Slowdowns from 1 / `limit` to `limit`, no change in the middle."""

    limit: float
    margin: float

    def at(self, slower: float) -> float:
        """The place of a slowdown, from 0 to 1; what lies outside is at the edge."""
        if slower <= 0:
            return 0.0
        if math.isinf(slower):
            return 1.0
        return min(1.0, max(0.0, 0.5 + math.log(slower) / math.log(self.limit) / 2))

    def holds(self, slower: float) -> bool:
        return 1 / self.limit <= slower <= self.limit

    @property
    def band(self) -> tuple[float, float]:
        """The places of the margin."""
        return self.at(1 / (1 + self.margin)), self.at(1 + self.margin)

    def ticks(self, most: int) -> tuple[Tick, ...]:
        """No change, and up to `most` ticks on either side of it."""
        reach = (self.limit - 1) * 100
        step = next((step for step in _STEPS if reach / step < most + 1), _STEPS[-1])
        sizes = [step * number for number in range(1, int(reach / step) + 1)]
        slower = [Tick(self.at(1 + size / 100), size) for size in sizes]
        faster = [Tick(1 - tick.at, -tick.change) for tick in reversed(slower)]
        return (*faster, Tick(0.5, 0), *slower)


@dataclass(frozen=True)
class Row:
    """A verdict in the forest plot. `beyond_*`: the interval goes on outside the picture."""

    verdict: Verdict
    known: bool
    low: float
    at: float
    high: float
    beyond_low: bool
    beyond_high: bool


@dataclass(frozen=True)
class Forest:
    """All verdicts of a cell over one axis."""

    axis: Axis
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class Dot:
    """A round in the strip; `y` is None where it has no value."""

    round: RoundEffect
    x: float
    y: float | None


@dataclass(frozen=True)
class Strip:
    """What the rounds say one by one, in the order they were measured. `y` is 0 at the top, where it is slower."""

    axis: Axis
    dots: tuple[Dot, ...]
    interval: tuple[float, float] | None
    estimate: float | None


def forest(cell: CellReport) -> Forest:
    """The primary metric and the margin are in full view, up to RATIO_MAX; others may reach beyond the edge."""
    primary, *others = cell.verdicts
    base = max(2 * primary.margin, 1.3 * _reach([primary]))
    axis = _axis(max(base, min(1.05 * _reach(others), 2.5 * base)), primary.margin)
    return Forest(axis, tuple(_row(verdict, axis) for verdict in cell.verdicts))


def _axis(reach: float, margin: float) -> Axis:
    return Axis(math.exp(min(reach, math.log(RATIO_MAX))), margin)


def _row(verdict: Verdict, axis: Axis) -> Row:
    low, high = _slowdowns(verdict)
    slower = slowdown(verdict.metric, verdict.effect)
    known = math.isfinite(slower)
    return Row(
        verdict=verdict,
        known=known,
        low=axis.at(low),
        at=axis.at(slower) if known else 0.5,
        high=axis.at(high),
        beyond_low=low < 1 / axis.limit,
        beyond_high=high > axis.limit,
    )


def strip(cell: CellReport) -> Strip:
    """Every round is in full view, up to RATIO_MAX."""
    primary = cell.verdicts[0]
    slower = [slowdown(cell.primary, r.effect) for r in cell.round_effects if r.effect is not None]
    reach = max([1.5 * primary.margin, _reach([primary]), *(abs(math.log(one)) for one in slower)])
    axis = _axis(1.1 * reach, primary.margin)
    low, high = _slowdowns(primary)
    estimate = slowdown(primary.metric, primary.effect)
    return Strip(
        axis=axis,
        dots=tuple(_dot(one, cell, axis) for one in cell.round_effects),
        interval=(1 - axis.at(high), 1 - axis.at(low)) if has_interval(primary) else None,
        estimate=1 - axis.at(estimate) if math.isfinite(estimate) else None,
    )


def _dot(effect: RoundEffect, cell: CellReport, axis: Axis) -> Dot:
    y = None if effect.effect is None else 1 - axis.at(slowdown(cell.primary, effect.effect))
    return Dot(effect, (effect.number - 0.5) / len(cell.round_effects), y)


def _slowdowns(verdict: Verdict) -> tuple[float, float]:
    """The interval's limits as slowdowns, the smaller first."""
    low, high = sorted(slowdown(verdict.metric, limit) for limit in (verdict.low, verdict.high))
    return low, high


def _reach(verdicts: Iterable[Verdict]) -> float:
    """How far from no change these reach, as a logarithm; 0 for what is not known."""
    numbers = [n for v in verdicts for n in (v.low, v.effect, v.high) if math.isfinite(n) and n > 0]
    return max((abs(math.log(number)) for number in numbers), default=0.0)
