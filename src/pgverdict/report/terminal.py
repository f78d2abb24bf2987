"""The report in a terminal: sentences first, then a table per cell. Eighty columns and no colour are enough.

A table is never cut: in a narrower window its lines go on beyond the edge. Where no terminal reads along,
a sentence is one line, whatever COLUMNS says, so that logs can be searched. No line ends in blanks.
"""

from rich import box
from rich.console import Console, RenderableType
from rich.measure import Measurement
from rich.padding import Padding
from rich.segment import Segment, Segments
from rich.table import Table
from rich.text import Text

from pgverdict.judge.verdict import WHOLE_CELL, Outcome, Verdict
from pgverdict.report import words
from pgverdict.report.cells import CellReport
from pgverdict.report.model import Report, TrendReport
from pgverdict.report.section import Section
from pgverdict.report.steps import StepsReport
from pgverdict.spec.metrics import METRICS, Subject

STYLES = {
    Outcome.SLOWER: "bold red",
    Outcome.FASTER: "bold green",
    Outcome.SAME: "bold cyan",
    Outcome.UNDECIDED: "bold yellow",
}

_NAME_WIDTH_MAX = 9
_STATEMENT_WIDTH_MAX = 72

_WIDTH_MIN = 40
"""In a window narrower than this, sentences are cut off by its edge rather than broken within words."""

_UNBOUNDED = 100_000
"""Wider than any line: what is laid out in it is neither wrapped nor cut."""


def print_report(report: Report, console: Console | None = None) -> None:
    """Print it; without a console, to standard output."""
    console = console or Console(highlight=False)
    for part in _parts(report):
        options = console.options.update(width=_width(part, console))
        # Lines are laid out to the width and need no cropping to it, which takes as long as the layout.
        lines = Segment.split_lines(console.render(part, options))
        printed = [segment for line in lines for segment in (*_without_blanks(line), Segment.line())]
        console.print(Segments(printed), soft_wrap=True, end="")


def _width(part: RenderableType, console: Console) -> int:
    if not console.is_terminal:
        return _UNBOUNDED
    width = max(_WIDTH_MIN, console.width)
    if not isinstance(part, _Verdicts):
        return width
    natural = Measurement.get(console, console.options.update(width=_UNBOUNDED), part).maximum
    return max(width, natural)


def _without_blanks(line: list[Segment]) -> list[Segment]:
    """The line without blanks at its end, and without what would steer the terminal."""
    kept = [Segment(words.visible(one.text), one.style, one.control) for one in line]
    while kept and not kept[-1].text.strip():
        kept.pop()
    return [*kept[:-1], Segment(kept[-1].text.rstrip(), kept[-1].style)] if kept else []


class _Verdicts(Table):
    """A table of verdicts: numbers, which are never wrapped or cut."""


def _parts(report: Report) -> list[RenderableType]:
    parts: list[RenderableType] = [_headlines(report), ""]
    if report.summaries:
        parts += [*(Text(one.sentence) for one in report.summaries), ""]
    for cell in report.cells:
        parts += _cell(cell, report)
    for steps in report.steps:
        parts += _steps(steps)
    for trend in report.trends:
        parts += _trend(trend)
    for section in report.sections:
        parts += _section(section)
    parts += [_note(note) for note in report.notes]
    parts += [_note(_confidence(report)), Text(f"run {report.id}", style="dim")]
    return parts


def _headlines(report: Report) -> Table:
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column()
    for cell in report.cells:
        outcome = cell.verdict.outcome if cell.verdict else Outcome.UNDECIDED
        table.add_row(_outcome(outcome), Text(cell.headline))
    return table


def _cell(cell: CellReport, report: Report) -> list[RenderableType]:
    title = Text(cell.title, style="bold")
    title.append(f"  {cell.regime}, {measured_words(cell)}", style="not bold dim")
    parts: list[RenderableType] = [title, _verdicts(cell)]
    legend = [Text(f"* {words.title(cell.primary)}, the primary metric, decides the cell", style="dim")]
    if _shown(cell) != cell.verdicts:
        legend.append(
            Text("steps are below; what each used per row or query is in the other formats", style="dim")
        )
    for number, subject in enumerate(cell.subjects, start=1) if _shown(cell) == cell.verdicts else ():
        legend.append(Text(f"#{number} {words.shortened(subject, _STATEMENT_WIDTH_MAX)}", style="dim"))
    if any(words.has_interval(verdict) for verdict in cell.verdicts):
        legend.append(Text(f"floor: {words.FLOOR_MEANING}, in %", style="dim"))
    if any(cell.rounds_wanted(verdict) for verdict in cell.verdicts):
        legend.append(Text("~n: a run of about so many rounds would settle it", style="dim"))
    if any(verdict.detectable for verdict in cell.verdicts):
        legend.append(Text("(d) detectable: there is a difference, smaller than the margin", style="dim"))
    parts += [Padding(line, (0, 0, 0, 2)) for line in legend]
    parts += [_note(note) for note in report.notes_on(cell)]
    return [*parts, ""]


