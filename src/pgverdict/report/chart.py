"""Where the lines of a chart of throughput by clients lie: numbers only, no SVG.

Places are in units of a picture of WIDTH by HEIGHT; both axes are linear, and throughput begins at 0.
"""

from dataclasses import dataclass

from pgverdict.judge.curve import Curve, is_known
from pgverdict.report.curves import CurvesReport

WIDTH, HEIGHT = 900, 380
LEFT, RIGHT, TOP, BOTTOM = 70, 110, 12, 34
LABEL_HEIGHT = 15
TICKS = 5


@dataclass(frozen=True)
class Line:
    """An arm: its line and the outline of its band as SVG's points, the label at its end, and its hue in degrees."""

    label: str
    points: str
    band: str
    dots: tuple[tuple[float, float], ...]
    label_y: float
    hue: int


@dataclass(frozen=True)
class Chart:
    """`across` and `up`: places of ticks, and what they say."""

    lines: tuple[Line, ...]
    across: tuple[tuple[float, int], ...]
    up: tuple[tuple[float, float], ...]


def chart(report: CurvesReport) -> Chart:
    """All arms over the same axes."""
    curves = [one for _, one in report.curves]
    top = max(point.high if is_known(point) else point.tps for one in curves for point in one.points)
    step = _step(top)
    highest = step * -(-top // step)
    counts = sorted({point.clients for one in curves for point in one.points})
    ends = _apart([_y(one.points[-1].tps, highest) for one in curves])
    return Chart(
        lines=tuple(
            _line(label, one, counts[-1], highest, end, round(360 * number / len(curves)))
            for number, ((label, one), end) in enumerate(zip(report.curves, ends, strict=True))
        ),
        across=tuple((_x(count, counts[-1]), count) for count in _readable(counts)),
        up=tuple((_y(step * n, highest), step * n) for n in range(round(highest / step) + 1)),
    )


def _line(label: str, one: Curve, most: int, highest: float, label_y: float, hue: int) -> Line:
    known = [point for point in one.points if is_known(point)]
    outline = [(point.clients, point.high) for point in known] + [
        (point.clients, point.low) for point in reversed(known)
    ]
    dots = tuple((_x(point.clients, most), _y(point.tps, highest)) for point in one.points)
    return Line(
        label,
        _spelled(dots),
        _spelled(tuple((_x(clients, most), _y(tps, highest)) for clients, tps in outline)),
        dots,
        label_y,
        hue,
    )


def _spelled(places: tuple[tuple[float, float], ...]) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in places)


def _x(clients: int, most: int) -> float:
    return LEFT + (WIDTH - LEFT - RIGHT) * clients / most


def _y(tps: float, highest: float) -> float:
    return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * min(1.0, tps / highest)


def _step(top: float) -> float:
    """
    >>> _step(73_000.0), _step(4.2)
    (20000.0, 1.0)
    """
    power = 10.0 ** (len(str(int(top / TICKS))) - 1) if top >= TICKS else 0.1
    return next((power * n for n in (1, 2, 5, 10) if power * n * TICKS >= top), power * 10)


def _readable(counts: list[int]) -> list[int]:
    """Without those whose number would stand in that of the one before."""
    kept: list[int] = []
    for count in counts:
        if not kept or (count - kept[-1]) / counts[-1] > 0.03:
            kept.append(count)
    return kept


def _apart(places: list[float]) -> list[float]:
    """The places of labels, moved down where they would lie on each other."""
    found = list(places)
    below = -float(LABEL_HEIGHT)
    for n in sorted(range(len(places)), key=lambda n: places[n]):
        found[n] = below = max(places[n], below + LABEL_HEIGHT)
    return found
