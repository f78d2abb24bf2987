"""What a session says of its own planning and locks, and how others get to know it.

A session counts the relations it has locked with a statement of its own transaction, and leaves the numbers where every
session can read them, in its application name: nothing is written, and no moment has to be met.
"""

from importlib.resources import files

from pgverdict.observe.views import Connection, has_extension

TRACKS_PLANNING = 130000
"""From this release on pg_stat_statements counts planning, if it is told to."""

TRACK_PLANNING = "SET pg_stat_statements.track_planning = on;"

# 16384 is the first number of a relation that is not the server's own.
COUNT_LOCKS = (
    "SELECT pg_catalog.set_config('application_name', (SELECT pg_catalog.concat_ws(' ', 'locked',"
    " count(DISTINCT l.relation), count(DISTINCT l.relation) FILTER (WHERE l.fastpath))"
    " FROM pg_catalog.pg_locks AS l WHERE l.pid = pg_catalog.pg_backend_pid() AND l.locktype = 'relation'"
    " AND l.relation >= 16384), false);"
)

_PLANNING = files("pgverdict.observe").joinpath("sql", "planning-13.sql")


def can_track_planning(connection: Connection) -> bool:
    """Whether sessions of this server, for which superusers work, can have their planning counted."""
    return connection.info.server_version >= TRACKS_PLANNING and has_extension(
        connection, "pg_stat_statements"
    )


def planning(connection: Connection) -> tuple[int, float]:
    """Plans made in the connected database since counts were reset, where they were tracked, and the us they took."""
    row = connection.execute(_PLANNING.read_bytes()).fetchone()
    assert row is not None
    return int(row[0]), float(row[1]) * 1e3


def relations_locked(connection: Connection, pid: int) -> tuple[int, int]:
    """What the session of that process counted last, with `COUNT_LOCKS`: relations locked, those by fast path."""
    row = connection.execute(
        "SELECT a.application_name FROM pg_catalog.pg_stat_activity AS a WHERE a.pid = %s", (pid,)
    ).fetchone()
    assert row is not None, f"no session of process {pid}"
    word, locked, fast_path = str(row[0]).split()
    assert word == "locked", row
    return int(locked), int(fast_path)
