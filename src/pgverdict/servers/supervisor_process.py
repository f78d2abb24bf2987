"""What the supervisor's own process does: listen to its parent, and clean up when the pipe closes.

Orders come as JSON lines: {"watch": DIRECTORY}, {"remove": DIRECTORY}, {"run": a command as JSON
text}. Standard library only, and few of its modules: this starts in milliseconds and stays small.
"""

import contextlib
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

from pgverdict.errors import WorldError
from pgverdict.servers.marked import remove_tree
from pgverdict.servers.processes import end_all

_RUN_S_MAX = 10.0


def main() -> None:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        # Whoever asks our parent to end may ask us too; our work begins after its end.
        signal.signal(number, signal.SIG_IGN)
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    _leave_outputs()
    watched: dict[str, None] = {}
    removed: dict[str, None] = {}
    run: dict[str, None] = {}
    for line in sys.stdin:
        _obey(line, watched, removed, run)
    # Nobody is left to tell of an error; the next sweep finds what remained, and says so.
    with contextlib.suppress(OSError, WorldError):
        end_all(map(Path, watched))
    for command in run:
        with contextlib.suppress(OSError, ValueError, subprocess.TimeoutExpired):
            subprocess.run(json.loads(command), check=False, timeout=_RUN_S_MAX, stdin=subprocess.DEVNULL)
    for directory in removed:
        with contextlib.suppress(OSError, WorldError):
            remove_tree(Path(directory))


def _obey(line: str, watched: dict[str, None], removed: dict[str, None], run: dict[str, None]) -> None:
    try:
        orders = json.loads(line)
    except ValueError:
        return  # the parent was killed in the middle of a line
    for verb, directory in orders.items():
        if verb == "watch":
            watched[directory] = None
        elif verb == "remove":
            removed[directory] = None
        elif verb == "run":
            run[directory] = None


def _leave_outputs() -> None:
    """The pipes to the parent have served; a message written there would be the end of us."""
    nothing = os.open(os.devnull, os.O_WRONLY)
    for descriptor in (1, 2):
        os.dup2(nothing, descriptor)
    os.close(nothing)
