"""Throughput by number of clients: a line and a band per arm, and where each grows, stays and collapses."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from pgverdict.judge.curve import COUNTS_MIN, LINEAR, PLATEAU, Curve, Mark, Point, curve, is_known
from pgverdict.judge.values import Question, side_by_side
from pgverdict.records.run import CellRecord, RunRecord
from pgverdict.report import words
from pgverdict.report.section import Grid, Section
from pgverdict.spec.campaign import CellSpec

_QUESTION = Question("tps")


@dataclass(frozen=True)
class CurvesReport:
    """Cells that differ only in their clients. `curves`: of the arms that have one, by what they are called."""

    spec: CellSpec
    """Of the fewest clients."""
    title: str
    confidence: float
    curves: tuple[tuple[str, Curve], ...]


def curves_of(run: RunRecord) -> tuple[CurvesReport, ...]:
    """Every set of at least COUNTS_MIN cells with rounds that differ only in their clients, in the order of the run."""
    sets: dict[str, list[CellRecord]] = {}
    for cell in run.cells:
        if cell.measured and not cell.measured[0].arms[0].steps:
            sets.setdefault(replace(cell.spec, clients=1).key, []).append(cell)
    found = []
    for cells in sets.values():
        if len(cells) >= COUNTS_MIN:
            cells.sort(key=lambda cell: cell.spec.clients)
            curves = [
                (words.arm_label(facts), curve(_rounds(cells, arm), 1 - run.campaign.confidence))
                for arm, facts in enumerate(run.arms)
            ]
            known = tuple((label, one) for label, one in curves if one is not None)
            if known:
                title = words.cell_title(replace(cells[0].spec, clients=1)).replace(", 1 client", "")
                found.append(CurvesReport(cells[0].spec, title, run.campaign.confidence, known))
    return tuple(found)


def _rounds(cells: Sequence[CellRecord], arm: int) -> list[tuple[int, list[float]]]:
    return [
        (
            cell.spec.clients,
            [
                told[0][arm]
                for record in cell.measured
                if arm in (told := side_by_side(record, _QUESTION, clients=cell.spec.clients))[0]
            ],
        )
        for cell in cells
    ]


def curves_section(report: CurvesReport) -> Section:
    """The same in words and numbers, for formats that draw nothing."""
    counts = sorted({point.clients for _, one in report.curves for point in one.points})
    return Section(
        title=f"Throughput by clients: {report.title}",
        sentences=tuple(f"{label}: {segments(one)}" for label, one in report.curves),
        grids=(
            Grid(
                title=f"throughput, 1/s, with {words.confidence_words(report.confidence)} limits of each by itself",
                header=("clients", *(label for label, _ in report.curves)),
                alignment="r" * (1 + len(report.curves)),
                rows=tuple((str(count), *(_at(one, count) for _, one in report.curves)) for count in counts),
            ),
        ),
        notes=(
            f"linear: at least {LINEAR:.0%} of the throughput per client of the fewest clients; plateau: at least"
            f" {PLATEAU:.0%} of the highest throughput, and collapse below that beyond it. Between two counts: the"
            " intervals of all comparisons together do not say which".replace("%", " %"),
        ),
    )


def segments(one: Curve) -> str:
    """'linear up to 4 clients, plateau from 6, highest at 8, collapse from 20', without a full stop."""
    told = [
        f"linear up to {_mark(one.linear_up_to)} clients",
        f"plateau from {_mark(one.plateau_from)}",
        f"highest at {one.peak}",
    ]
    last = one.points[-1].clients
    collapse = one.collapse_from
    if collapse is None:
        told.append(f"no collapse up to {last}" if last != one.peak else f"nothing known beyond {last}")
    elif collapse.latest is None:
        told.append(f"perhaps a collapse from {collapse.earliest} on, which cannot be told")
    else:
        told.append(f"collapse from {_mark(collapse)}")
    return ", ".join(told)


def _mark(mark: Mark) -> str:
    return str(mark.earliest) if mark.is_sure else f"between {mark.earliest} and {mark.latest}"


def _at(one: Curve, clients: int) -> str:
    point = next((point for point in one.points if point.clients == clients), None)
    return words.NOTHING if point is None else _said(point)


def _said(point: Point) -> str:
    if not is_known(point):
        return words.quantity(point.tps)
    return f"{words.quantity(point.tps)} ({words.quantity(point.low)} to {words.quantity(point.high)})"
