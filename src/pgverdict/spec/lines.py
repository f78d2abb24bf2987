"""On which line of a TOML file a key stands; `tomllib` does not say.

The file is read again up to every line: where a beginning of it is whole and holds the key for the first time, the
statement that made it ends. So nothing here knows TOML's grammar, and a file is read as many times as it has lines,
once something is wrong with it.

>>> text = 'name = "a"\\n\\n[[workload]]\\nname = "select-only"\\nclients = [\\n  1,\\n]\\n'
>>> line_of(text, ("workload", 0, "clients"))
5
"""

import re
import tomllib
from collections.abc import Sequence
from typing import Any

Path = Sequence[str | int]
"""Keys and, in arrays, numbers from 0."""


def line_of(text: str, path: Path) -> int:
    """The line (from 1) on which the statement begins that gives `path` its value, or the nearest table above it."""
    lines = text.splitlines(keepends=True)
    for depth in range(len(path), 0, -1):
        found = _first_line(lines, path[:depth])
        if found is not None:
            return found
    return 1


def line_of_error(error: tomllib.TOMLDecodeError, text: str) -> tuple[int, str]:
    """The line of what is no TOML, and what the parser says of it.

    >>> broken = 'a = 1\\nb = \\n'
    >>> try:
    ...     tomllib.loads(broken)
    ... except tomllib.TOMLDecodeError as error:
    ...     line_of_error(error, broken)
    (2, 'invalid value')
    """
    said = str(error)
    match = re.search(r"\s*\(at (?:line (\d+), column \d+|end of document)\)$", said)
    line = int(match[1]) if match and match[1] else max(1, len(text.splitlines()))
    words = said[: match.start()] if match else said
    return line, words[:1].lower() + words[1:]


def _first_line(lines: Sequence[str], path: Path) -> int | None:
    begins = 0
    for end in range(1, len(lines) + 1):
        try:
            read = tomllib.loads("".join(lines[:end]))
        except tomllib.TOMLDecodeError:
            continue  # in the middle of a statement
        if _holds(read, path):
            return _first_of_statement(lines, begins, end)
        begins = end
    return None


def _first_of_statement(lines: Sequence[str], begins: int, end: int) -> int:
    """Blank lines and comments are whole by themselves, so the statement begins where the last whole part ended."""
    return next(
        (n + 1 for n in range(begins, end) if lines[n].strip() and not lines[n].lstrip().startswith("#")), end
    )


def _holds(read: Any, path: Path) -> bool:
    for step in path:
        if isinstance(step, int):
            found = isinstance(read, list) and step < len(read)
        else:
            found = isinstance(read, dict) and step in read
        if not found:
            return False
        read = read[step]
    return True
