"""A known slow-down of one server: a library preloaded into it, which spins for every message a client sends.

The library (`handicap/` in the checkout) notes in a file what it really did. It is believed, and nothing else:
a server that was to be slowed down and was not is an error.

An arm with a handicap differs from the others in more than the spin: by a library in its memory, and by the size of
its environment, which shifts its stack. So where one arm has a handicap, all arms carry the library, the others with
0 ns: these count their messages and do not spin.
"""

import os
import shutil
import struct
import sys
from dataclasses import dataclass
from pathlib import Path

from pgverdict.errors import WorldError
from pgverdict.servers.account import Account

NAME = "libpgverdict_handicap.so"
ENGINE_VARIABLE = "PGVERDICT_ENGINE"

COUNTS_NAME = "handicap"

_PACKAGE = Path(__file__).resolve().parents[1]
_LINE = struct.Struct("=QQ48x")  # handicap/src/counts.rs
_LINES = 64
_MAGIC = int.from_bytes(b"handicap", sys.byteorder)


@dataclass(frozen=True)
class Handicap:
    """`library` is where the server's account can read it; `ns` is spun per message received, 0 only counts."""

    library: Path
    ns: int

    def environment(self, counts: Path) -> dict[str, str]:
        """What a server's environment holds beside the usual. As long for one arm as for another."""
        return {
            "LD_PRELOAD": str(self.library),
            "PGVERDICT_HANDICAP_NS": f"{self.ns:012}",
            "PGVERDICT_HANDICAP_COUNTS": str(counts),
        }


@dataclass(frozen=True)
class HandicapCounts:
    """What a server's library did so far: messages received from clients, and nanoseconds spun for them."""

    messages: int
    spun_ns: int

    def since(self, earlier: "HandicapCounts") -> "HandicapCounts":
        """What was done between two readings."""
        return HandicapCounts(self.messages - earlier.messages, self.spun_ns - earlier.spun_ns)


def find_library() -> Path:
    """Beside the engine: the one that the environment names, the package's, or the checkout's."""
    places = [_PACKAGE / "engine", _PACKAGE.parents[1] / "target" / "release"]
    if named := os.environ.get(ENGINE_VARIABLE):
        places.insert(0, Path(named).parent)
    for place in places:
        if (place / NAME).is_file():
            return place / NAME
    searched = ", ".join(str(place / NAME) for place in places)
    raise WorldError(
        f"no library for handicaps found; searched {searched}", hint="`./x setup` builds it in a checkout"
    )


def place_library(directory: Path) -> Path:
    """A copy of the library where servers can read it, made at the first call."""
    library = directory / NAME
    if not library.exists():
        found = find_library()
        shutil.copyfile(found, library)
        library.chmod(0o755)
    return library


def make_counts(directory: Path, account: Account) -> Path:
    """The file in which a server is to note what it does, with nothing in it yet."""
    path = directory / COUNTS_NAME
    path.unlink(missing_ok=True)  # an earlier server may still have it mapped
    path.write_bytes(bytes(_LINE.size * _LINES))
    path.chmod(0o600)
    account.give(path)
    return path


def read_counts(path: Path) -> HandicapCounts | None:
    """The sums over all processes of the server; None if the library was not loaded."""
    content = path.read_bytes()
    (magic, _), *lines = _LINE.iter_unpack(content)
    if magic != _MAGIC:
        return None
    return HandicapCounts(sum(messages for messages, _ in lines), sum(spun_ns for _, spun_ns in lines))


def check_counts(done: HandicapCounts | None, ns: int, *, whom: str) -> HandicapCounts:
    """WorldError unless the library was there, met messages and spun for each of them as long as it was to."""
    if done is None:
        raise WorldError(f"{whom} did not load the library that slows it down by {ns} ns per message")
    if done.messages <= 0:
        raise WorldError(f"{whom} was to be slowed down by {ns} ns per message, and received none")
    if (ns == 0) is not (done.spun_ns == 0) or done.spun_ns < ns * done.messages:
        raise WorldError(
            f"{whom} was to be slowed down by {ns} ns per message, and spun {done.spun_ns} ns for {done.messages}"
        )
    return done
