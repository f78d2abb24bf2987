"""One round, from start to finish.

    data in place -> arms started -> prewarmed -> connected -> warmed up -> pairs of slices -> counted -> stopped

Everything that could favour an arm (who starts, connects, lives where, goes first) is taken from the plan.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from pgverdict.conduct.bounds import WARM_UP_US, Bounds, choose_bounds
from pgverdict.conduct.cell import PreparedCell
from pgverdict.conduct.placement import pin_backends
from pgverdict.conduct.warmth import Room, check_warmth, prewarm
from pgverdict.datasets.copy import copy_data, settle
from pgverdict.datasets.load import DATABASE, where
from pgverdict.engine.messages import Connected, Statement
from pgverdict.engine.process import Engine, EngineError
from pgverdict.errors import RoundFailed, WorldError
from pgverdict.observe import processes, views
from pgverdict.observe.host import memory_bytes
from pgverdict.plan.rounds import Pair, RoundPlan
from pgverdict.records.round import ArmRecord, RoundRecord, RoundState, SliceRecord, StatementRecord
from pgverdict.servers.marked import remove_tree
from pgverdict.servers.server import Server
from pgverdict.workloads.workload import Regime

Launch = Callable[[PreparedCell, int, Path, int], Server]
"""(cell, arm, data directory, slot) to a server that is not yet started."""


@dataclass(frozen=True)
class LiveArm:
    """An arm while a round lasts."""

    server: Server
    start_ms: float
    room: Room
    connected: Connected


def run_round(cell: PreparedCell, plan: RoundPlan, bounds: Bounds | None, launch: Launch) -> RoundRecord:
    """One round of a cell. Never raises for what the round met: a failed round is a record with a story.

    `bounds` are the cell's; None for its first round, which chooses them from the warm-up (see
    `bounds_of`).
    """
    started, begun = datetime.now(UTC), time.monotonic()
    try:
        slices, arms, placement = _measure(cell, plan, bounds, launch)
        state, story = RoundState.MEASURED, None
    except (WorldError, OSError) as error:
        slices, arms, placement = (), (), ()
        state, story = RoundState.FAILED, str(error)
    return RoundRecord(
        plan=plan,
        state=state,
        started=started.isoformat(timespec="milliseconds"),
        seconds=time.monotonic() - begun,
        slices=slices,
        arms=arms,
        placement=placement,
        story=story,
    )


Measured = tuple[tuple[SliceRecord, ...], tuple[ArmRecord, ...], tuple[tuple[str, str], ...]]


def _measure(cell: PreparedCell, plan: RoundPlan, bounds: Bounds | None, launch: Launch) -> Measured:
    with ExitStack() as stack:
        directories = stack.enter_context(_data_in_place(cell, plan))
        servers = {arm: launch(cell, arm, directories[arm], plan.slots[arm]) for arm in plan.start_order}
        start_ms = {
            arm: stack.enter_context(_running(servers[arm], cell.workload.regime)) for arm in plan.start_order
        }
        stack.enter_context(_blaming(servers))
        rooms = {arm: prewarm(servers[arm], DATABASE) for arm in plan.start_order}

        engine = stack.enter_context(Engine.start())
        statements = engine.setup(
            clients=cell.spec.clients,
            threads=cell.placement.threads,
            cpus=cell.placement.cpus,
            scripts=cell.workload.scripts,
            variables={"scale": cell.spec.scale},
        )
        connected = {arm: engine.connect(arm, where(servers[arm])) for arm in plan.connect_order}
        live = [LiveArm(servers[a], start_ms[a], rooms[a], connected[a]) for a in range(len(cell.arms))]
        for arm in live:
            pin_backends(cell.placement, arm.connected.backend_pids)

        rates = {arm: _warm_up(engine, arm, plan) for arm in plan.connect_order}
        bounds = bounds or choose_bounds(cell.workload.bound, list(rates.values()), cell.spec.clients)
        for arm in live:
            _reset_counts(arm)
        read_before = [processes.storage_read_bytes(arm.connected.backend_pids) for arm in live]
        slices = tuple(
            record
            for number, pair in enumerate(plan.pairs)
            for record in _run_pair(engine, live, number, pair, bounds)
        )
        arms = tuple(
            _finish_arm(engine, cell, number, arm, statements, read_before[number])
            for number, arm in enumerate(live)
        )
        return slices, arms, _placement(cell, bounds, engine)


@contextmanager
def _data_in_place(cell: PreparedCell, plan: RoundPlan) -> Iterator[list[Path]]:
    """The data directory of every arm: the load itself, or a settled fresh copy of it in the arm's slot."""
    loads = [arm.loads[load] for arm, load in zip(cell.arms, plan.loads, strict=True)]
    if cell.workload.regime is Regime.READ_ONLY:
        yield loads
        return
    copies = [cell.slots[slot] / "data" for slot in plan.slots]
    try:
        for source, target in zip(loads, copies, strict=True):
            remove_tree(target)
            copy_data(source, target)
        settle(cell.slots[0])
        yield copies
    finally:
        for target in copies:
            remove_tree(target)


@contextmanager
def _running(server: Server, regime: Regime) -> Iterator[float]:
    """The server while it runs; gives the milliseconds its start took.

    Data that is thrown away needs no shutdown checkpoint, which would only load the disk for the next round.
    """
    start_ms = server.start()
    try:
        yield start_ms
    finally:
        server.stop("fast" if regime is Regime.READ_ONLY else "immediate")


