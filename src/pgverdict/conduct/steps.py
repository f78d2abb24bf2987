"""A step of a chain, from its preparation to what it used."""

import math
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from statistics import fmean, stdev

from pgverdict.conduct.boundary import Boundary, Reader, growth
from pgverdict.conduct.cell import PreparedCell
from pgverdict.conduct.placement import pin_backends
from pgverdict.conduct.slices import record_slice
from pgverdict.datasets.load import DATABASE, where
from pgverdict.engine.messages import SliceDone
from pgverdict.engine.process import Engine
from pgverdict.observe import processes, upkeep, views
from pgverdict.observe.usage import Usage, read_usage
from pgverdict.observe.views import Connection
from pgverdict.records.round import Latency, SliceRecord, StepRecord
from pgverdict.servers.interruption import heed
from pgverdict.servers.server import Server
from pgverdict.workloads.chain import Operation, Step
from pgverdict.workloads.workload import Program

_KINDS = {Operation.INSERTED: "insert", Operation.QUERY: "query"}
"""The kind of transaction whose times are told of a step; of others, as deletes, nothing is."""


@dataclass(frozen=True)
class StepDone:
    """A step as it is recorded; a wait is no slice."""

    step: StepRecord
    slice: SliceRecord | None


@dataclass(frozen=True)
class _Before:
    """What was counted before a step began."""

    usage: Usage
    boundary: Boundary


