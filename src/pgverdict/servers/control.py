"""What the control file of a stopped cluster says, and what follows for its WAL.

Ready-made builds have neither pg_controldata nor pg_resetwal. The fields read here lie at the same place
in 9.6 to 18, but for one that 11 dropped (seen on 9.6, 12, 17 and 18; the tests look at 9.6, 17 and 18).
"""

import re
import struct
from dataclasses import dataclass
from pathlib import Path

from pgverdict.errors import WorldError
from pgverdict.servers import processes

SHUT_DOWN = 1
"""The state of a cluster after a clean shutdown (DB_SHUTDOWNED in pg_control.h)."""

_STATES = (
    "starting up",
    "shut down",
    "shut down in recovery",
    "shutting down",
    "in crash recovery",
    "in archive recovery",
    "in production",
)
_VERSION_11 = 1100  # dropped prevCheckPoint (8 bytes) before the copy of the checkpoint
_RECORD_BYTES_MAX = 8192  # a checkpoint record has about 120 bytes; it may run on into the next segment


@dataclass(frozen=True)
class Control:
    """`checkpoint` and `redo` are positions in the WAL, as bytes from its beginning."""

    system_identifier: int
    version: int
    catalog_version: int
    state: int
    checkpoint: int
    redo: int
    timeline: int
    wal_segment_bytes: int

    @property
    def state_name(self) -> str:
        return _STATES[self.state] if self.state < len(_STATES) else f"unknown ({self.state})"


def read_control(data: Path) -> Control:
    """The control file of a cluster. Meant for a stopped one: a running one changes it under our eyes."""
    path = data / "global" / "pg_control"
    content = path.read_bytes()
    identifier, version, catalog, state = struct.unpack_from("=QIII", content, 0)
    (checkpoint,) = struct.unpack_from("=Q", content, 32)
    redo, timeline = struct.unpack_from("=QI", content, 40 if version >= _VERSION_11 else 48)
    # The block sizes follow a floating point number that is there to prove the float format. What lies
    # before it grew with the releases, so it is looked for.
    anchor = content.find(struct.pack("=d", 1234567.0))
    if anchor < 0:
        raise WorldError(f"not a control file of PostgreSQL on this kind of machine: {path}")
    (segment,) = struct.unpack_from("=I", content, anchor + 20)
    if segment == 0 or segment & (segment - 1) or not 900 <= version <= 9999:
        raise WorldError(
            f"cannot read the control file: {path} (version {version}, WAL segments of {segment})"
        )
    return Control(identifier, version, catalog, state, checkpoint, redo, timeline, segment)


def trim_wal(data: Path) -> int:
    """Delete the WAL that a cleanly stopped cluster does not need to start; the bytes that were freed.

    It needs the segment with its shutdown checkpoint. Older ones, and those recycled for the future, make
    templates large and copies slow.
    """
    control = read_control(data)
    if running := processes.running_in(data):
        raise WorldError(f"will not trim the WAL of a running server: {data}, process {running[0]}")
    if control.state != SHUT_DOWN or control.redo != control.checkpoint:
        raise WorldError(f"will not trim the WAL of an unclean cluster: {data} is {control.state_name}")
    needed = _needed_segments(control)
    folder = wal_directory(data)
    if not (folder / needed[0]).exists():
        raise WorldError(f"the WAL segment with the last checkpoint is missing: {folder / needed[0]}")
    freed = 0
    for path in folder.iterdir():
        if re.fullmatch(r"[0-9A-F]{24}", path.name) and path.name not in needed:
            freed += path.stat().st_size
            path.unlink()
    return freed


def wal_directory(data: Path) -> Path:
    """pg_wal, called pg_xlog before release 10."""
    new = data / "pg_wal"
    return new if new.exists() else data / "pg_xlog"


def _needed_segments(control: Control) -> list[str]:
    first = control.checkpoint // control.wal_segment_bytes
    last = (control.checkpoint + _RECORD_BYTES_MAX) // control.wal_segment_bytes
    return [_segment_name(control, number) for number in range(first, last + 1)]


def _segment_name(control: Control, number: int) -> str:
    """As the server names it: timeline, then the position in units of 4 GB, then the segment in those."""
    high, low = divmod(number, 0x1_0000_0000 // control.wal_segment_bytes)
    return f"{control.timeline:08X}{high:08X}{low:08X}"
