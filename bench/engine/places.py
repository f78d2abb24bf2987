"""Servers to be measured against: one that does nothing, and a real one. Both end with this process."""

import os
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.verdicts.measure import ROOT
from pgverdict.errors import WorldError
from pgverdict.run.site import Site
from pgverdict.servers.account import server_account
from pgverdict.servers.cluster import create_cluster
from pgverdict.servers.home import Home
from pgverdict.servers.obtain import obtain
from pgverdict.servers.server import Server
from pgverdict.servers.workspace import Workspace

NULL_SERVER = ROOT / "target" / "release" / "pgverdict-null-server"
PORT = 5432
SETTINGS = {
    "shared_buffers": "1GB",
    "max_connections": "300",
    "autovacuum": "off",
    "fsync": "off",
    "max_wal_size": "8GB",
    # WAL files are kept for whoever writes next, as a server that has run a while has them: break_in().
    "min_wal_size": "8GB",
    "wal_level": "replica",
}


@contextmanager
def null_server(core: int) -> Iterator[Path]:
    """Its socket's directory. It runs on one core, alone there."""
    with tempfile.TemporaryDirectory(prefix="pgv-null-") as directory:
        socket = Path(directory) / f".s.PGSQL.{PORT}"
        with subprocess.Popen(
            [NULL_SERVER, socket], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as process:
            assert process.stdout is not None
            assert process.stdin is not None
            if process.stdout.readline() != "ready\n":
                raise WorldError(f"the null server did not start: {NULL_SERVER}", hint="./x setup builds it")
            os.sched_setaffinity(process.pid, {core})
            try:
                yield Path(directory)
            finally:
                process.stdin.close()


def break_in(server: Server) -> None:
    """WAL written so far becomes files to write WAL to, and no page waits to be written.

    A server makes new WAL files one at a time, by filling them with zeroes, while all who want to write WAL wait.
    """
    with server.connect() as connection:
        connection.execute("CHECKPOINT")


@contextmanager
def real_server(spelling: str, **settings: str) -> Iterator[Server]:
    """A fresh cluster of a release, running, in a workspace that goes with it."""
    account, home = server_account(), Home.find()
    home.ensure(account)
    install = obtain(spelling, home)
    with Workspace.create(home, account) as workspace:
        site = Site(home, account, workspace)
        data = site.directory("engine") / "data"
        create_cluster(install, data, account)
        server = site.launch(install, data, {**SETTINGS, **settings}, "engine")
        server.start()
        try:
            yield server
        finally:
            server.stop("immediate")
