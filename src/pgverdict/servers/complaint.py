"""What a server that failed complained of, found in its log."""

import re

_LINES_MAX = 12
_PREFIX = re.compile(r"^\d{4}-\S+ \S+ \S+ \[\d+\] ")
_LEVEL = re.compile(r"^(?:FATAL|PANIC|ERROR|LOG|WARNING|DETAIL|HINT|CONTEXT):\s+")
_USUAL = re.compile(r"starting PostgreSQL|listening on|database system (?:is|was) |shutting down")


def complaint_in(log: str) -> str:
    """The last lines of a log in one, without the usual: its directory, and the log with it, may be gone soon.

    >>> complaint_in("2026-11-21 10:00:00.123 UTC [7] LOG:  starting PostgreSQL 17.7 on x86_64\\n"
    ...              "2026-11-21 10:00:00.124 UTC [7] FATAL:  could not map memory: Cannot allocate memory")
    'could not map memory: Cannot allocate memory'
    """
    lines = (_LEVEL.sub("", _PREFIX.sub("", line)).strip() for line in log.splitlines())
    said = [line for line in lines if line and not _USUAL.match(line)]
    return "; ".join(said[-_LINES_MAX:])
