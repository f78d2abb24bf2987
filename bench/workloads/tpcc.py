"""TPC-C-like work beside go-tpc: what its transactions cost the client, and how long its data take to load."""

import itertools
import re
from collections.abc import Callable
from contextlib import contextmanager
from time import monotonic

from bench.engine.places import real_server
from bench.engine.programs import Program, run
from pgverdict.errors import WorldError
from pgverdict.servers.server import Server
from pgverdict.workloads import catalogue

from .case import Case, Figures, Goal, Opened, Side, Size
from .golang import GoProgram
from .ours import CPU, SECONDS, drop_database, fill, settled, work, worked

RELEASE = "18"
RIVAL = "go-tpc"
RIVAL_DATABASE = "gotpc"
PROGRAM = GoProgram(RIVAL, "github.com/pingcap/go-tpc", "v1.0.12", "github.com/pingcap/go-tpc/cmd/go-tpc")

# go-tpc's mix, by lot and without waits; its isolation level is the server's default.
WORKLOAD = catalogue.workload("tpcc", (("isolation", "server"), ("mix", "45,43,4,4,4"), ("terminals", "any")))


def _words(server: Server, size: Size, *more: str) -> list[str]:
    # Its address cannot be a path, but the parameters behind it can, and of two the last in order counts.
    return [
        "tpcc", "-d", "postgres", "--host=-", "-P", str(server.port), "-U", "postgres", "-p", "", "-D", RIVAL_DATABASE,
        "--conn-params", f"host={server.socket_directory}&sslmode=disable",
        "--warehouses", str(size.scale), *more,
    ]  # fmt: skip


def counted(said: str) -> int:
    """The transactions that go-tpc says it has done, all kinds.

    >>> counted("[Summary] PAYMENT - Takes(s): 3.0, Count: 531, TPM: 1\\n[Summary] DELIVERY - Takes(s): 2, Count: 62,")
    593
    """
    counts = re.findall(r"^\[Summary\] [A-Z_]+(?<!_ERR) - .*?\bCount: (\d+)", said, re.MULTILINE)
    if not counts:
        raise WorldError(f"no count of transactions in the report of {RIVAL}: {said.strip()[-300:]}")
    return sum(map(int, counts))


def _rival_fill(server: Server, program: Program, size: Size) -> float:
    drop_database(server, RIVAL_DATABASE)
    server.create_database(RIVAL_DATABASE)
    begun = monotonic()
    run(program, _words(server, size, "prepare", "-T", str(size.clients), "--no-check"))
    return monotonic() - begun


@contextmanager
def _running(size: Size) -> Opened:
    program = Program(RIVAL, PROGRAM.built())
    seeds = itertools.count(1)
    with real_server(RELEASE) as server:
        fill(server, WORKLOAD, size)
        _rival_fill(server, program, size)
        with server.connect(RIVAL_DATABASE) as connection:
            connection.execute("VACUUM (FREEZE, ANALYZE)")

        def ours() -> Figures:
            return work(server, WORKLOAD, size, next(seeds))

        def theirs() -> Figures:
            words = _words(server, size, "run", "-T", str(size.clients), "--time", f"{size.seconds:g}s")
            used = run(program, words)
            return worked(counted(used.said), used.cpu_s, size.seconds)

        yield settled(server, ours), settled(server, theirs)


@contextmanager
def _loading(size: Size) -> Opened:
    program = Program(RIVAL, PROGRAM.built())

    def timed(seconds: Callable[[], float]) -> Side:
        return lambda: {SECONDS: seconds()}

    with real_server(RELEASE) as server:
        yield (
            settled(server, timed(lambda: fill(server, WORKLOAD, size))),
            settled(server, timed(lambda: _rival_fill(server, program, size))),
        )


TINY = Size(seconds=2, scale=1, clients=2)

CASES = (
    Case(
        "tpcc-run",
        "TPC-C-like, 10 warehouses, 8 connections",
        RIVAL,
        "Each has a database of its own, filled by itself, and a mix by lot with equal weights. Ours sends the"
        " statements of a step together (tpcc.md), go-tpc one after the other, with several lines of an order in one;"
        " all prepared.",
        (Goal(CPU, most=0.40),),
        Size(seconds=6, scale=10, clients=8),
        TINY,
        PROGRAM.ready,
        _running,
    ),
    Case(
        "tpcc-load",
        "TPC-C-like, load of 10 warehouses",
        RIVAL,
        "go-tpc loads over 8 connections into tables that have their keys, by INSERT, and without its checks; ours by"
        " COPY over 3, indexes after the rows, vacuum and checkpoint included.",
        (Goal(SECONDS, most=0.25),),
        Size(seconds=0, scale=10, clients=8),
        TINY,
        PROGRAM.ready,
        _loading,
    ),
)
