"""The report as Markdown, for pull requests and mail: sentences, a table per cell, what differs, the command."""

import re
from collections.abc import Iterable

from pgverdict.judge.verdict import WHOLE_CELL, Outcome, Verdict
from pgverdict.report import words
from pgverdict.report.cells import CellReport
from pgverdict.report.model import Report, TrendReport
from pgverdict.report.section import Section
from pgverdict.report.steps import StepsReport


def to_markdown(report: Report) -> str:
    """One document, in GitHub's dialect."""
    blocks = [f"# {_text(report.title)}", _list(_headline(cell) for cell in report.cells)]
    blocks.append(_list(f"{_text(one.sentence)}." for one in report.summaries))
    for section in report.sections:
        blocks += _section(section)
    for cell in report.cells:
        blocks += _cell(cell, report)
    for steps in report.steps:
        blocks += _steps(steps)
    for trend in report.trends:
        blocks += _trend(trend)
    blocks += _arms(report)
    blocks += _differences(report)
    blocks += _chosen(report)
    blocks += _notes(report.notes)
    blocks.append(_where_and_when(report))
    blocks += [
        "The whole run again; its cells share the budget and the confidence, so a cell by itself would be judged"
        " otherwise:",
        f"```sh\n{report.command}\n```",
    ]
    margin = words.margin_words(report.campaign.margin)
    blocks.append(
        f"Confidence: {_text(report.promise)}. The margin is {margin}."
        f" Run {_code(report.id)}, {_text(report.made_by)}."
    )
    return "\n\n".join(block for block in blocks if block) + "\n"


def _headline(cell: CellReport) -> str:
    outcome = cell.verdict.outcome if cell.verdict else Outcome.UNDECIDED
    return f"**{outcome.value}**: {_text(cell.headline)}."


def _cell(cell: CellReport, report: Report) -> list[str]:
    measured = f"{words.count(cell.rounds, 'round')}, {cell.turns}, {words.duration(cell.seconds)}"
    header = [
        "metric",
        "of",
        *map(_text, cell.labels),
        "change %",
        "noise floor %",
        "interval %",
        "verdict",
        "rounds wanted",
    ]
    return [
        f"## {_text(cell.title)}",
        f"{measured}; {_text(cell.regime)}; {_code(cell.primary)} decides.",
        _table(header, "llrrrrrlr", [_row(verdict, cell) for verdict in cell.verdicts]),
        _list(f"#{number}: {_code(subject)}" for number, subject in enumerate(cell.subjects, start=1)),
        *_notes(report.notes_on(cell)),
        *_statements(cell),
    ]


def _statements(cell: CellReport) -> list[str]:
    """A line per statement and figure; those without verdicts have no number."""
    numbers = {subject: f"#{number}" for number, subject in enumerate(cell.subjects, start=1)}
    rows = [
        [
            numbers.get(one.text) or _code(one.text, in_table=True),
            _text(figure.name),
            figure.unit,
            *("" if value is None else words.quantity(value) for value in figure.values),
        ]
        for one in cell.statements
        for figure in one.figures
    ]
    if not rows:
        return []
    return [
        "What clients and servers saw of each statement, in a typical round:",
        _table(["of", "figure", "unit", *map(_text, cell.labels)], "lllrr", rows),
    ]


def _steps(steps: StepsReport) -> list[str]:
    header = ["step", "counts", f"{_text(steps.labels[0])}, per second"]
    for label in steps.labels[1:]:
        header += [_text(label), "interval"]
    rows = [
        [
            row.name,
            row.counts,
            _graded(words.quantity(row.baseline_value), row.baseline_missed),
            *(cell for one in row.candidates for cell in (_graded(one.spelled, one.missed), one.interval)),
        ]
        for row in steps.rows
    ]
    return [
        f"## Relative throughput by step: {_text(words.cell_title(steps.spec))}",
        _table(header, "ll" + "r" * (len(header) - 2), rows),
        *_notes(steps.notes),
    ]


def _graded(number: str, missed: int) -> str:
    return f"{number} (SLA failed)" if missed else number


