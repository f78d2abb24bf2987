"""Waiting until those have left who tried a server when it started.

A connection that was closed is not gone: its backend ends when the kernel next lets it run.
"""

import time
from typing import Any

import psycopg

PATIENCE_S = 30
OTHERS = "SELECT pid FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname IS NOT NULL"
"""Processes of the server's own have no database, but for workers of autovacuum."""


def await_leaving(connection: "psycopg.Connection[tuple[Any, ...]]") -> None:
    """Returns when this is the only connection to its server."""
    deadline = time.monotonic() + PATIENCE_S
    while others := connection.execute(OTHERS).fetchall():
        assert time.monotonic() < deadline, f"{others} have not left after {PATIENCE_S} s"
