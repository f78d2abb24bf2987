"""Where servers' sockets lie: in a private directory whose path is short enough."""

import os
import tempfile
from pathlib import Path

from pgverdict.errors import WorldError
from pgverdict.servers.account import Account
from pgverdict.servers.interruption import shield
from pgverdict.servers.marked import mark

VARIABLE = "PGVERDICT_SOCKETS"

_PATH_BYTES_MAX = 107  # sun_path of unix(7), without its closing zero
_NAME_BYTES_MAX = 10  # of the directories that a run makes for its servers: workshop, meeting, slot0
_HINT = f"set {VARIABLE} to a directory of yours with a short path"


def socket_path(directory: Path, port: int) -> Path:
    """The socket that a server makes in a directory; WorldError if it, or a client, could not use it."""
    path = directory / f".s.PGSQL.{port}"
    if "," in str(path):
        raise WorldError(
            f"clients take a comma in the path of a socket for the end of a name: {path}",
            hint=f"set {VARIABLE} to a directory without one",
        )
    length = len(os.fsencode(path))
    if length > _PATH_BYTES_MAX:
        raise WorldError(
            f"the path of a server's socket has {length} bytes, and {_PATH_BYTES_MAX} is the most: {path}",
            hint=f"set {VARIABLE} to a shorter directory",
        )
    return path


def make_sockets(account: Account) -> Path:
    """A marked directory with a short path that only the servers' account (and root) may enter."""
    chosen = os.environ.get(VARIABLE)
    runtime = os.environ.get("XDG_RUNTIME_DIR") if account.is_self else None
    for place in (chosen, runtime, "/tmp"):
        if not place or (place != chosen and not os.access(place, os.W_OK | os.X_OK)):
            continue
        account.require_reach(Path(place), VARIABLE)
        try:
            with shield():
                return _make(Path(os.path.realpath(place)), account)
        except OSError as error:
            raise WorldError(
                f"cannot make a directory for sockets in {place}: {error.strerror}", hint=_HINT
            ) from error
    raise WorldError("found no directory for sockets: looked at $XDG_RUNTIME_DIR, /tmp", hint=_HINT)


def _make(place: Path, account: Account) -> Path:
    socket_path(place / "pgv-12345678" / ("x" * _NAME_BYTES_MAX), 5432)
    sockets = Path(tempfile.mkdtemp(prefix="pgv-", dir=place))
    try:
        mark(sockets)
        account.give(sockets)
    except OSError:
        for entry in sockets.iterdir():
            entry.unlink()
        sockets.rmdir()
        raise
    return sockets
