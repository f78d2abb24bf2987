"""What a server used so far: processor, storage, WAL, and how large its tables are. For stretches of seconds."""

from collections.abc import Mapping
from dataclasses import dataclass

from pgverdict.observe import processes
from pgverdict.observe.cycles import look
from pgverdict.observe.views import Connection
from pgverdict.servers.server import Server


@dataclass(frozen=True)
class Usage:
    """So far. What ended processes used is in all of it but `switches`, which is by process."""

    cpu_ns: int
    switches: Mapping[int, int]
    storage_read_bytes: int
    storage_written_bytes: int
    wal_bytes: int
    tables_bytes: int


def read_usage(server: Server, connection: Connection) -> Usage:
    """As of now; the connection is to the database whose tables are meant."""
    looked = look(connection)
    pids = server.pids()
    voluntary, involuntary = processes.switches(pids)
    read, written = processes.storage_bytes(pids)
    return Usage(
        cpu_ns=processes.cpu_ns_with_ended(server.pid, pids),
        switches={pid: count + involuntary.get(pid, 0) for pid, count in voluntary.items()},
        storage_read_bytes=read,
        storage_written_bytes=written,
        wal_bytes=looked.wal_bytes,
        tables_bytes=sum(table.bytes for table in looked.tables.values()),
    )
