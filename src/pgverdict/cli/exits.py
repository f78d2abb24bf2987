"""How a command ends: whatever goes wrong becomes a message and an exit code.

Exit codes: 0 done, 1 the world failed, 2 the input is wrong, 3 --fail-on matched, 130 interrupted; 141 if
whoever read our output has gone, as for any program in a pipe.
"""

import codecs
import contextlib
import errno
import io
import os
import select
import sys
from typing import NoReturn

from pgverdict.errors import Interrupted, PgverdictError, WorldError
from pgverdict.servers import interruption

_READER_GONE = 141
_DISK_TROUBLE = (errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EROFS)


def run(arguments: list[str]) -> int:
    """Run one command, say what went wrong; the exit code."""
    _take_any_name()
    try:
        code = _invoke(arguments)
        _flush_output()
    except PgverdictError as error:
        return _show(error)
    except BrokenPipeError:
        if not _reader_is_gone():
            raise
        return _READER_GONE
    except OSError as error:
        if error.errno not in _DISK_TROUBLE:
            raise
        # What we print is the only thing written without a name.
        return _show(WorldError(f"cannot write {error.filename or 'standard output'}: {error.strerror}"))
    return code


def _take_any_name() -> None:
    """A file's name need not be UTF-8, nor a terminal take what a report is written in: neither ends a command."""
    if isinstance(sys.stdout, io.TextIOWrapper) and sys.stdout.errors == "strict":
        utf8 = codecs.lookup(sys.stdout.encoding).name == "utf-8"
        sys.stdout.reconfigure(errors="surrogateescape" if utf8 else "backslashreplace")


def interrupted() -> int:
    """Say so; the exit code."""
    return _show(Interrupted("interrupted"))


def leave(code: int) -> NoReturn:
    """End the process. What cannot be printed any more is dropped; Python would complain."""
    interruption.ignore()
    for descriptor, stream in ((1, sys.stdout), (2, sys.stderr)):
        try:
            if stream:  # None if it was closed before we began
                stream.flush()
        except (OSError, ValueError):
            nothing = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nothing, descriptor)
            os.close(nothing)
    if code == Interrupted.exit_code:
        # Python ends itself by SIGINT if the interrupt passed through an exec(), which imports are full of.
        os._exit(code)
    sys.exit(code)


def _invoke(arguments: list[str]) -> int:
    """Click's own way of running a command would hide interruptions, so its parts are called here."""
    import typer

    from pgverdict.cli.commands import app

    # Newer typers carry a click of their own, older ones import it: this is the one's ClickException.
    click_error = typer.BadParameter.__mro__[2]
    assert issubclass(click_error, Exception)
    command = typer.main.get_command(app)
    try:
        with command.make_context("pgverdict", arguments) as context:
            command.invoke(context)
    except typer.Exit as done:
        return done.exit_code
    except typer.Abort:
        raise KeyboardInterrupt from None
    except SystemExit as end:  # rich ends the program when nobody reads what it prints
        if isinstance(end.__context__, BrokenPipeError):
            return _READER_GONE
        raise
    except click_error as error:
        return _show_usage(error)
    return 0


def _show_usage(error: Exception) -> int:
    message = str(error.format_message())  # type: ignore[attr-defined]
    context = getattr(error, "ctx", None)
    if type(error).__name__ == "NoArgsIsHelpError":
        print(message, file=sys.stderr)
    else:
        text = message[:1].lower() + message[1:].rstrip(".")
        command = context.command_path if context else "pgverdict"
        print(f"error: {text}\nhint: see `{command} --help`", file=sys.stderr)
    return 2


def _show(error: PgverdictError) -> int:
    interruption.ignore()
    with contextlib.suppress(OSError):  # the terminal itself may be what has gone
        print(f"error: {error.message}", file=sys.stderr)
        if error.hint:
            print(f"hint: {error.hint}", file=sys.stderr)
    return error.exit_code


def _flush_output() -> None:
    if sys.stdout:
        sys.stdout.flush()


def _reader_is_gone() -> bool:
    """Whether what we print goes nowhere: a broken pipe elsewhere is an error of ours."""
    poll = select.poll()
    for descriptor in (1, 2):
        poll.register(descriptor, 0)
    return any(events & select.POLLERR for _, events in poll.poll(0))
