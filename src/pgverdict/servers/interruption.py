"""Requests to end: Ctrl-C, a termination signal, a terminal that is closed.

The first becomes a KeyboardInterrupt in the main thread, wherever that is; further ones are ignored, since
what they would interrupt is the clean-up. What must not be left half done stands in a shield:

    with shield():
        ...  # a request that comes now is held back and raised at the end of the outermost shield

Where work begins that nobody wants any more once a request was made, `heed` asks whether one was: a
KeyboardInterrupt does not always arrive. Python drops those that strike in a finalizer, and an error in the clean-up
that it set off takes its place.

Without `install` signals do what they do in any Python program, and shields do nothing. Standard library
only: the supervisor's process imports this.
"""

import contextlib
import os
import signal
import threading
import time
from collections.abc import Iterator
from types import FrameType

_NUMBERS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

PATIENCE_S = 30.0
"""Who asks again so long after the first request is heard again, should we hang where nothing heeds."""

_asked_at: float | None = None
_said = False
_held = False
_depth = 0


def install() -> None:
    """From now on requests to end are met as described above. One that is ignored (nohup) stays ignored."""
    for number in _NUMBERS:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _receive)


def ignore() -> None:
    """From now on requests to end are ignored: we are ending."""
    for number in _NUMBERS:
        signal.signal(number, signal.SIG_IGN)


def is_held_back() -> bool:
    """Whether a request waits for the end of the shield we are in: what is done in it should not dawdle."""
    return _held


def heed() -> None:
    """Raise KeyboardInterrupt if a request was made, be it the second time. Not for use in a clean-up."""
    if _asked_at is not None and not _depth:
        raise KeyboardInterrupt


@contextlib.contextmanager
def shield() -> Iterator[None]:
    """Hold requests to end back until the block is over. Shields nest; only the main thread needs them."""
    global _depth, _held
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    _depth += 1
    try:
        yield
    finally:
        _depth -= 1
        if _depth == 0 and _held:
            _held = False
            raise KeyboardInterrupt


def _receive(_number: int, _frame: FrameType | None) -> None:
    global _asked_at, _held, _said
    now = time.monotonic()
    if _asked_at is not None and now - _asked_at < PATIENCE_S:
        if not _said:
            _said = True
            with contextlib.suppress(OSError):  # the terminal may be gone
                os.write(2, b"stopping; a moment\n")  # a buffered stream may be in use at this very moment
        return
    _asked_at = now
    if _depth:
        _held = True
        return
    raise KeyboardInterrupt