class StepRunner:
    """Runs the steps of one arm; `watching` is a connection of ours to the database they work on."""

    def __init__(
        self,
        engine: Engine,
        server: Server,
        watching: Connection,
        cell: PreparedCell,
        program: str,
        arm: int,
        position: int,
    ) -> None:
        self._engine = engine
        self._server = server
        self._watching = watching
        self._cell = cell
        self._program = program
        self._arm = arm
        self._position = position
        self.event_loop = cell.placement.event_loop.value
        """By which the engine's threads waited in the last step that it played."""

    def run(self, step: Step, number: int, seed: int) -> StepDone:
        """Do the step, which is number `number` of its chain."""
        heed()
        for statement in step.before:
            self._watching.execute(statement.encode())
        if step.clients:
            return self._play(step, number, seed)
        if step.lanes:
            return self._run_lanes(step, number)
        return self._settle(step)

    def _play(self, step: Step, number: int, seed: int) -> StepDone:
        assert step.operation is not None, step.name
        cell, engine, arm = self._cell, self._engine, self._arm
        ready = engine.setup(
            clients=step.clients,
            threads=min(cell.placement.threads, step.clients),
            cpus=cell.placement.engine_cpus,
            scripts=(),
            variables={},
            program=Program(self._program, step.parameters),
            statement_s=cell.workload.statement_s,
            event_loop=cell.placement.event_loop.value,
        )
        self.event_loop = ready.event_loop
        connected = engine.connect(arm, where(self._server))
        pin_backends(cell.placement, connected.backend_pids)
        reader = self._reader(connected.backend_pids)
        before = self._before(reader)
        done = engine.play(arm, seed=seed)
        usage, boundary = read_usage(self._server, self._watching), reader.read()
        kinds = {ready.kinds[kind.kind]: kind for kind in engine.totals(arm).kinds}
        engine.disconnect(arm)
        told = kinds[_KINDS[step.operation]]
        operations = step.rows if step.operation is Operation.INSERTED else told.count
        return StepDone(
            self._record(
                step, done.begun_at_ns, done.ended_at_ns, operations, told.latency, before.usage, usage
            ),
            self._slice(step, done, before, usage, boundary, number, ready.kinds),
        )

    def _run_lanes(self, step: Step, number: int) -> StepDone:
        with ExitStack() as stack:
            sessions = [stack.enter_context(views.session(self._server, DATABASE)) for _ in step.lanes]
            reader = self._reader([session.info.backend_pid for session in sessions])
            before = self._before(reader)
            begun_at_ns = time.monotonic_ns()
            with ThreadPoolExecutor(len(sessions)) as threads:
                took_ns = [one for lane in threads.map(_run_lane, sessions, step.lanes) for one in lane]
            ended_at_ns = time.monotonic_ns()
            usage, boundary = read_usage(self._server, self._watching), reader.read()
        latency = exact_latency(took_ns)
        busy_ns = sum(took_ns)
        done = SliceDone(
            begun_at_ns=begun_at_ns,
            ended_at_ns=ended_at_ns,
            transactions=len(took_ns),
            failed=0,
            discarded=0,
            busy_ns=busy_ns,
            rate_hz=len(took_ns) * 1e9 / busy_ns * len(sessions),
            latency=latency,
            engine_cpu_ns=0,
            engine_run_delay_ns=0,
            begin_late_ns_max=0,
            drain_ns_max=0,
        )
        return StepDone(
            self._record(step, begun_at_ns, ended_at_ns, step.rows, latency, before.usage, usage),
            self._slice(step, done, before, usage, boundary, number),
        )

    def _settle(self, step: Step) -> StepDone:
        """Vacuum, checkpoint, wait."""
        before = read_usage(self._server, self._watching)
        begun_at_ns = time.monotonic_ns()
        with ExitStack() as stack:
            sessions = [stack.enter_context(views.session(self._server, DATABASE)) for _ in step.vacuumed]
            with ThreadPoolExecutor(len(sessions)) as threads:
                list(threads.map(upkeep.vacuum, sessions, step.vacuumed))
        upkeep.checkpoint(self._watching)
        left_s = step.least_s - (time.monotonic_ns() - begun_at_ns) / 1e9
        time.sleep(max(0.0, left_s))
        usage = read_usage(self._server, self._watching)
        return StepDone(
            self._record(step, begun_at_ns, time.monotonic_ns(), 0, None, before, usage), slice=None
        )

    def _reader(self, backend_pids: Sequence[int]) -> Reader:
        return Reader(self._server, backend_pids, self._engine, self._cell.placement.all_cpus)

    def _before(self, reader: Reader) -> _Before:
        return _Before(read_usage(self._server, self._watching), reader.read())

    def _slice(
        self,
        step: Step,
        done: SliceDone,
        before: _Before,
        usage: Usage,
        boundary: Boundary,
        number: int,
        kinds: Sequence[str] = (),
    ) -> SliceRecord:
        counted = growth(before.boundary, boundary)
        # Workers of vacuum and of index builds end within steps, and what they used must not go with them.
        counted["server_cpu_ns"] = max(0, usage.cpu_ns - before.usage.cpu_ns)
        name = f"the step {step.name} of arm {self._arm}"
        return record_slice(
            done, counted, arm=self._arm, pair=number, position=self._position, name=name, kinds=kinds
        )

    def _record(
        self,
        step: Step,
        begun_at_ns: int,
        ended_at_ns: int,
        operations: int,
        latency: Latency | None,
        before: Usage,
        after: Usage,
    ) -> StepRecord:
        return StepRecord(
            name=step.name,
            counts=None if step.operation is None else step.operation.value,
            operations=operations,
            rows=step.rows if step.clients else 0,
            rows_per_second=step.rows_per_second,
            begun_at_ns=begun_at_ns,
            ended_at_ns=ended_at_ns,
            latency=latency,
            server_cpu_ns=max(0, after.cpu_ns - before.cpu_ns),
            switches=processes.grown(before.switches, after.switches),
            storage_read_bytes=max(0, after.storage_read_bytes - before.storage_read_bytes),
            storage_written_bytes=max(0, after.storage_written_bytes - before.storage_written_bytes),
            wal_bytes=after.wal_bytes - before.wal_bytes,
            tables_bytes=after.tables_bytes,
        )


def _run_lane(connection: Connection, statements: Sequence[str]) -> list[int]:
    """How many ns each took."""
    took_ns = []
    for statement in statements:
        begun_ns = time.monotonic_ns()
        connection.execute(statement.encode())
        took_ns.append(time.monotonic_ns() - begun_ns)
    return took_ns


def exact_latency(took_ns: Sequence[int]) -> Latency:
    """Figures of samples as the engine makes them: a percentile is linear between ranks.

    >>> exact_latency([10, 30, 20]).p50_ns, exact_latency([10, 30]).p50_ns
    (20.0, 20.0)
    """
    ordered = sorted(took_ns)

    def percentile(share: float) -> float:
        place = share * (len(ordered) - 1)
        low = math.floor(place)
        high = min(low + 1, len(ordered) - 1)
        return ordered[low] + (place - low) * (ordered[high] - ordered[low])

    return Latency(
        min_ns=float(ordered[0]),
        mean_ns=fmean(ordered),
        sd_ns=stdev(ordered) if len(ordered) > 1 else 0.0,
        p50_ns=percentile(0.5),
        p95_ns=percentile(0.95),
        p99_ns=percentile(0.99),
        max_ns=float(ordered[-1]),
    )
