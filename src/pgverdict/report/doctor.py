"""What `pgverdict doctor` found, for people and for programs (schema `pgverdict.doctor/1`)."""

import json
import textwrap
from collections import Counter
from collections.abc import Sequence

from pgverdict import __version__
from pgverdict.host.advice import Advice
from pgverdict.host.repairs import Step
from pgverdict.observe.host import host_facts
from pgverdict.records.host import Level
from pgverdict.report import words

SCHEMA = "pgverdict.doctor/1"

_WORST_FIRST = (Level.WARNING, Level.NOTE, Level.NOT_KNOWN, Level.FINE)
_INDENT = 11
_WIDTH = 100


def doctor_screen(advice: Sequence[Advice], steps: Sequence[Step], *, fixing: bool) -> str:
    """The worst first; commands are never wrapped, so that they can be copied."""
    lines: list[str] = []
    for level in _WORST_FIRST:
        for one in advice:
            if one.level is level:
                lines += _told(one)
    counts = Counter(one.level for one in advice)
    lines += ["", ", ".join(_counted(counts[level], level) for level in _WORST_FIRST if counts[level])]
    if fixing:
        lines += [f"setting {step}" for step in steps] or ["nothing to set"]
        lines += ["`pgverdict doctor --undo` puts it back"] * bool(steps)
    elif steps:
        lines.append(
            f"`sudo pgverdict doctor --fix` sets {words.count(len(steps), 'knob')} of the kernel until its next start,"
            " `--undo` puts them back"
        )
    return "\n".join(lines) + "\n"


def doctor_json(advice: Sequence[Advice], steps: Sequence[Step]) -> str:
    """One JSON document with a newline at its end. `steps` is what --fix sets, or would set."""
    document = {
        "schema": SCHEMA,
        "made_by": f"pgverdict {__version__}",
        "host": dict(host_facts()),
        "checks": [
            {
                "check": one.diagnosis.check,
                "level": one.level.value,
                "found": one.diagnosis.found,
                "why": one.why,
                "command": one.command,
                "fixable": bool(one.changes),
            }
            for one in advice
        ],
        "steps": [{"path": step.path, "now": step.now, "value": step.value} for step in steps],
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _told(one: Advice) -> list[str]:
    lines = _wrapped(f"{one.level.value:<{_INDENT}}", f"{one.diagnosis.check}: {one.diagnosis.found}")
    if one.why:
        lines += _wrapped(" " * _INDENT, f"{one.why}.")
    if one.command:
        lines.append(f"{' ' * _INDENT}$ {one.command}")
    return lines


def _wrapped(first: str, text: str) -> list[str]:
    return textwrap.wrap(
        text, _WIDTH, initial_indent=first, subsequent_indent=" " * _INDENT, break_long_words=False,
        break_on_hyphens=False,
    )  # fmt: skip


def _counted(count: int, level: Level) -> str:
    return (
        f"{count} {level.value}"
        if level in (Level.FINE, Level.NOT_KNOWN)
        else words.count(count, level.value)
    )
