"""A steady round: each arm whole and alone, through checkpoints and vacuums.

    for each arm, in the order of the plan:
        aged copy -> settled -> started -> prewarmed -> connected -> ramp -> slices of 1 s -> counted -> stopped

The ramp of an arm whose data is larger than its memory lasts until turnover.

No other server runs meanwhile and nothing is ever stopped in between, so checkpoints and vacuums come as they would
for a user.
"""

from contextlib import ExitStack
from dataclasses import dataclass, replace

from pgverdict.conduct.boundary import Reader, growth
from pgverdict.conduct.bounds import Bounds
from pgverdict.conduct.cell import PreparedCell
from pgverdict.conduct.clients import clients_of
from pgverdict.conduct.collect import describe_placement, finish_arm, read_since, storage_read_bytes
from pgverdict.conduct.handicap import grown_handicap
from pgverdict.conduct.live import Launch, LiveArm, blaming, fresh_copies, quoting_logs, running
from pgverdict.conduct.measured import Measured, gathered
from pgverdict.conduct.placement import pin_backends
from pgverdict.conduct.preliminaries import with_preliminaries
from pgverdict.conduct.slices import record_slice
from pgverdict.conduct.stretch import (
    CHECKPOINTS_FIRST,
    RAMP_US,
    SLICE_US,
    VACUUMS_FIRST,
    Tell,
    lengthened,
    slices_max,
    stretch_bounds,
    stretch_slices,
)
from pgverdict.conduct.turns import Turns
from pgverdict.conduct.warmth import locking, prewarm
from pgverdict.conduct.warmup import reach_turnover
from pgverdict.datasets.checks import check_data
from pgverdict.datasets.load import DATABASE, where
from pgverdict.engine.process import Engine
from pgverdict.observe import processes, views
from pgverdict.observe.cycles import Watch
from pgverdict.observe.host import memory_available_bytes
from pgverdict.observe.surroundings import around, between
from pgverdict.plan.rounds import RoundPlan
from pgverdict.plan.stretches import slice_seed
from pgverdict.records.round import ArmRecord, SliceRecord, TableRecord
from pgverdict.servers.interruption import heed
from pgverdict.servers.outside import AnyServer
from pgverdict.servers.server import Server
from pgverdict.spec.regime import Regime


def measure_steady(
    cell: PreparedCell, plan: RoundPlan, bounds: Bounds | None, launch: Launch, tell: Tell
) -> Measured:
    """The slices and arms of a steady round, and how it was placed; `bounds` is None in a cell's first round."""
    parts: list[Measured] = []
    for position in range(len(plan.start_order)):
        parts.append(_run_arm(cell, plan, position, bounds, launch, tell))
        bounds = bounds or stretch_bounds(len(parts[0].slices))
    return gathered(parts)


def _run_arm(
    cell: PreparedCell, plan: RoundPlan, position: int, bounds: Bounds | None, launch: Launch, tell: Tell
) -> Measured:
    arm = plan.start_order[position]
    with ExitStack() as stack:
        data = stack.enter_context(fresh_copies(cell, plan, [arm]))[arm]
        server = launch(cell, plan, arm, data)
        start_ms = stack.enter_context(running(server, Regime.STEADY, arm))
        stack.enter_context(quoting_logs({arm: server}))
        with blaming(arm):
            footprint = prewarm(server, DATABASE)
        locked = stack.enter_context(
            locking(
                server,
                footprint,
                memory_bytes=cell.memory_bytes or memory_available_bytes(),
                clients=cell.spec.clients,
            )
        )

        engine, ready = stack.enter_context(clients_of(cell))
        connected = engine.connect(arm, where(server))
        reader = Reader(server, connected.backend_pids, engine, cell.placement.all_cpus)
        live = LiveArm(server, start_ms, footprint, connected, reader)
        pin_backends(cell.placement, connected.backend_pids)

        with blaming(arm), views.session(server, DATABASE) as watching:
            watch = Watch(watching)
            _ramp(engine, arm, plan)
            turnover_s = None
            if footprint.exceeds(cell.memory_bytes):
                warmed = reach_turnover(engine, cell, {arm: live}, plan)[arm]
                turnover_s = RAMP_US / 1e6 + (warmed.turnover_s or 0.0)
            if views.has_extension(watching, "pg_stat_statements"):
                views.reset_statements(watching)
            read_before = storage_read_bytes(cell, live)
            handicap_before = server.handicap_counts()
            watch.begin()
            chosen = stretch_slices(bounds) if bounds else None
            length = _Length(watch, cell.arms[arm].vacuumed, chosen, slices_max(cell.stretch_slices))
            before = around(cell.placement.cpus)
            slices = _stretch(engine, live, plan, position, length, tell)
            surroundings = between(before, around(cell.placement.cpus))
        handicap = grown_handicap(cell.arms[arm], handicap_before, server.handicap_counts(), slices)
        read = read_since(cell, live, read_before)
        record = finish_arm(engine, cell, arm, live, ready, read, handicap, turnover_s)
        (record,) = with_preliminaries(cell, plan, {arm: live}, [record])
        with blaming(arm):
            check_data(server, cell.workload.dataset)
        bounds = stretch_bounds(len(slices))
        ramp = (("ramp_us", str(RAMP_US)),)
        described = describe_placement(
            cell, bounds, _NO_TURNS, engine, event_loop=ready.event_loop, locked=[locked]
        )
        placement = (*described, *ramp)
        return Measured(tuple(slices), (_with_covered(record, watch),), placement, surroundings)


