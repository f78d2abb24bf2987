"""Our side: a workload loaded and driven by the engine, as rounds do it, and what the engine used."""

import resource
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from time import monotonic

from pgverdict.datasets.load import DATABASE, load, where
from pgverdict.engine.process import EPOLL, Engine
from pgverdict.errors import WorldError
from pgverdict.servers.server import Server
from pgverdict.workloads.chain import Chain
from pgverdict.workloads.workload import Program, Workload

from .case import Figures, Side, Size

ARM = 0

CPU = "client CPU, us per transaction"
SECONDS = "seconds"
TPS = "transactions per second"
ROW_CPU = "client CPU, us per row"
ROWS = "rows per second"


@dataclass
class Used:
    """Processor time of the client in a stretch of work, from its start to its end: connecting is a part of it."""

    cpu_s: float = 0.0


@contextmanager
def engine_used() -> Iterator[tuple[Engine, Used]]:
    """An engine, and what it has used when it has ended."""
    before, used = resource.getrusage(resource.RUSAGE_CHILDREN), Used()
    with Engine.start() as engine:
        yield engine, used
    # The engine is the only child that ended meanwhile; servers run on.
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used.cpu_s = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def drop_database(server: Server, name: str = DATABASE) -> None:
    """If there is one."""
    with server.connect() as connection:
        connection.execute(f"DROP DATABASE IF EXISTS {name}".encode())


def fill(server: Server, workload: Workload, size: Size) -> float:
    """Load the workload's data anew; seconds from an empty database to one that rounds could work on."""
    drop_database(server)
    begun = monotonic()
    with Engine.start() as engine:
        load(engine, server, workload.dataset, size.scale, lambda _rows, _total: None)
    return monotonic() - begun


def work(server: Server, workload: Workload, size: Size, seed: int, event_loop: str = EPOLL) -> Figures:
    """One slice of all of the workload's seconds, driven by one thread; by this event loop, or by none at all."""
    with engine_used() as (engine, used):
        ready = engine.setup(
            clients=size.clients,
            threads=1,
            cpus=None,
            scripts=workload.scripts,
            program=workload.program,
            variables={"scale": size.scale},
            event_loop=event_loop,
        )
        if ready.event_loop != event_loop:
            raise WorldError(f"the engine cannot wait by {event_loop} here", hint="io_uring needs Linux 6.1")
        engine.connect(ARM, where(server))
        bound = {"duration_us": round(size.seconds * 1e6)}
        done = engine.slice(ARM, seed=seed, bound=bound, discard={"duration_us": 0})
    return worked(done.transactions, used.cpu_s, size.seconds)


def worked(transactions: int, cpu_s: float, seconds: float) -> Figures:
    """The figures of work, of either program."""
    return {CPU: 1e6 * cpu_s / transactions, TPS: transactions / seconds}


def play_first(server: Server, chain: Chain, seed: int) -> Figures:
    """The first step of a chain, on tables made anew, driven by one thread."""
    step = chain.steps[0]
    with engine_used() as (engine, used):
        program = Program(chain.program, step.parameters)
        engine.setup(clients=step.clients, threads=1, cpus=None, scripts=(), variables={}, program=program)
        engine.connect(ARM, where(server))
        done = engine.play(ARM, seed=seed)
    seconds = (done.ended_at_ns - done.begun_at_ns) / 1e9
    return {ROWS: step.rows / seconds, ROW_CPU: 1e6 * used.cpu_s / step.rows}


def settled(server: Server, side: Side, *, vacuum: bool = False) -> Side:
    """A checkpoint before each repetition, and a vacuum: what the one before has left is not this one's to do."""

    def after_a_checkpoint() -> Figures:
        if vacuum:
            with server.connect(DATABASE) as connection:
                connection.execute("VACUUM")
        with server.connect() as connection:
            connection.execute("CHECKPOINT")
        return side()

    return after_a_checkpoint
