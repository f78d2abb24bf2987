"""Which row of pg_stat_statements counts which statement.

A row has the text that its statement was first met with since the last reset. That is the text as it was sent, or, if
the server has analysed it since then, one in which constants stand as parameters:

    sent        UPDATE t SET k = k + 1 WHERE id = $1
    9.6         UPDATE t SET k = k + ? WHERE id = $1
    since 10    UPDATE t SET k = k + $2 WHERE id = $1

From 18 on `IN (1, 2, 3)` is `IN ($1 /*, ... */)` then, and all parameters are numbered anew. Which constants count as
such (that of LIMIT does, that of ORDER BY does not) is the server's affair: it is read from the row, place by place.
Statements that differ in nothing but constants, since 18 also in how many there are in a list, or in constants here and
parameters there, are counted in one row together, which says nothing of either.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

Counts = TypeVar("Counts")

_TOKENS = re.compile(
    r"""
    (?P<squashed>/\*,[ ]\.\.\.[ ]\*/)
  | (?P<space>\s+ | --[^\n]* | /\*.*?\*/)
  | (?P<constant> [Ee]'(?:[^'\\]|''|\\.)*'
                | (?:[BbXxNn]|[Uu]&)?'(?:[^']|'')*'(?:\s*\n\s*'(?:[^']|'')*')*
                | \$(?P<tag>(?:[^\W\d]\w*)?)\$.*?\$(?P=tag)\$
                | 0[xXoObB][0-9A-Fa-f_]+
                | (?:\d[\d_]*\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)
  | (?P<parameter>\$\d+)
  | (?P<word>[^\W\d][\w$]*)
  | (?P<quoted>"(?:[^"]|"")*")
  | (?P<sign>.)
    """,
    re.VERBOSE | re.DOTALL,
)
_CONSTANT_WORDS = ("true", "false", "null")
_OPEN, _CLOSED = ("(", "["), (")", "]")


@dataclass(frozen=True)
class _Token:
    kind: str
    text: str

    @property
    def number(self) -> int:
        """Of a parameter; 0 of anything else."""
        return int(self.text[1:]) if self.kind == "parameter" else 0

    @property
    def is_constant(self) -> bool:
        return self.kind == "constant" or (self.kind == "word" and self.text in _CONSTANT_WORDS)


def assign_counts(statements: Iterable[str], rows: Sequence[tuple[str, Counts]]) -> dict[str, Counts]:
    """What was counted of each statement that has a row of its own, by its text as it was prepared.

    `rows`: the texts of pg_stat_statements, with what it counted under each. `statements`: all that were executed.

    >>> assign_counts(["SELECT 1 + $1", "SELECT 'a'", "SELECT 'b'"], [("SELECT $2 + $1", 7.5), ("SELECT $1", 8.5)])
    {'SELECT 1 + $1': 7.5}
    """
    own = {text: _read(text) for text in statements}
    missing = own.keys() - {text for text, _ in rows}
    # As a rule nothing is missing, and the texts of everything else that a server did need not be read.
    read = [(_read(text), counts) for text, counts in rows if missing or text in own]
    exact = {text: [row for row in read if row[0] == tokens] for text, tokens in own.items()}
    taken = [row[0] for found in exact.values() for row in found]
    found = {
        text: exact[text] or [row for row in read if row[0] not in taken and _is_of(row[0], tokens)]
        for text, tokens in own.items()
    }
    return {
        text: rows_found[0][1]
        for text, rows_found in found.items()
        if len(rows_found) == 1 and not _is_shared(rows_found[0][0], text, own, found)
    }


def _is_shared(
    row: list[_Token],
    text: str,
    own: dict[str, list[_Token]],
    found: dict[str, list[tuple[list[_Token], Counts]]],
) -> bool:
    """Whether another statement has the same row, or has none and differs from this one in values only."""
    return any(
        any(one[0] is row for one in found[other])
        or (not found[other] and _skeleton(tokens) == _skeleton(own[text]))
        for other, tokens in own.items()
        if other != text and tokens != own[text]
    )


def _read(text: str) -> list[_Token]:
    found = [(match.lastgroup or "", match[0]) for match in _TOKENS.finditer(text)]
    tokens = [
        _Token(kind, text.lower() if kind == "word" else text) for kind, text in found if kind != "space"
    ]
    while tokens and tokens[-1].text == ";":
        tokens.pop()
    return tokens


def _is_of(row: list[_Token], own: list[_Token]) -> bool:
    """Whether a row's text may be made of a statement's."""
    renumbered = any(token.kind == "squashed" for token in row)
    most = max((token.number for token in own), default=0)
    at = 0
    for number, token in enumerate(row):
        if token.kind == "squashed":
            continue
        here = own[at] if at < len(own) else None
        if number + 1 < len(row) and row[number + 1].kind == "squashed":
            end = _end_of_list(own, at)
        elif renumbered and token.kind == "parameter":
            end = at + 1 if here and here.kind == "parameter" else _end_of_constant(own, at)
        elif token == here:
            end = at + 1
        elif token.text == "?" or token.number > most:
            end = _end_of_constant(own, at)
        else:
            end = at
        if end == at:
            return False
        at = end
    return at == len(own)


def _end_of_constant(tokens: list[_Token], at: int) -> int:
    """Where a constant that begins there ends, its sign included; `at` if none begins there."""
    first = at + (at < len(tokens) and tokens[at].text == "-")
    return first + 1 if first < len(tokens) and tokens[first].is_constant else at


def _end_of_list(tokens: list[_Token], at: int) -> int:
    """Where the list that begins there is closed."""
    depth = 0
    for end in range(at, len(tokens)):
        if tokens[end].text in _CLOSED and depth == 0:
            return end
        depth += (tokens[end].text in _OPEN) - (tokens[end].text in _CLOSED)
    return at


def _skeleton(tokens: list[_Token]) -> list[str]:
    """Without what a value is, and how many stand in a row."""
    left: list[str] = []
    for token in tokens:
        if token.kind != "parameter" and not token.is_constant:
            left.append(token.text)
            continue
        if left[-1:] == ["-"]:
            left.pop()
        if left[-2:] == ["$", ","]:
            left.pop()
        else:
            left.append("$")
    return left
