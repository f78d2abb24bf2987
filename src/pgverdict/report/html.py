"""The report as one HTML file that needs nothing else: no network, no script, readable on paper."""

import math
import re
from dataclasses import dataclass
from datetime import datetime

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from pgverdict.judge.verdict import WHOLE_CELL
from pgverdict.report import chart as chart_module
from pgverdict.report import words
from pgverdict.report.cells import CellReport
from pgverdict.report.chart import chart
from pgverdict.report.conditions import Condition
from pgverdict.report.model import Report
from pgverdict.report.plot import Forest, Row, Strip, forest, strip

STRIP_HEIGHT = 132

NO_BREAK = "\u00a0"

_UNITS = {"us": "µs", "1/s": "per second"}


@dataclass(frozen=True)
class _Group:
    """Verdicts on one subject; None is the whole cell."""

    subject: str | None
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class _Pictures:
    forest: Forest
    strip: Strip
    groups: tuple[_Group, ...]


def to_html(report: Report) -> str:
    """The whole page."""
    pictures = [_pictures(cell) if cell.verdicts else None for cell in report.cells]
    return (
        _environment()
        .get_template("report.html.j2")
        .render(
            report=report,
            cells=list(zip(report.cells, pictures, strict=True)),
            common_settings=_common_settings(report),
            charts={section: chart(curves) for section, curves in report.charted},
            drawn=chart_module,
            metrics=_metrics(report),
            strip_height=STRIP_HEIGHT,
        )
        .lstrip()
    )


def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("pgverdict.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {
        "amount": _amount,
        "change": lambda effect: _minus(words.change(effect)),
        "code_name": lambda name: Markup("<wbr>_").join(name.split("_")),
        "day": _day,
        "duration": words.duration,
        "interval": lambda verdict: _minus(words.interval(verdict)),
        "limit": lambda effect: _minus(words.limit(effect)),
        "percent": lambda effect: _minus(words.percent(effect)),
        "quantity": lambda value: _minus(words.quantity(value)),
        "unbroken": _unbroken,
        "share": lambda share: f"{share * 100:.2f}%",
        "signed_tick": _signed_tick,
        "tick": _tick,
        "title": words.title,
        "unit": lambda metric: _UNITS.get(words.unit(metric), words.unit(metric)),
    }
    environment.globals |= {"words": words}
    return environment


def _pictures(cell: CellReport) -> _Pictures:
    drawn = forest(cell)
    subjects = dict.fromkeys(row.verdict.subject for row in drawn.rows)
    groups = tuple(
        _Group(
            None if subject == WHOLE_CELL else subject,
            tuple(row for row in drawn.rows if row.verdict.subject == subject),
        )
        for subject in subjects
    )
    return _Pictures(drawn, strip(cell), groups)


def _common_settings(report: Report) -> list[tuple[str, str]]:
    first, *others = (dict(arm.settings) for arm in report.arms)
    return [
        (name, value) for name, value in first.items() if all(other.get(name) == value for other in others)
    ]


def _metrics(report: Report) -> list[str]:
    return list(dict.fromkeys(verdict.metric for cell in report.cells for verdict in cell.verdicts))


def _minus(number: str) -> str:
    """A minus as wide as a plus; a lone one stands for nothing and becomes a dash."""
    return "–" if number == words.NOTHING else number.replace("-", "−")  # noqa: RUF001


def _tick(change: float) -> str:
    return f"{abs(change):g} %"


def _signed_tick(change: float) -> str:
    return _minus(f"{change:+g} %" if change else "0")


def _unbroken(sentence: str) -> str:
    """Without a line break between a number and its unit."""
    return re.sub(r"(?<=\d) (?=(%|s|min|h)(?!\w))", NO_BREAK, sentence)


def _amount(value: float | None, condition: Condition) -> str:
    """
    >>> _amount(167772160.0, Condition("size", "bytes", ()))
    '160.0 MiB'
    """
    if value is None or math.isnan(value):
        return "not known"
    if condition.unit == "bytes":
        return _bytes(value)
    return f"{value:,.0f}" + (f" {condition.unit}" if condition.unit else "")


def _bytes(number: float) -> str:
    if number < 1024:
        return f"{number:,.0f} bytes"
    power = min(4, int(math.log(number, 1024)))
    return f"{number / 1024**power:,.1f} {('KiB', 'MiB', 'GiB', 'TiB')[power - 1]}"


def _day(started: str) -> str:
    """
    >>> _day("2026-11-21T10:02:11.482+00:00")
    '21 November 2026, 10:02 UTC'
    """
    try:
        when = datetime.fromisoformat(started)
    except ValueError:
        return started
    return f"{when.day} {when:%B %Y, %H:%M} UTC"
