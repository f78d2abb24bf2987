"""Everything that can go wrong and is not a bug.

    PgverdictError
    ├── UserError         the input is wrong: names it, offers the nearest valid word   (exit 2)
    └── WorldError        the world failed: says what was tried and what to do          (exit 1)
        ├── RoundFailed   one round could not be measured; the run goes on without it
        ├── Incomplete    a run ended, and not everything that was asked for could be measured
        └── Interrupted   Ctrl-C or a termination signal; what was measured is kept     (exit 130)

A message is lower case, says what was tried and ends with the value; the hint stands apart:

    raise WorldError("cannot start PostgreSQL 18.0: the socket path has 120 bytes",
                     hint="set PGVERDICT_SOCKETS to a shorter directory")

Bugs are assertions and tracebacks: nothing here is for them.
"""

import difflib
from collections.abc import Iterable


class PgverdictError(Exception):
    """The root; carries a message, and a hint where there is something to do."""

    exit_code = 1

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class UserError(PgverdictError):
    """The input is wrong."""

    exit_code = 2


class WorldError(PgverdictError):
    """The input is right and the world did not go along."""


class RoundFailed(WorldError):
    """One round could not be measured. It is kept as failed, with its story, and repeated.

    `arm`: the one whose server or connection failed; None if that is not known, or no arm's fault.
    """

    def __init__(self, message: str, *, arm: int | None = None, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.arm = arm


class Incomplete(WorldError):
    """The run of this id ended and has a report, but some cells or arms are missing in it."""

    def __init__(self, message: str, *, run_id: str, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.run_id = run_id


class Interrupted(WorldError):
    """Somebody asked the run to stop."""

    exit_code = 130


def unknown_word(kind: str, word: str, known: Iterable[str]) -> UserError:
    """The error for a word that is not one of `known`, with the nearest one offered.

    >>> print(unknown_word("workload", "selct-only", ["select-only", "simple-update"]))
    unknown workload: selct-only
    """
    words = sorted(known)
    near = difflib.get_close_matches(word, words, n=1)
    hint = f"did you mean {near[0]}?" if near else f"known: {', '.join(words)}"
    return UserError(f"unknown {kind}: {word}", hint=hint)
