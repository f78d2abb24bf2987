"""What servers last said in rounds that failed: a few lines for a note, whole logs for a screen.

>>> last_words(
...     "2026-11-21 10:59:00.000 UTC [7] LOG:  server process (PID 9) was terminated by signal 9: Killed\\n"
...     "2026-11-21 10:59:00.100 UTC [8] FATAL:  the database system is in recovery mode\\n"
...     "2026-11-21 10:59:00.200 UTC [7] LOG:  received fast shutdown request\\n"
...     "2026-11-21 10:59:00.300 UTC [6] FATAL:  terminating connection due to administrator command\\n"
... )
('LOG: server process (PID 9) was terminated by signal 9: Killed', 'FATAL: the database system is in recovery mode')
"""

import re
from collections.abc import Iterator

from pgverdict.records.round import RoundRecord, RoundState
from pgverdict.records.run import CellRecord, RunRecord
from pgverdict.report import words

LINES_MAX = 3
"""Of each server in a note."""

_PREFIX = r"^\S+ \S+ \S+ \[\d+\] "  # of `servers.settings`: when, and which process
_BAD = re.compile(
    _PREFIX + r"((?:ERROR|FATAL|PANIC):.*|LOG:\s.*(?:terminated by signal|exited with exit code).*)$"
)
_NUMBER = re.compile(r"\d+")

_OURS = "FATAL: the database system is starting up"
"""What whoever asks whether a server is up is told until it is: we ask."""

_STOPPED = re.compile(_PREFIX + r"LOG:\s+received (?:smart|fast|immediate) shutdown request")


def last_words(log: str) -> tuple[str, ...]:
    """The last messages of a log that tell of something bad, each once, before somebody had the server stop."""
    said: dict[str, None] = {}
    for line in log.splitlines():
        if _STOPPED.match(line):
            break
        if found := _BAD.match(line):
            message = " ".join(found[1].split())
            if message == _OURS:
                continue
            said.pop(message, None)  # what is said again counts where it is said last
            said[message] = None
    return tuple(said)[-LINES_MAX:]


def failure_stories(run: RunRecord, cell: CellRecord) -> Iterator[str]:
    """A sentence for every way in which rounds of a cell failed, and one for what servers said then, if they did.

    Stories of one arm that differ in their numbers alone are one way.
    """
    failed = [(number, r) for number, r in enumerate(cell.rounds, 1) if r.state is RoundState.FAILED]
    by_story: dict[tuple[int | None, str], list[tuple[int, RoundRecord]]] = {}
    for number, record in failed:
        by_story.setdefault((record.blamed, _NUMBER.sub("", _story(record))), []).append((number, record))
    for found in by_story.values():
        stories = {_story(record) for _, record in found}
        which = "" if len(stories) == 1 else "in the last one "
        yield f"{words.count(len(found), 'round')} failed, in no interval: {which}{_story(found[-1][1])}"
        if quoted := [(number, record) for number, record in found if record.logs]:
            yield _quoted(run, *quoted[-1])


def _story(record: RoundRecord) -> str:
    return record.story or "without a story"


def _quoted(run: RunRecord, number: int, record: RoundRecord) -> str:
    said = [
        f"{words.arm_label(run.arms[log.arm])} said {' | '.join(lines)}"
        for log in record.logs
        if (lines := last_words(log.text))
    ]
    found = "; ".join(said) or "no server told of an error"
    return f"in round {number}, which failed, {found}; `pgverdict logs {run.id}` shows all that is kept"


def logs_screen(run: RunRecord) -> str:
    """All that is kept of what servers wrote in the failed rounds of a run, round by round and arm by arm."""
    lines = []
    for cell in run.cells:
        for number, record in enumerate(cell.rounds, 1):
            if record.state is not RoundState.FAILED:
                continue
            lines.append(f"== {cell.spec.key}, round {number}: {record.story or 'without a story'}")
            if not record.logs:
                lines.append("no server had started that wrote a log which is ours to read")
            for log in record.logs:
                lines += [f"-- {words.arm_label(run.arms[log.arm])}", log.text.rstrip("\n")]
            lines.append("")
    return words.visible("\n".join(lines)) if lines else f"no round of run {run.id} failed\n"