_NO_TURNS = Turns({}, None)
"""Nothing is ever frozen in a steady round (`turns.require_freezable`)."""


@dataclass
class _Length:
    """Says when a stretch is over: after so many slices, or once the cell's first arm went through enough."""

    watch: Watch
    vacuumed: tuple[str, ...]
    slices: int | None
    slices_max: int

    def is_over(self, done: int) -> bool:
        if self.slices is None:
            if self.watch.covers(self.vacuumed, checkpoints=CHECKPOINTS_FIRST, vacuums=VACUUMS_FIRST):
                self.slices = lengthened(done)
            elif done >= self.slices_max:
                self.slices = done
        return self.slices is not None and done >= self.slices


def _ramp(engine: Engine, arm: int, plan: RoundPlan) -> None:
    engine.slice(
        arm,
        seed=plan.pairs[0].seed ^ 1,
        bound={"duration_us": RAMP_US},
        discard={"duration_us": 0},
        keep=False,
    )


def _stretch(
    engine: Engine, live: LiveArm, plan: RoundPlan, position: int, length: _Length, tell: Tell
) -> list[SliceRecord]:
    """Slices back to back; between two of them the views are looked at, which takes a few milliseconds.

    What is counted at a slice's boundaries includes the pause before the next one.
    """
    arm = plan.start_order[position]
    records: list[SliceRecord] = []
    before, cpu_before = live.reader.read(), _cpu_ns(live.server)
    while not length.is_over(len(records)):
        heed()
        number = len(records)
        done = engine.slice(
            arm, seed=slice_seed(plan, number), bound={"duration_us": SLICE_US}, discard={"duration_us": 0}
        )
        length.watch.look()
        tell(arm, number + 1, length.slices)
        after, cpu_after = live.reader.read(), _cpu_ns(live.server)
        counted = growth(before, after)
        # Vacuum's workers end within slices, and what they used must not go with them.
        counted["server_cpu_ns"] = max(0, cpu_after - cpu_before)
        name = f"slice {number} of arm {arm}"
        records.append(record_slice(done, counted, arm=arm, pair=number, position=position, name=name))
        before, cpu_before = after, cpu_after
    return records


def _cpu_ns(server: AnyServer) -> int:
    assert isinstance(server, Server), "steady rounds are for servers of ours"
    return processes.cpu_ns_with_ended(server.pid, server.pids())


def _with_covered(record: ArmRecord, watch: Watch) -> ArmRecord:
    """The record with what the arm went through."""
    begin, end = watch.first.tables, watch.last.tables
    return replace(
        record,
        checkpoints=watch.checkpoints,
        wal_bytes=watch.wal_bytes,
        tables=tuple(
            TableRecord(
                name=name,
                hot=name in watch.hot,
                vacuums=watch.vacuums(name),
                bytes_begin=begin[name].bytes,
                bytes_end=end[name].bytes,
                dead_rows_begin=begin[name].dead_rows,
                dead_rows_end=end[name].dead_rows,
            )
            for name in sorted(end)
        ),
    )
