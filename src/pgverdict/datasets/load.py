"""Loading a dataset into a running, empty server: tables, rows by COPY, indexes, vacuum, in this order."""

from collections.abc import Callable
from typing import Any

from pgverdict.datasets.restore import restore
from pgverdict.engine.messages import TableLoaded
from pgverdict.engine.process import Engine, Named, Where
from pgverdict.errors import UserError
from pgverdict.observe import views
from pgverdict.servers.cluster import SUPERUSER
from pgverdict.servers.outside import AnyServer, OutsideServer
from pgverdict.workloads.workload import Dataset, Table

DATABASE = "bench"

Step = dict[str, Any]
"""Of a load, as the engine takes it."""


def where(server: AnyServer, database: str = DATABASE) -> Where | Named:
    """How the engine reaches a server."""
    if isinstance(server, OutsideServer):
        return Named(server.stay.dsn, server.names[database], server.stay.password)
    return Where(server.socket_directory, server.port, SUPERUSER, database)


def load(
    engine: Engine,
    server: AnyServer,
    dataset: Dataset,
    scale: int,
    progress: Callable[[int, int], None],
) -> tuple[TableLoaded, ...]:
    """Load `dataset` into a new database of `server`; returns rows and digests, per table."""
    make_tables(server, dataset, scale)
    loaded = engine.load(where(server), lanes(dataset, scale), progress) if dataset.tables else ()
    if dataset.rows_sql:
        with views.session(server, DATABASE) as connection:
            views.execute_script(connection, dataset.rows_sql, "the SQL of the load")
    if dataset.dump is not None:
        if isinstance(server, OutsideServer):
            raise UserError(
                f"a dump is not restored into a server that somebody else runs: {dataset.dump.path}",
                hint="give the same data as SQL: --schema FILE --load FILE",
            )
        restore(dataset.dump, server, DATABASE)
    finish(server, dataset)
    return loaded


def make_tables(server: AnyServer, dataset: Dataset, scale: int) -> None:
    """A new database of `server`, with empty tables."""
    server.create_database(DATABASE)
    with views.session(server, DATABASE) as connection:
        views.create_extensions(connection, shared=isinstance(server, OutsideServer))
        views.execute_script(connection, dataset.tables_sql_at(scale), "the schema")


def finish(server: AnyServer, dataset: Dataset) -> None:
    """What comes when the rows are there: indexes and keys, vacuum, a checkpoint."""
    with views.session(server, DATABASE) as connection:
        views.execute_script(connection, dataset.indexes_sql, "the indexes")
        # FREEZE: otherwise the first reader of every page would set hint bits, and write.
        connection.execute("VACUUM (FREEZE, ANALYZE)")
        views.checkpoint(connection)


def lanes(dataset: Dataset, scale: int) -> list[list[Step]]:
    """What each connection does. A table that is loaded in shares is frozen by the vacuum that follows."""
    if dataset.lanes == 1:
        return [_whole(dataset, dataset.tables, scale)]
    parts = [
        _whole(dataset, (table,), scale) if table.shares == 1 else [_copy(table, scale, "", number)]
        for table in dataset.tables
        for number in range(table.shares)
    ]
    dealt = [parts[number :: dataset.lanes] for number in range(dataset.lanes)]
    return [[step for part in own for step in part] for own in dealt if own]


def _whole(dataset: Dataset, tables: tuple[Table, ...], scale: int) -> list[Step]:
    # FREEZE wants the table truncated in the same transaction; so does skipping WAL where wal_level allows it.
    names = ", ".join(table.name for table in tables)  # at once, as foreign keys want it
    copies = [_copy(table, scale, _freeze(dataset, table)) for table in tables]
    return [{"sql": "BEGIN"}, {"sql": f"TRUNCATE {names}"}, *copies, {"sql": "COMMIT"}]


def _copy(table: Table, scale: int, options: str, number: int | None = None) -> Step:
    return {
        "copy": f"COPY {table.name} FROM STDIN{options}",
        "rows": table.rows,
        "parameters": {"scale": scale, **dict(table.parameters)},
        "share": {"number": 0, "of": 1} if number is None else {"number": number, "of": table.shares},
    }


def _freeze(dataset: Dataset, table: Table) -> str:
    """Partitioned tables do not take it: there the vacuum that follows freezes."""
    partitioned = dataset.partitioning is not None and dataset.partitioning.table == table.name
    return "" if partitioned else " WITH (FREEZE on)"