def measured_words(cell: CellReport) -> str:
    """How much was measured: '24 rounds, 288 pairs, 1 min 12 s'."""
    measured = f"{words.count(cell.rounds, 'round')}, {cell.turns}"
    return f"{measured}, {words.duration(cell.seconds)}"


def _verdicts(cell: CellReport) -> _Verdicts:
    # With the box's own blank between columns, the table fits eighty columns.
    table = _Verdicts(box=box.SIMPLE_HEAD, pad_edge=False, padding=0, show_edge=False)
    table.add_column("metric", no_wrap=True)
    for name in cell.labels:
        table.add_column(words.shortened(name, _NAME_WIDTH_MAX), justify="right", no_wrap=True)
    table.add_column("change", justify="right", no_wrap=True)
    table.add_column("floor", justify="right", no_wrap=True)
    table.add_column("interval %", justify="right", no_wrap=True)
    table.add_column("verdict", no_wrap=True)
    for verdict in _shown(cell):
        table.add_row(
            f"{verdict.metric} {_of(verdict, cell)}".rstrip(),
            words.quantity(verdict.baseline_value),
            words.quantity(verdict.candidate_value),
            words.change(verdict.effect),
            words.floor(verdict),
            words.interval(verdict, to=".."),
            _outcome(verdict.outcome, verdict, cell.rounds_wanted(verdict)),
        )
    return table


def _shown(cell: CellReport) -> tuple[Verdict, ...]:
    """Without those of steps, which are a hundred and have a table of their own."""
    return tuple(v for v in cell.verdicts if METRICS[v.metric].subject is not Subject.STEP)


def _steps(steps: StepsReport) -> list[RenderableType]:
    table = _Verdicts(box=box.SIMPLE_HEAD, pad_edge=False, padding=0, show_edge=False)
    table.add_column("step", no_wrap=True)
    table.add_column("counts", no_wrap=True)
    table.add_column(
        f"{words.shortened(steps.labels[0], _NAME_WIDTH_MAX)}, 1/s", justify="right", no_wrap=True
    )
    for label in steps.labels[1:]:
        table.add_column(words.shortened(label, _NAME_WIDTH_MAX), justify="right", no_wrap=True)
        table.add_column("interval", justify="right", no_wrap=True)
    for row in steps.rows:
        told = [cell for one in row.candidates for cell in (_graded(one.spelled, one.missed), one.interval)]
        table.add_row(
            row.name, row.counts, _graded(words.quantity(row.baseline_value), row.baseline_missed), *told
        )
    title = Text(f"relative throughput by step: {words.cell_title(steps.spec)}", style="bold")
    return [title, table, *map(_note, steps.notes), ""]


def _graded(number: str, missed: int) -> Text:
    """Grey, and with a sign for those who see no colours, where the SLA failed."""
    return Text(f"{number} !" if missed else number, style="dim" if missed else "")


def _trend(trend: TrendReport) -> list[RenderableType]:
    table = _Verdicts(box=box.SIMPLE_HEAD, pad_edge=False, padding=0, show_edge=False)
    table.add_column("metric", no_wrap=True)
    table.add_column(" change per release %", justify="right", no_wrap=True)
    table.add_column("      interval %", justify="right", no_wrap=True)
    for one in trend.trends:
        table.add_row(one.metric, words.change(one.effect), words.interval(one))
    return [Text(trend.sentence, style="bold"), table, ""]


def _section(section: Section) -> list[RenderableType]:
    parts: list[RenderableType] = [Text(section.title, style="bold"), *map(Text, section.sentences)]
    for grid in section.grids:
        table = _Verdicts(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0), show_edge=False)
        for name, side in zip(grid.header, grid.alignment, strict=True):
            table.add_column(name, justify="right" if side == "r" else "left", no_wrap=True)
        for row in grid.rows:
            table.add_row(*map(Text, row))
        parts += ["", Text(grid.title, style="bold"), table]
    return [*parts, *map(_note, section.notes), ""]


def _of(verdict: Verdict, cell: CellReport) -> str:
    if verdict.subject != WHOLE_CELL:
        return f"#{cell.subjects.index(verdict.subject) + 1}"
    return "*" if verdict is cell.verdict else ""


def _outcome(outcome: Outcome, verdict: Verdict | None = None, wanted: str = "") -> Text:
    text = Text(outcome.value, style=STYLES[outcome])
    if verdict is not None:
        text.append(" (d)" if verdict.detectable else "")
        text.append(f" {wanted}".rstrip(), style="not bold dim")
    return text


def _note(note: str) -> Padding:
    return Padding(Text(f"note: {note}"), (0, 0, 0, 2))


def _confidence(report: Report) -> str:
    return f"{report.promise}; margin {words.margin_words(report.campaign.margin)}"
