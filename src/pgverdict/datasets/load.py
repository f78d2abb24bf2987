"""Loading a dataset into a running, empty server: tables, rows by COPY, indexes, vacuum, in this order."""

from collections.abc import Callable

from pgverdict.engine.messages import TableLoaded
from pgverdict.engine.process import Engine, Where
from pgverdict.observe import views
from pgverdict.servers.cluster import SUPERUSER
from pgverdict.servers.server import Server
from pgverdict.workloads.workload import Dataset, Table

DATABASE = "bench"


def where(server: Server, database: str = DATABASE) -> Where:
    """How the engine reaches a server."""
    return Where(server.socket_directory, server.port, SUPERUSER, database)


def load(
    engine: Engine, server: Server, dataset: Dataset, scale: int, progress: Callable[[int, int], None]
) -> tuple[TableLoaded, ...]:
    """Load `dataset` into a new database of `server`; returns rows and digests, per table."""
    with views.session(server) as maintenance:
        maintenance.execute(f"CREATE DATABASE {DATABASE}".encode())
    with views.session(server, DATABASE) as connection:
        views.create_extensions(connection)
        connection.execute(dataset.tables_sql.encode())
    loaded = engine.load(where(server), _copy_steps(dataset.tables, scale), progress)
    with views.session(server, DATABASE) as connection:
        connection.execute(dataset.indexes_sql.encode())
        # FREEZE: otherwise the first reader of every page would set hint bits, and write.
        connection.execute("VACUUM (FREEZE, ANALYZE)")
        connection.execute("CHECKPOINT")
    return loaded


def _copy_steps(tables: tuple[Table, ...], scale: int) -> list[dict[str, object]]:
    # FREEZE wants the table truncated in the same transaction; so does skipping WAL where wal_level allows it.
    steps: list[dict[str, object]] = [{"sql": "BEGIN"}]
    steps += [{"sql": f"TRUNCATE {table.name}"} for table in tables]
    steps += [
        {"copy": f"COPY {table.name} FROM STDIN WITH (FREEZE on)", "rows": table.rows, "scale": scale}
        for table in tables
    ]
    return [*steps, {"sql": "COMMIT"}]
