"""Means and standard deviations of the statements of a whole campaign in one table, laid out as studies print them.

A row per cell and statement: first its mean time in the server, then the standard deviation, each with the values of
both arms and their change; beside that, where published numbers were asked for, the change that was published. The
verdicts are those of the cells, and all their figures are in the cells' own tables.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from pgverdict.judge.verdict import Verdict
from pgverdict.report import words
from pgverdict.report.beside import BesideReport, BesideRow
from pgverdict.report.names import work_name
from pgverdict.report.section import Grid, Section
from pgverdict.spec.campaign import CellSpec
from pgverdict.workloads.control import is_control

CELLS_MIN = 2
"""What one cell says stands in its own table."""

METRICS = ("server_ms_mean", "server_ms_stddev")

_STATEMENT_WIDTH_MAX = 40


@dataclass(frozen=True)
class JudgedCell:
    """What of a cell and candidate is needed; `labels` are what the two arms are called."""

    spec: CellSpec
    labels: tuple[str, str]
    verdicts: tuple[Verdict, ...]


@dataclass(frozen=True)
class _Statement:
    """A statement of a cell, and its verdicts in the order of METRICS."""

    cell: JudgedCell
    text: str
    verdicts: tuple[Verdict | None, ...]


def statements_section(cells: Sequence[JudgedCell], beside: BesideReport | None) -> Section | None:
    """A table per candidate. None where fewer than CELLS_MIN cells have statements that were judged."""
    found = [statement for cell in cells for statement in _statements(cell)]
    if len({statement.cell.spec.key for statement in found}) < CELLS_MIN:
        return None
    specs = list(dict.fromkeys(cell.spec for cell in cells))
    published = {} if beside is None else _published(beside)
    return Section(
        title="Statement by statement",
        grids=tuple(
            _grid(labels, [one for one in found if one.cell.labels == labels], specs, published)
            for labels in dict.fromkeys(statement.cell.labels for statement in found)
        ),
        notes=(
            "times inside the server, by pg_stat_statements; a change has its interval in brackets and its verdict"
            " behind it, as in the table of its cell",
            *(
                ("there: the change that was published, of figures that are about this cell and statement",)
                if published
                else ()
            ),
        ),
    )


def _statements(cell: JudgedCell) -> list[_Statement]:
    """Those that were judged, in the order of the scripts, without those that begin and end transactions."""
    by_text: dict[str, dict[str, Verdict]] = {}
    for verdict in cell.verdicts:
        if verdict.metric in METRICS and not is_control(verdict.subject):
            by_text.setdefault(verdict.subject, {})[verdict.metric] = verdict
    return [
        _Statement(cell, text, tuple(by_metric.get(metric) for metric in METRICS))
        for text, by_metric in by_text.items()
    ]


def _published(beside: BesideReport) -> dict[tuple[str, str, str, str], BesideRow]:
    """By metric, key of the cell, candidate and statement."""
    return {
        (table.metric, *row.asked): row
        for table in beside.tables
        for row in table.rows
        if table.metric in METRICS and row.asked is not None
    }


def _grid(
    labels: tuple[str, str],
    statements: Sequence[_Statement],
    specs: Sequence[CellSpec],
    published: dict[tuple[str, str, str, str], BesideRow],
) -> Grid:
    there = ("there %",) if published else ()
    header: tuple[str, ...] = ("cell", "statement")
    for name in ("mean", "spread"):
        header += (f"{name} ms, {labels[0]}", labels[1], "change %", *there)
    return Grid(
        title=f"{labels[1]} against {labels[0]}",
        header=header,
        alignment="ll" + ("rrl" + "r" * len(there)) * len(METRICS),
        rows=tuple(_row(one, specs, published) for one in statements),
    )


def _row(
    statement: _Statement, specs: Sequence[CellSpec], published: dict[tuple[str, str, str, str], BesideRow]
) -> tuple[str, ...]:
    spec = statement.cell.spec
    cells: tuple[str, ...] = (
        work_name(spec, specs),
        words.shortened(statement.text, _STATEMENT_WIDTH_MAX),
    )
    for metric, verdict in zip(METRICS, statement.verdicts, strict=True):
        cells += (words.NOTHING,) * 3 if verdict is None else _told(verdict)
        if published:
            row = (
                None
                if verdict is None
                else published.get((metric, spec.key, verdict.candidate, verdict.subject))
            )
            cells += (words.NOTHING if row is None else row.published_change,)
    return cells


def _told(verdict: Verdict) -> tuple[str, str, str]:
    """Both arms' values, and '+5.36 (+2.11 to +8.70) SLOWER'."""
    limits = f" ({words.interval(verdict)})" if words.has_interval(verdict) else ""
    return (
        words.quantity(verdict.baseline_value),
        words.quantity(verdict.candidate_value),
        f"{words.change(verdict.effect)}{limits} {verdict.outcome.value}",
    )
