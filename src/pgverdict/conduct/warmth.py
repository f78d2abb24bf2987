"""Equal warmth: every arm's data in memory before the first slice, and proof that it stayed there.

An arm whose pages were still on disk once made two equal servers look several times different, so warmth is
checked and not assumed.
"""

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


STRAY_BYTES_MAX = 256 << 10
"""A host that reclaims page cache takes a page of a library or a catalog now and then; that is not a cold arm."""


def prewarm(server: Server, database: str) -> int:
    """Read the whole dataset: into shared buffers where it fits, otherwise into the page cache. Its size in bytes."""
    with views.session(server, database) as connection:
        size = views.database_bytes(connection)
        fits = size < views.setting_bytes(connection, "shared_buffers") * 0.9
        if views.has_extension(connection, "pg_prewarm"):
            mode = "buffer" if fits else "read"
            for (relation,) in connection.execute(_RELATIONS).fetchall():
                connection.execute("SELECT pg_prewarm(%s::regclass, %s)", (relation, mode))
        return size


def check_warmth(
    arm: int, arm_name: str, *, storage_read_bytes: int, data_bytes: int, memory_bytes: int
) -> None:
    """RoundFailed if an arm had more than a stray page read from storage although memory had room for its data."""
    if storage_read_bytes > STRAY_BYTES_MAX and data_bytes < memory_bytes:
        raise RoundFailed(
            f"arm {arm_name} read {storage_read_bytes} bytes from storage while it was measured,"
            f" although its {data_bytes} bytes of data fit into {memory_bytes} bytes of memory",
            arm=arm,
        )
