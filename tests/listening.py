"""Ports for servers of a test's own, and their first connection."""

import contextlib
import random
import socket
import time
from pathlib import Path

import psycopg
import pytest

READY_S_MAX = 30


def free_port() -> int:
    """Below those that the system gives to clients, so that none of them takes it before the server."""
    for port in random.sample(range(20_000, 30_000), 100):
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port
    pytest.fail("no port is free")


def await_server(folder: Path, port: int) -> "psycopg.Connection[tuple[object, ...]]":
    """As its superuser by the socket in `folder`, whose neighbour `log` says why it is not there."""
    deadline = time.monotonic() + READY_S_MAX
    while True:
        try:
            return psycopg.connect(
                host=str(folder), port=port, user="postgres", dbname="postgres", autocommit=True
            )
        except psycopg.OperationalError:
            assert time.monotonic() < deadline, (folder.parent / "log").read_text()
            time.sleep(0.05)
