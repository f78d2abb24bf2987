"""The load engine of a round, told who its clients are and what they do."""

from collections.abc import Iterator
from contextlib import contextmanager

from pgverdict.conduct.cell import PreparedCell
from pgverdict.conduct.placement import keep_engine
from pgverdict.conduct.streams import Streams, variables_of
from pgverdict.engine.messages import Ready
from pgverdict.engine.process import Engine


@contextmanager
def clients_of(cell: PreparedCell, streams: Streams | None = None) -> Iterator[tuple[Engine, Ready]]:
    """An engine that is ready to connect a cell's clients, to any arm; it ends with the context."""
    with Engine.start() as engine:
        keep_engine(cell.placement, engine.hello.pid)
        ready = engine.setup(
            clients=len(streams.by_client) if streams is not None else cell.spec.clients,
            threads=cell.placement.threads,
            cpus=cell.placement.engine_cpus,
            scripts=cell.workload.scripts,
            program=cell.workload.program,
            variables=variables_of(streams, cell.spec.scale),
            statement_s=cell.workload.statement_s,
            allow=cell.workload.allow,
            event_loop=cell.placement.event_loop.value,
        )
        yield engine, ready
