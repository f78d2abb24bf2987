"""What is done to a server's tables between stretches of work, in the words of its release."""

from importlib.resources import files

from psycopg import sql

from pgverdict.observe.views import Connection

_SQL = files("pgverdict.observe").joinpath("sql")
_VACUUM_STEPS = ((12, "vacuum-12.sql"), (9, "vacuum-9.6.sql"))


def vacuum(connection: Connection, table: str) -> None:
    """Vacuum a table with all its indexes, and analyze it."""
    major = connection.info.server_version // 10000
    name = next(name for since, name in _VACUUM_STEPS if major >= since)
    command = _SQL.joinpath(name).read_text(encoding="utf-8").rstrip()
    connection.execute(sql.SQL("{} {}").format(sql.SQL(command), sql.Identifier(table)))


def checkpoint(connection: Connection) -> None:
    """Have everything on storage, now."""
    connection.execute("CHECKPOINT")
