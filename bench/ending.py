"""How a measurement ends: what went wrong becomes a message and an exit code, as in any command of the product."""

import sys
from collections.abc import Callable
from typing import NoReturn

from pgverdict.cli.exits import leave
from pgverdict.errors import Interrupted, PgverdictError, UserError
from pgverdict.servers import interruption


def run(command: Callable[[], None]) -> int:
    """The exit code."""
    try:
        command()
    except PgverdictError as error:
        return _complain(error)
    except KeyboardInterrupt:
        return _complain(
            Interrupted("interrupted", hint="the same command goes on; the repetition that ran is dropped")
        )
    return 0


def run_and_leave(command: Callable[[], None]) -> NoReturn:
    """The whole process is this command."""
    interruption.install()
    leave(run(command))


def check_minutes(minutes: float | None) -> None:
    """UserError for a time limit in which nothing could begin."""
    if minutes is not None and minutes <= 0:
        raise UserError(f"a time limit must be longer than nothing: {minutes:g}")


def _complain(error: PgverdictError) -> int:
    print(f"error: {error.message}", file=sys.stderr)
    if error.hint:
        print(f"hint: {error.hint}", file=sys.stderr)
    return error.exit_code
