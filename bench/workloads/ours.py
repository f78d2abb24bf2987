"""Our side: a workload loaded and driven by the engine, as rounds do it, and what the engine used."""

import resource
from dataclasses import dataclass
from time import monotonic

from pgverdict.datasets.load import DATABASE, load, where
from pgverdict.engine.process import Engine
from pgverdict.servers.server import Server
from pgverdict.workloads.workload import Workload

from .case import Size

ARM = 0


@dataclass(frozen=True)
class Used:
    """What a stretch of work took of the client, from its start to its end: connecting is a part of it."""

    transactions: int
    cpu_s: float
    tps: float


def fill(server: Server, workload: Workload, size: Size) -> float:
    """Load the workload's data anew; seconds from an empty database to one that rounds could work on."""
    with server.connect() as connection:
        connection.execute(f"DROP DATABASE IF EXISTS {DATABASE}".encode())
    begun = monotonic()
    with Engine.start() as engine:
        load(engine, server, workload.dataset, size.scale, lambda _rows, _total: None)
    return monotonic() - begun


def work(server: Server, workload: Workload, size: Size, seed: int) -> Used:
    """One slice of all of the workload's seconds, driven by one thread."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with Engine.start() as engine:
        engine.setup(
            clients=size.clients,
            threads=1,
            cpus=None,
            scripts=workload.scripts,
            program=workload.program,
            variables={"scale": size.scale},
        )
        engine.connect(ARM, where(server))
        bound = {"duration_us": round(size.seconds * 1e6)}
        done = engine.slice(ARM, seed=seed, bound=bound, discard={"duration_us": 0})
    # The engine is the only child that ended meanwhile; servers run on.
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu_s = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    return Used(done.transactions, cpu_s, done.transactions / size.seconds)
