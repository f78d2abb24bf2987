"""The formats a report can be written in. A new one: a module with a function from Report to text, and a line here."""

from collections.abc import Callable, Mapping

from pgverdict.report.html import to_html
from pgverdict.report.machine import to_json
from pgverdict.report.markdown import to_markdown
from pgverdict.report.model import Report

Format = Callable[[Report], str]

FORMATS: Mapping[str, Format] = {"json": to_json, "markdown": to_markdown, "html": to_html}
