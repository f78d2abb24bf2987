"""YCSB C and A beside go-ycsb, on one table: what an operation costs the client."""

import itertools
import re
from contextlib import contextmanager
from functools import partial

from bench.engine.places import real_server
from bench.engine.programs import Program, run
from pgverdict.datasets.load import DATABASE
from pgverdict.errors import WorldError
from pgverdict.servers.server import Server
from pgverdict.workloads import catalogue
from pgverdict.workloads.ycsb import RECORDS_PER_SCALE

from .case import Case, Figures, Goal, Opened, Size
from .golang import GoProgram
from .ours import CPU, fill, settled, work, worked

RELEASE = "18"
RIVAL = "go-ycsb"
PROGRAM = GoProgram(RIVAL, "github.com/pingcap/go-ycsb", "v1.0.1", "github.com/pingcap/go-ycsb/cmd/go-ycsb")

OPERATIONS_PER_SECOND = 8000
"""It is bounded by operations alone: with so many its repetitions last about as long as ours here."""

READS = {"a": 0.5, "c": 1.0}


def _words(server: Server, letter: str, size: Size, operations: int) -> list[str]:
    properties = {
        # Its host cannot be a path, but a parameter behind it can, and of two the last in order counts.
        "pg.host": "-",
        "pg.port": server.port,
        "pg.user": "postgres",
        "pg.db": DATABASE,
        "pg.sslmode": f"disable&host={server.socket_directory}",
        "workload": "core",
        "recordcount": size.scale * RECORDS_PER_SCALE,
        "operationcount": operations,
        "threadcount": size.clients,
        "requestdistribution": "zipfian",
        "insertorder": "ordered",
        "readproportion": READS[letter],
        "updateproportion": 1 - READS[letter],
        "silence": "false",
        "debug.pprof": "127.0.0.1:0",
    }
    return ["run", "pg", *(word for name, value in properties.items() for word in ("-p", f"{name}={value}"))]


def check_done(said: str, operations: int) -> None:
    """WorldError unless it says that it did them all, without errors.

    >>> check_done("TOTAL  - Takes(s): 1.0, Count: 20, OPS: 19.9, Avg(us): 1,", 20)
    """
    counts = re.findall(r"^TOTAL +- .*?\bCount: (\d+)", said, re.MULTILINE)
    if not counts or int(counts[-1]) != operations or "_ERROR" in said or "operation err" in said:
        raise WorldError(f"{RIVAL} did not do {operations} operations: {said.strip()[-300:]}")


@contextmanager
def _running(letter: str, size: Size) -> Opened:
    program, seeds = Program(RIVAL, PROGRAM.built()), itertools.count(1)
    # In order: its hash gives other keys than ours, numbers are the same.
    workload = catalogue.workload(f"ycsb-{letter}", (("insert_order", "ordered"),))
    operations = round(size.seconds * OPERATIONS_PER_SECOND)
    with real_server(RELEASE) as server:
        fill(server, workload, size)

        def ours() -> Figures:
            return work(server, workload, size, next(seeds))

        def theirs() -> Figures:
            used = run(program, _words(server, letter, size, operations))
            check_done(used.said, operations)
            return worked(operations, used.cpu_s, used.wall_s)

        changes = letter != "c"
        yield settled(server, ours, vacuum=changes), settled(server, theirs, vacuum=changes)


def _case(letter: str, clients: int) -> Case:
    return Case(
        f"ycsb-{letter}-{clients}",
        f"YCSB {letter.upper()}, 100 000 records of 1 KB, {clients} connections",
        RIVAL,
        "One table for both, loaded by ours, with ordered keys, because the two hash numbers into different ones; both"
        " prepare their statements. go-ycsb makes a map of the fields of every record it reads, ours receives them and"
        " looks at none.",
        (Goal(CPU, most=0.40),),
        Size(seconds=6, scale=10, clients=clients),
        Size(seconds=1, scale=1, clients=2),
        PROGRAM.ready,
        partial(_running, letter),
    )


CASES = tuple(_case(letter, clients) for letter in ("c", "a") for clients in (8, 64))
