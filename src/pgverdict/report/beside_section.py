"""Our numbers beside published ones, as a section: a table per metric, laid out as the source has it: values where it
prints values, else ratios."""

from pgverdict.report import words
from pgverdict.report.beside import BesideReport, BesideRow, BesideTable
from pgverdict.report.section import Grid, Section


def beside_section(report: BesideReport) -> Section:
    """The whole comparison."""
    source = report.source
    about = f": {source.about}" if source.about else ""
    return Section(
        title=f"Beside {source.author}, {source.title} ({source.date})",
        sentences=(f"{source.address}{about}", report.sentence),
        grids=tuple(_grid(table, report) for table in report.tables),
        notes=(
            *report.notes,
            *(f"said there, and held against nothing here: {claim}" for claim in report.claims),
        ),
    )


def _grid(table: BesideTable, report: BesideReport) -> Grid:
    values = (*(f"{label} there" for label in report.theirs), *(f"{label} here" for label in report.labels))
    shown = values if table.has_values else ()
    header = (
        "figure",
        "cell here",
        *shown,
        "change there %",
        "here %",
        "interval %",
        "verdict",
        "theirs, by ours",
    )
    unit = words.unit(table.metric)
    return Grid(
        title=f"{words.title(table.metric)}{f', {unit}' if unit else ''}",
        header=header,
        alignment="ll" + "r" * (len(shown) + 3) + "ll",
        rows=tuple(_cells(row, with_values=table.has_values) for row in table.rows),
    )


def _cells(row: BesideRow, *, with_values: bool) -> tuple[str, ...]:
    theirs = tuple(value or words.NOTHING for value in row.published)
    ours = tuple(words.quantity(value) for value in row.ours)
    return (
        row.name if row.remark is None else f"{row.name} ({row.remark})",
        row.cell or words.NOTHING,
        *((*theirs, *ours) if with_values else ()),
        row.published_change,
        words.change(row.effect),
        row.interval,
        row.verdict or words.NOTHING,
        row.said,
    )
