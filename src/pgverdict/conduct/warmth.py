"""Equal warmth: every arm's data in memory before the first slice, and proof that it stayed there.

An arm whose pages were still on disk once made two equal servers look several times different, so warmth is
checked and not assumed.
"""

from dataclasses import dataclass

from pgverdict.errors import RoundFailed
from pgverdict.observe import views
from pgverdict.servers.server import Server

_RELATIONS = b"""
SELECT c.oid::pg_catalog.regclass::text
FROM pg_catalog.pg_class AS c
JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
WHERE n.nspname = 'public' AND c.relkind IN ('r', 'i', 't', 'm')
ORDER BY c.relkind DESC, c.relname
"""


@dataclass(frozen=True)
class Room:
    """How an arm's data relates to memory."""

    data_bytes: int
    fits_shared_buffers: bool


def prewarm(server: Server, database: str) -> Room:
    """Read the whole dataset: into shared buffers where it fits, otherwise into the page cache."""
    with views.session(server, database) as connection:
        size = views.database_bytes(connection)
        fits = size < views.setting_bytes(connection, "shared_buffers") * 0.9
        if views.has_extension(connection, "pg_prewarm"):
            mode = "buffer" if fits else "read"
            for (relation,) in connection.execute(_RELATIONS).fetchall():
                connection.execute("SELECT pg_prewarm(%s::regclass, %s)", (relation, mode))
        return Room(size, fits)


def check_warmth(arm_name: str, *, storage_read_bytes: int, data_bytes: int, memory_bytes: int) -> None:
    """RoundFailed if an arm had storage read although memory had room for its data."""
    if storage_read_bytes > 0 and data_bytes < memory_bytes:
        raise RoundFailed(
            f"arm {arm_name} read {storage_read_bytes} bytes from storage while it was measured,"
            f" although its {data_bytes} bytes of data fit into {memory_bytes} bytes of memory"
        )
