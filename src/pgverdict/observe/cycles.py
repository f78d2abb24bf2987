"""Checkpoints and vacuums: what a server goes through while it works, looked at every now and then.

    watch = Watch(connection)
    ...
    watch.look()
    watch.checkpoints, watch.vacuums("pgbench_accounts"), watch.hot

A checkpoint counts when it is finished, which the control file says in every release at once. The counters of
pg_stat_bgwriter and pg_stat_checkpointer count it when it begins. Two that end between two looks count once.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from importlib.resources import files

from pgverdict.observe.views import Connection

_SQL = files("pgverdict.observe").joinpath("sql")
_WAL_STEPS = ((10, "wal-10.sql"), (9, "wal-9.6.sql"))


@dataclass(frozen=True)
class TableState:
    """A table at one look; rows as the server estimates them, `changes` are rows updated or deleted so far."""

    changes: int
    live_rows: int
    dead_rows: int
    vacuums: int
    """Finished by autovacuum so far."""
    bytes: int
    """With its indexes."""


@dataclass(frozen=True)
class Look:
    """A server at one moment."""

    wal_bytes: int
    """Written since the cluster was made, about: where the next record goes."""
    checkpoint: str
    """Where the last finished checkpoint is in the WAL."""
    tables: dict[str, TableState]


def look(connection: Connection) -> Look:
    """Ask for all of it; two short queries."""
    major = connection.info.server_version // 10000
    name = next(name for since, name in _WAL_STEPS if major >= since)
    row = connection.execute(_SQL.joinpath(name).read_bytes()).fetchone()
    assert row is not None
    tables = connection.execute(_SQL.joinpath("tables-9.6.sql").read_bytes()).fetchall()
    return Look(
        wal_bytes=row[0],
        checkpoint=row[1],
        tables={name: TableState(*map(int, counts)) for name, *counts in tables},
    )


class Watch:
    """What happened since `begin` (at first: since it was made), as of the last look."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._unchanged = look(connection)
        self.hot: frozenset[str] = frozenset()
        """Tables of which rows were updated or deleted since the watch was made."""
        self.first = self.last = self._unchanged
        self.checkpoints = 0

    def look(self) -> None:
        """Look again."""
        before, self.last = self.last, look(self._connection)
        self.checkpoints += before.checkpoint != self.last.checkpoint
        self.hot = frozenset(
            name
            for name, table in self.last.tables.items()
            if name not in self._unchanged.tables or table.changes > self._unchanged.tables[name].changes
        )

    def begin(self) -> None:
        """Look, and count from here on. What was found hot stays so."""
        self.look()
        self.first, self.checkpoints = self.last, 0

    @property
    def wal_bytes(self) -> int:
        """WAL written."""
        return self.last.wal_bytes - self.first.wal_bytes

    def vacuums(self, table: str) -> int:
        """Vacuums of a table that autovacuum finished."""
        return self.last.tables[table].vacuums - self.first.tables[table].vacuums

    def covers(self, tables: Iterable[str], *, checkpoints: int, vacuums: int) -> bool:
        """Whether there were so many checkpoints, and so many vacuums of each of the tables."""
        return self.checkpoints >= checkpoints and all(self.vacuums(name) >= vacuums for name in tables)