@contextmanager
def _blaming(servers: dict[int, Server]) -> Iterator[None]:
    """Adds the end of a server's own log to the failure of its arm."""
    try:
        yield
    except EngineError as error:
        if error.arm is None:
            raise
        log = " | ".join(servers[error.arm].log_tail(3).splitlines())
        raise RoundFailed(f"{error.message}; the log of arm {error.arm} ends: {log}") from error


def _warm_up(engine: Engine, arm: int, plan: RoundPlan) -> float:
    done = engine.slice(
        arm,
        seed=plan.pairs[0].seed ^ 1,
        bound={"duration_us": WARM_UP_US},
        discard={"duration_us": 0},
        keep=False,
    )
    return done.rate_hz


def _run_pair(
    engine: Engine, live: list[LiveArm], number: int, pair: Pair, bounds: Bounds
) -> list[SliceRecord]:
    """The slices of a pair in the plan's order, with the processor time of the arm's server around each."""
    bound, discard = bounds.as_request()
    records = []
    for position, arm in enumerate(pair.order):
        server = live[arm].server
        cpu_before = processes.cpu_ns(server.pids())
        done = engine.slice(arm, seed=pair.seed, bound=bound, discard=discard)
        cpu_after = processes.cpu_ns(server.pids())
        if done.latency is None:
            raise RoundFailed(f"a slice of arm {arm} in pair {number} ended without a transaction")
        records.append(
            SliceRecord(
                pair=number,
                position=position,
                arm=arm,
                begun_at_ns=done.begun_at_ns,
                ended_at_ns=done.ended_at_ns,
                transactions=done.transactions,
                failed=done.failed,
                discarded=done.discarded,
                busy_ns=done.busy_ns,
                rate_hz=done.rate_hz,
                latency=done.latency,
                server_cpu_ns=processes.grown(cpu_before, cpu_after),
                engine_cpu_ns=done.engine_cpu_ns,
                engine_run_delay_ns=done.engine_run_delay_ns,
                begin_late_ns_max=done.begin_late_ns_max,
                drain_ns_max=done.drain_ns_max,
            )
        )
    return records


def _reset_counts(arm: LiveArm) -> None:
    with views.session(arm.server, DATABASE) as connection:
        if views.has_extension(connection, "pg_stat_statements"):
            views.reset_statements(connection)


def _finish_arm(
    engine: Engine,
    cell: PreparedCell,
    number: int,
    arm: LiveArm,
    statements: tuple[Statement, ...],
    read_before: dict[int, int],
) -> ArmRecord:
    """Collect an arm's totals from the engine and the server, and check that it was warm."""
    read = processes.grown(read_before, processes.storage_read_bytes(arm.connected.backend_pids))
    check_warmth(
        cell.arms[number].name,
        storage_read_bytes=read,
        data_bytes=arm.room.data_bytes,
        memory_bytes=memory_bytes("MemAvailable"),
    )
    totals = engine.totals(number)
    assert totals.latency is not None, "every slice counted transactions"
    counts: dict[str, views.StatementCounts] = {}
    with views.session(arm.server, DATABASE) as connection:
        if views.has_extension(connection, "pg_stat_statements"):
            counts = views.statement_counts(connection)
    records = []
    for seen in totals.statements:
        statement = statements[seen.statement]
        server = counts.get(statement.prepared_text)
        records.append(
            StatementRecord(
                text=statement.text,
                count=seen.count,
                mean_ns=seen.mean_ns,
                sd_ns=seen.sd_ns,
                histogram=seen.histogram,
                server_calls=server.calls if server else None,
                server_ms_mean=server.ms_mean if server else None,
                server_ms_stddev=server.ms_stddev if server else None,
            )
        )
    return ArmRecord(
        arm=number,
        server_version=arm.connected.server_version,
        transactions=totals.transactions,
        failed=totals.failed,
        busy_ns=totals.busy_ns,
        latency=totals.latency,
        histogram=totals.histogram,
        statements=tuple(records),
        start_ms=arm.start_ms,
        data_bytes=arm.room.data_bytes,
        buffers_read=sum(count.buffers_read for count in counts.values()) if counts else None,
        storage_read_bytes=read,
    )


def _placement(cell: PreparedCell, bounds: Bounds, engine: Engine) -> tuple[tuple[str, str], ...]:
    """How the round was placed, for the record; `bounds_of` reads the bounds back."""
    return (
        ("threads", str(cell.placement.threads)),
        ("cpus", ",".join(map(str, cell.placement.cpus))),
        *((f"bound_{name}", str(value)) for name, value in bounds.bound),
        *((f"discard_{name}", str(value)) for name, value in bounds.discard),
        ("warm_up_us", str(WARM_UP_US)),
        ("engine_version", engine.hello.version),
        ("engine_identity", engine.hello.identity),
        ("engine_profile", engine.hello.profile),
    )


def bounds_of(record: RoundRecord) -> Bounds:
    """The bounds a measured round was run with, so that all rounds of a cell use the same."""
    return Bounds(
        *(
            tuple(
                (name.removeprefix(prefix), int(value))
                for name, value in record.placement
                if name.startswith(prefix)
            )
            for prefix in ("bound_", "discard_")
        )
    )
