"""Equal warmth: every arm's data in memory before the first slice, and proof that it stayed there.

An arm whose pages were still on disk once made two equal servers look several times different, so warmth is
checked and not assumed. The opposite is in `coldness`, what lies between them in `turnover`.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from pgverdict.datasets.page_cache import locked
from pgverdict.errors import RoundFailed
from pgverdict.observe import views
from pgverdict.servers.outside import AnyServer
from pgverdict.servers.server import Server

# Objects of users have numbers from 16384 on: in any schema, with the overflow tables of their rows.
_RELATIONS = b"""
SELECT c.oid::pg_catalog.regclass::text
FROM pg_catalog.pg_class AS c
JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
WHERE c.oid >= 16384 AND n.nspname <> 'information_schema' AND c.relkind IN ('r', 'i', 't', 'm')
ORDER BY c.relkind DESC, c.relname
"""


STRAY_BYTES_MAX = 256 << 10
"""A host that reclaims page cache takes a page of a library or a catalog now and then; that is not a cold arm."""

AT_ONCE = os.cpu_count() or 1
"""So many arms read their data into memory side by side."""

ROOM_SHARE = 0.9
"""Of its memory, that a confined server has for data; the rest is its processes'."""


LOCKED_SHARE_MAX = 0.75
"""Of an arm's memory, data and shared buffers together: what is locked makes no room for what servers write."""

SERVER_BYTES = 64 << 20
CLIENT_BYTES = 16 << 20
"""What the processes of a server and each of its clients may want beside, `work_mem` apart. Of one that was killed at
223 MB they had 67, and 33 of shared memory that was not shared buffers, with two clients of tpcc."""

FULL_SHARE = 0.99
"""Of its memory: the kernel makes room a little before a server has all of it."""


@dataclass(frozen=True)
class Footprint:
    """What an arm's data wants of memory. Every page that is in shared buffers was in the page cache before."""

    data_bytes: int
    shared_buffers_bytes: int
    work_mem_bytes: int = 0

    @property
    def fits_shared_buffers(self) -> bool:
        """With room for what comes during the round."""
        return self.data_bytes < self.shared_buffers_bytes * 0.9

    def exceeds(self, memory_bytes: int | None) -> bool:
        """Whether a server confined to so much memory cannot hold all of it; not if it is not confined.

        >>> Footprint(160 << 20, 128 << 20).exceeds(256 << 20), Footprint(100 << 20, 16 << 20).exceeds(256 << 20)
        (True, False)
        """
        return memory_bytes is not None and self._wanted > ROOM_SHARE * memory_bytes

    def is_lockable(self, memory_bytes: int, clients: int) -> bool:
        """Whether so much memory has room for the processes, too, where none can be made: the kernel would kill them.

        >>> Footprint(192 << 20, 80 << 20, 32 << 20).is_lockable(384 << 20, clients=1)
        True
        >>> Footprint(120 << 20, 56 << 20, 40 << 20).is_lockable(223 << 20, clients=2)
        False
        """
        processes = SERVER_BYTES + clients * (CLIENT_BYTES + self.work_mem_bytes)
        return self._wanted <= min(LOCKED_SHARE_MAX * memory_bytes, memory_bytes - processes)

    @property
    def _wanted(self) -> int:
        return self.data_bytes + self.shared_buffers_bytes


def weigh(server: AnyServer, database: str) -> Footprint:
    """Without reading any of the data."""
    with views.session(server, database) as connection:
        return _footprint(connection)


def prewarm(server: AnyServer, database: str) -> Footprint:
    """Read the whole dataset, and wait for that: see `prewarming`."""
    with prewarming(server, database) as found:
        return found


@contextmanager
def prewarming(server: AnyServer, database: str) -> Iterator[Footprint]:
    """The server reads its whole dataset: into shared buffers where it fits, otherwise into the page cache.

    It does so while the context lasts, whose end waits for it; several servers read side by side.
    """
    with views.session(server, database) as connection:
        found = _footprint(connection)
        relations = []
        if views.has_extension(connection, "pg_prewarm"):
            relations = connection.execute(_RELATIONS).fetchall()
        # What is asked in a pipeline is sent at once, and answered by its end.
        with connection.pipeline():
            for (relation,) in relations:
                words = (relation, "buffer" if found.fits_shared_buffers else "read")
                connection.execute("SELECT pg_prewarm(%s::regclass, %s)", words)
            yield found


@contextmanager
def locking(server: AnyServer, found: Footprint, *, memory_bytes: int, clients: int) -> Iterator[bool | None]:
    """Keep an arm's data in the page cache while the context lasts; whether that was allowed. `memory_bytes`: what
    there is for this arm.

    None where there is no reason to: the data is in shared buffers, is not ours, or is too much for that memory.
    """
    is_lockable = found.is_lockable(memory_bytes, clients)
    if not isinstance(server, Server) or found.fits_shared_buffers or not is_lockable:
        yield None
        return
    with locked(server.data / "base") as is_locked:
        yield is_locked


def _footprint(connection: views.Connection) -> Footprint:
    return Footprint(
        views.database_bytes(connection),
        views.setting_bytes(connection, "shared_buffers"),
        views.setting_bytes(connection, "work_mem"),
    )


def check_warmth(
    arm: int,
    arm_name: str,
    *,
    storage_read_bytes: int,
    data_bytes: int,
    memory_bytes: int,
    memory_bytes_max: int | None = None,
) -> None:
    """RoundFailed if an arm had more than a stray page read from storage although memory had room for its data.

    `memory_bytes_max`: the most that a confined server used. One that used all it may, since what it wrote takes
    memory too, reads back what that displaced: such reads are its work and no lack of warmth.
    """
    is_full = memory_bytes_max is not None and memory_bytes_max >= FULL_SHARE * memory_bytes
    if storage_read_bytes > STRAY_BYTES_MAX and data_bytes < memory_bytes and not is_full:
        raise RoundFailed(
            f"arm {arm_name} read {storage_read_bytes} bytes from storage while it was measured,"
            f" although its {data_bytes} bytes of data fit into {memory_bytes} bytes of memory",
            arm=arm,
        )
