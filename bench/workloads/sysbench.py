"""sysbench's point select and read-write beside sysbench itself, on one table: what an event costs the client."""

import itertools
import re
import shutil
import subprocess
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from bench.engine.places import real_server
from bench.engine.programs import Program, run
from pgverdict.datasets.load import DATABASE
from pgverdict.engine.process import EPOLL, IO_URING
from pgverdict.errors import WorldError
from pgverdict.servers.server import Server
from pgverdict.workloads import catalogue

from .case import Case, Figures, Goal, Opened, Size
from .ours import CPU, fill, settled, work, worked

RELEASE = "18"
RIVAL = "sysbench"
ROWS_PER_SCALE = 10_000
SCRIPTS = {"point-select": "oltp_point_select", "oltp-read-write": "oltp_read_write"}


def _path() -> Path:
    found = shutil.which(RIVAL)
    if found is None:
        raise WorldError("there is no sysbench in PATH", hint="on Debian: apt-get install sysbench")
    return Path(found)


def _version() -> str:
    return subprocess.run([_path(), "--version"], check=True, capture_output=True, text=True).stdout.strip()


def _words(server: Server, name: str, size: Size) -> list[str]:
    return [
        SCRIPTS[name], "--db-driver=pgsql", f"--pgsql-host={server.socket_directory}",
        f"--pgsql-port={server.port}", "--pgsql-user=postgres", f"--pgsql-db={DATABASE}", "--tables=1",
        f"--table-size={size.scale * ROWS_PER_SCALE}", "--rand-type=uniform", f"--threads={size.clients}",
        f"--time={size.seconds:g}", "run",
    ]  # fmt: skip


def counted(said: str) -> int:
    """The transactions that sysbench says it has done.

    >>> counted("SQL statistics:\\n    transactions:                        1234   (123.4 per sec.)\\n")
    1234
    """
    found = re.search(r"^ +transactions: +(\d+)", said, re.MULTILINE)
    if found is None or int(found[1]) == 0:
        raise WorldError(f"no count of transactions in the report of {RIVAL}: {said.strip()[-300:]}")
    return int(found[1])


@contextmanager
def _running(name: str, event_loop: str, size: Size) -> Opened:
    program, seeds = Program(RIVAL, _path()), itertools.count(1)
    workload = catalogue.workload(f"sysbench-{name}")
    changes = name != "point-select"
    with real_server(RELEASE) as server:
        fill(server, workload, size)

        def ours() -> Figures:
            return work(server, workload, size, next(seeds), event_loop)

        def theirs() -> Figures:
            used = run(program, _words(server, name, size))
            return worked(counted(used.said), used.cpu_s, size.seconds)

        yield settled(server, ours, vacuum=changes), settled(server, theirs, vacuum=changes)


def _case(name: str, title: str, clients: int, event_loop: str) -> Case:
    by_ring = event_loop == IO_URING
    return Case(
        f"sysbench-{name}-{clients}{'-ring' if by_ring else ''}",
        f"sysbench {title}, 100 000 rows, {clients} connections{', io_uring' if by_ring else ''}",
        RIVAL,
        "One table for both, loaded by ours; uniform keys; both prepare their statements and send them one by one."
        " sysbench has a thread for every connection, ours one for all"
        + (", which waits for them by io_uring." if by_ring else "."),
        (Goal(CPU, most=0.60),),
        Size(seconds=6, scale=10, clients=clients),
        Size(seconds=1, scale=1, clients=2),
        _version,
        partial(_running, name, event_loop),
    )


CASES = tuple(
    _case(name, title, clients, event_loop)
    for event_loop in (EPOLL, IO_URING)
    for name, title in SCRIPTS.items()
    for clients in (8, 64)
)