def _trend(trend: TrendReport) -> list[str]:
    rows = [
        [_code(one.metric), words.change(one.effect), words.interval(one), f"{one.rounds:,}"]
        for one in trend.trends
    ]
    return [
        f"## Trend: {_text(words.cell_title(trend.spec))}",
        f"{_text(trend.sentence)}.",
        _table(["metric", "change per release %", "interval %", "rounds"], "lrrr", rows),
    ]


def _section(section: Section) -> list[str]:
    blocks = [f"## {_text(section.title)}", *(f"{_text(sentence)}." for sentence in section.sentences)]
    for grid in section.grids:
        rows = [list(map(_text, row)) for row in grid.rows]
        blocks += [f"**{_text(grid.title)}**", _table(list(map(_text, grid.header)), grid.alignment, rows)]
    return [*blocks, *_notes(section.notes)]


def _row(verdict: Verdict, cell: CellReport) -> list[str]:
    whole = verdict.subject == WHOLE_CELL
    return [
        _code(verdict.metric),
        "cell" if whole else f"#{cell.subjects.index(verdict.subject) + 1}",
        words.quantity(verdict.baseline_value),
        words.quantity(verdict.candidate_value),
        words.change(verdict.effect),
        words.floor(verdict),
        words.interval(verdict),
        verdict.outcome.value + (", detectable" if verdict.detectable else ""),
        cell.rounds_wanted(verdict),
    ]


def _arms(report: Report) -> list[str]:
    rows = [
        [
            arm.role.value,
            _text(label),
            _code(arm.server, in_table=True),
            f"named {_code(arm.name, in_table=True)}",
        ]
        for arm, label in zip(report.arms, report.labels, strict=True)
    ]
    return ["## The arms", _table(["role", "arm", "asked for as", "in `--set`"], "llll", rows)]


def _differences(report: Report) -> list[str]:
    if not report.differences:
        return []
    rows = [
        [
            d.area,
            _code(d.name, in_table=True),
            *(words.absent(d.area) if v is None else _code(v, in_table=True) for v in d.values),
        ]
        for d in report.differences
    ]
    return [
        "## What differs between the arms",
        _table(["", "name", *map(_text, report.labels)], "ll" + "l" * len(report.arms), rows),
    ]


def _chosen(report: Report) -> list[str]:
    """Where only the user chose, the differences and the command say it."""
    if not any(arm.origins for arm in report.campaign.arms):
        return []
    rows = [
        [
            _code(one.name, in_table=True),
            *(
                "" if value is None else f"{_code(value, in_table=True)} {origin}"
                for value, origin in zip(one.values, one.origins, strict=True)
            ),
        ]
        for one in report.chosen
    ]
    return [
        "## The settings that were chosen",
        _table(["name", *map(_text, report.labels)], "l" + "l" * len(report.arms), rows),
    ]


def _where_and_when(report: Report) -> str:
    """Date, machine, and how long it took: what a page that is kept needs beside its numbers."""
    host = "".join(f"; {_text(name)} {_text(value)}" for name, value in report.host)
    return f"Measured on {_text(report.started[:16].replace('T', ' '))} UTC in {words.duration(report.seconds)}{host}."


def _notes(notes: Iterable[str]) -> list[str]:
    return [_list(f"note: {_text(note)}" for note in notes)]


def _table(header: list[str], alignment: str, rows: list[list[str]]) -> str:
    rule = ["--:" if side == "r" else ":--" for side in alignment]
    return "\n".join(f"| {' | '.join(row)} |" for row in (header, rule, *rows))


def _list(items: Iterable[str]) -> str:
    return "\n".join(f"- {item}" for item in items)


def _text(text: str) -> str:
    """Text that Markdown and HTML leave alone, on one line."""
    return re.sub(r"([\\`*_\[\]<>&|#~])", r"\\\1", " ".join(text.split()))


def _code(text: str, *, in_table: bool = False) -> str:
    """Code on one line, whatever backticks it holds; a table would end its cell at a bar."""
    line = " ".join(text.split())
    fence = "`" * (1 + max((len(run) for run in re.findall("`+", line)), default=0))
    if not line:
        return ""
    space = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{fence}{space}{line.replace('|', chr(92) + '|') if in_table else line}{space}{fence}"
