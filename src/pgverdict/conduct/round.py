"""One round, from start to finish.

    data in place -> arms started -> prewarmed -> connected -> warmed up -> pairs of slices -> counted -> stopped

Everything that could favour an arm (who starts, connects, lives where, goes first) is taken from the plan.
"""

import time
from contextlib import ExitStack
from datetime import UTC, datetime

from pgverdict.conduct.bounds import WARM_UP_US, Bounds, choose_bounds
from pgverdict.conduct.cell import PreparedCell
from pgverdict.conduct.collect import describe_placement, finish_arm
from pgverdict.conduct.live import Launch, LiveArm, blaming, data_in_place, running
from pgverdict.conduct.pairs import run_pair
from pgverdict.conduct.placement import pin_backends
from pgverdict.conduct.steady import measure_steady
from pgverdict.conduct.warmth import prewarm
from pgverdict.datasets.load import DATABASE, where
from pgverdict.engine.process import Engine
from pgverdict.errors import WorldError
from pgverdict.observe import processes, views
from pgverdict.plan.rounds import RoundPlan
from pgverdict.records.round import ArmRecord, RoundRecord, RoundState, SliceRecord
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
        directories = stack.enter_context(data_in_place(cell, plan))
        servers = {arm: launch(cell, arm, directories[arm], plan.slots[arm]) for arm in plan.start_order}
        start_ms = {arm: stack.enter_context(running(servers[arm], cell.regime)) for arm in plan.start_order}
        stack.enter_context(blaming(servers))
        sizes = {arm: prewarm(servers[arm], DATABASE) for arm in plan.start_order}

        engine = stack.enter_context(Engine.start())
        statements = engine.setup(
            clients=cell.spec.clients,
            threads=cell.placement.threads,
            cpus=cell.placement.cpus,
            scripts=cell.workload.scripts,
            variables={"scale": cell.spec.scale},
        )
        connected = {arm: engine.connect(arm, where(servers[arm])) for arm in plan.connect_order}
        live = [LiveArm(servers[a], start_ms[a], sizes[a], connected[a]) for a in range(len(cell.arms))]
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
            for record in run_pair(engine, live, number, pair, bounds)
        )
        arms = tuple(
            finish_arm(engine, cell, number, arm, statements, read_before[number])
            for number, arm in enumerate(live)
        )
        return slices, arms, describe_placement(cell, bounds, engine)


def _warm_up(engine: Engine, arm: int, plan: RoundPlan) -> float:
    done = engine.slice(
        arm,
        seed=plan.pairs[0].seed ^ 1,
        bound={"duration_us": WARM_UP_US},
        discard={"duration_us": 0},
        keep=False,
    )
    return done.rate_hz


def _reset_counts(arm: LiveArm) -> None:
    with views.session(arm.server, DATABASE) as connection:
        if views.has_extension(connection, "pg_stat_statements"):
            views.reset_statements(connection)
