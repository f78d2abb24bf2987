"""One round, from start to finish.

    data in place -> arms started -> prewarmed -> connected -> warmed up -> pairs of slices -> counted -> stopped

Everything that could favour an arm (who starts, connects, lives where, goes first) is taken from the plan.
"""

import time
from contextlib import ExitStack
from datetime import UTC, datetime

from pgverdict.conduct.boundary import Reader
from pgverdict.conduct.bounds import WARM_UP_US, Bounds, choose_bounds
from pgverdict.conduct.cell import PreparedCell
from pgverdict.conduct.collect import describe_placement, finish_arm
from pgverdict.conduct.handicap import grown_handicaps, read_handicaps
from pgverdict.conduct.live import Launch, LiveArm, blaming, data_in_place, quoting_logs, running
from pgverdict.conduct.pairs import run_pair
from pgverdict.conduct.placement import pin_backends
from pgverdict.conduct.steady import measure_steady
from pgverdict.conduct.turns import Turns
from pgverdict.conduct.warmth import prewarm
from pgverdict.datasets.load import DATABASE, where
from pgverdict.engine.process import Engine
from pgverdict.errors import RoundFailed, WorldError
from pgverdict.observe import processes, views
from pgverdict.plan.rounds import RoundPlan
from pgverdict.records.round import ArmRecord, RoundRecord, RoundState, SliceRecord
from pgverdict.servers.server import Server
from pgverdict.spec.regime import Regime


def run_round(cell: PreparedCell, plan: RoundPlan, bounds: Bounds | None, launch: Launch) -> RoundRecord:
    """One round of a cell. Never raises for what the round met: a failed round is a record with a story.

    `bounds` are the cell's; None for its first round, which chooses them from the warm-up (see
    `collect.bounds_of`).
    """
    started, begun = datetime.now(UTC), time.monotonic()
    try:
        measure = measure_steady if cell.regime is Regime.STEADY else _measure
        slices, arms, placement = measure(cell, plan, bounds, launch)
        state, story, blamed = RoundState.MEASURED, None, None
    except (WorldError, OSError) as error:
        slices, arms, placement = (), (), ()
        state, story = RoundState.FAILED, str(error)
        blamed = error.arm if isinstance(error, RoundFailed) else None
    return RoundRecord(
        plan=plan,
        state=state,
        started=started.isoformat(timespec="milliseconds"),
        seconds=time.monotonic() - begun,
        slices=slices,
        arms=arms,
        placement=placement,
        story=story,
        blamed=blamed,
    )


Measured = tuple[tuple[SliceRecord, ...], tuple[ArmRecord, ...], tuple[tuple[str, str], ...]]


def _measure(cell: PreparedCell, plan: RoundPlan, bounds: Bounds | None, launch: Launch) -> Measured:
    with ExitStack() as stack:
        directories = stack.enter_context(data_in_place(cell, plan))
        servers = {arm: launch(cell, plan, arm, directories[arm]) for arm in plan.start_order}
        turns = stack.enter_context(Turns.among(servers, cell.freeze))
        start_ms = {
            arm: stack.enter_context(running(servers[arm], cell.regime, arm)) for arm in plan.start_order
        }
        stack.enter_context(quoting_logs(servers))
        sizes = {arm: _prewarm(servers[arm], arm) for arm in plan.warm_order}

        engine = stack.enter_context(Engine.start())
        statements = engine.setup(
            clients=cell.spec.clients,
            threads=cell.placement.threads,
            cpus=cell.placement.engine_cpus,
            scripts=cell.workload.scripts,
            variables={"scale": cell.spec.scale},
        )
        connected = {arm: engine.connect(arm, where(servers[arm])) for arm in plan.connect_order}
        live = [
            LiveArm(
                servers[a],
                start_ms[a],
                sizes[a],
                connected[a],
                Reader(servers[a], connected[a].backend_pids, engine, cell.placement.cpus),
            )
            for a in range(len(cell.arms))
        ]
        for arm in live:
            pin_backends(cell.placement, arm.connected.backend_pids)

        rates = {arm: _warm_up(engine, arm, plan) for arm in plan.connect_order}
        bounds = bounds or choose_bounds(cell.workload.bound, list(rates.values()), cell.spec.clients)
        for number, arm in enumerate(live):
            _reset_counts(number, arm)
        read_before = [processes.storage_read_bytes(arm.connected.backend_pids) for arm in live]
        handicaps_before = read_handicaps(live)
        with turns.taken():
            slices = tuple(
                record
                for number, pair in enumerate(plan.pairs)
                for record in run_pair(engine, live, turns, number, pair, bounds)
            )
        handicaps = grown_handicaps(cell, handicaps_before, read_handicaps(live), slices)
        arms = tuple(
            finish_arm(engine, cell, number, arm, statements, read_before[number], handicaps[number])
            for number, arm in enumerate(live)
        )
        return slices, arms, describe_placement(cell, bounds, turns, engine)


def _warm_up(engine: Engine, arm: int, plan: RoundPlan) -> float:
    done = engine.slice(
        arm,
        seed=plan.pairs[0].seed ^ 1,
        bound={"duration_us": WARM_UP_US},
        discard={"duration_us": 0},
        keep=False,
    )
    return done.rate_hz


def _prewarm(server: Server, arm: int) -> int:
    with blaming(arm):
        return prewarm(server, DATABASE)


def _reset_counts(number: int, arm: LiveArm) -> None:
    with blaming(number), views.session(arm.server, DATABASE) as connection:
        if views.has_extension(connection, "pg_stat_statements"):
            views.reset_statements(connection)
