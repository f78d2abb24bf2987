"""One round, from start to finish.

    data in place -> arms started -> prewarmed -> connected -> warmed up -> pairs of slices -> counted -> stopped

In a round of streams the servers take new samples of their tables before they are connected to, tell how they plan
what they will be asked, and a slice is one whole transaction (`streams`).
In a cold round nothing is warmed: the data is evicted from memory, and each arm works once (`coldness`).
Everything that could favour an arm (who starts, connects, lives where, goes first) is taken from the plan.
"""

import time
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, datetime

from pgverdict.conduct import warmth
from pgverdict.conduct.boundary import Reader
from pgverdict.conduct.bounds import Bounds, choose_bounds, cold_bounds
from pgverdict.conduct.cell import PreparedCell
from pgverdict.conduct.chain import measure_chain
from pgverdict.conduct.clients import clients_of
from pgverdict.conduct.collect import describe_placement, finish_arm, read_since, storage_read_bytes
from pgverdict.conduct.handicap import grown_handicaps, read_handicaps
from pgverdict.conduct.live import Launch, LiveArm, ask_to_end, blaming, data_in_place, quoting_logs, running
from pgverdict.conduct.logs import Writers
from pgverdict.conduct.measured import Measured
from pgverdict.conduct.pairs import run_pair
from pgverdict.conduct.placement import pin_backends
from pgverdict.conduct.preliminaries import with_preliminaries
from pgverdict.conduct.steady import measure_steady
from pgverdict.conduct.streams import (
    ask_about_tasks,
    check_refreshed,
    draw_streams,
    take_samples,
    warm_streams,
)
from pgverdict.conduct.stretch import Tell, tell_nobody
from pgverdict.conduct.turns import Turns
from pgverdict.conduct.warmth import Footprint, locking, prewarming, weigh
from pgverdict.conduct.warmup import warm_up
from pgverdict.datasets.checks import check_data
from pgverdict.datasets.load import DATABASE, where
from pgverdict.datasets.page_cache import bring_in
from pgverdict.errors import RoundFailed, WorldError
from pgverdict.observe import views
from pgverdict.observe.host import memory_available_bytes
from pgverdict.observe.surroundings import around, between
from pgverdict.plan.rounds import RoundPlan
from pgverdict.records.round import LogRecord, RoundRecord, RoundState, TaskRecord
from pgverdict.servers.interruption import heed
from pgverdict.servers.outside import AnyServer
from pgverdict.spec.regime import Regime


def run_round(
    cell: PreparedCell, plan: RoundPlan, bounds: Bounds | None, launch: Launch, tell: Tell = tell_nobody
) -> RoundRecord:
    """One round of a cell. Never raises for what the round met: a failed round is a record with a story.

    A request to end is no such thing: it is raised, also if an error of the clean-up took its place.

    `bounds` are the cell's; None for its first round, which chooses them from the warm-up (see
    `collect.bounds_of`). `tell` hears how far the arms of a steady round are, which takes minutes.
    """
    heed()
    started, begun = datetime.now(UTC), time.monotonic()
    writers = Writers(launch)
    logs: tuple[LogRecord, ...] = ()
    try:
        _have_programs_in_memory(cell, plan)
        if cell.regime is Regime.STEADY:
            done = measure_steady(cell, plan, bounds, writers.launch, tell)
        elif cell.regime is Regime.CHAIN:
            done = measure_chain(cell, plan, writers.launch, tell)
        else:
            done = _measure(cell, plan, bounds, writers.launch)
        state, story, blamed = RoundState.MEASURED, None, None
    except (WorldError, OSError) as error:
        heed()
        done = Measured((), (), (), None)
        state, story = RoundState.FAILED, str(error)
        blamed = error.arm if isinstance(error, RoundFailed) else None
        logs = writers.logs()
    return RoundRecord(
        plan=plan,
        state=state,
        started=started.isoformat(timespec="milliseconds"),
        seconds=time.monotonic() - begun,
        slices=done.slices,
        arms=done.arms,
        placement=done.placement,
        story=story,
        blamed=blamed,
        surroundings=done.surroundings,
        logs=logs,
    )


def _measure(cell: PreparedCell, plan: RoundPlan, bounds: Bounds | None, launch: Launch) -> Measured:
    with ExitStack() as stack:
        data = stack.enter_context(data_in_place(cell, plan))
        servers = {arm: launch(cell, plan, arm, data[arm]) for arm in plan.start_order}
        turns = stack.enter_context(Turns.among(servers, cell.freeze))
        start_ms = {
            arm: stack.enter_context(running(servers[arm], cell.regime, arm)) for arm in plan.start_order
        }
        stack.callback(ask_to_end, servers.values(), cell.regime)
        stack.enter_context(quoting_logs(servers))
        footprints = _fill_memory(cell, {arm: servers[arm] for arm in plan.warm_order})
        # Asked once, before anything is locked: a container's limit does not tell what of it is in use.
        memory_bytes = cell.memory_bytes or memory_available_bytes() // len(servers)
        locked = [
            stack.enter_context(
                locking(servers[arm], footprints[arm], memory_bytes=memory_bytes, clients=cell.spec.clients)
            )
            for arm in (() if cell.is_cold else plan.warm_order)
        ]
        for number in plan.warm_order:
            take_samples(cell.workload, servers[number], number)
        streams = draw_streams(cell, plan)

        engine, ready = stack.enter_context(clients_of(cell, streams))
        connected = {arm: engine.connect(arm, where(servers[arm])) for arm in plan.connect_order}
        live = [
            LiveArm(
                servers[a],
                start_ms[a],
                footprints[a],
                connected[a],
                Reader(
                    servers[a],
                    connected[a].backend_pids,
                    engine,
                    cell.placement.all_cpus,
                    has_workers=cell.workload.has_workers,
                ),
            )
            for a in range(len(cell.arms))
        ]
        for arm in live:
            pin_backends(cell.placement, arm.connected.backend_pids)

        turnover_s: dict[int, float | None] = {}
        warm_up_us: int | None = None
        told: list[tuple[TaskRecord, ...]] = [() for _ in live]
        if streams is not None:
            bounds = streams.bounds
            told = ask_about_tasks(cell, plan, streams, ready.statements, live)
            warm_streams(engine, cell, plan, streams, plan.connect_order)
        elif cell.is_cold:
            bounds = cold_bounds(cell.spec.clients, long=cell.workload.is_long)
        else:
            warmed = warm_up(engine, cell, {arm: live[arm] for arm in plan.connect_order}, plan)
            turnover_s = {arm: done.turnover_s for arm, done in warmed.items()}
            (warm_up_us,) = {done.warm_up_us for done in warmed.values()}
            rates_hz = [done.rate_hz for done in warmed.values()]
            bounds = bounds or choose_bounds(cell.workload.bound, rates_hz, cell.spec.clients)
        for number, arm in enumerate(live):
            _reset_counts(number, arm)
        read_before = [storage_read_bytes(cell, arm) for arm in live]
        handicaps_before = read_handicaps(live)
        before = around(cell.placement.cpus)
        with turns.taken():
            slices = tuple(
                record
                for number, pair in enumerate(plan.pairs)
                for record in run_pair(engine, live, turns, number, pair, bounds, streams)
            )
        surroundings = between(before, around(cell.placement.cpus))
        handicaps = grown_handicaps(cell, handicaps_before, read_handicaps(live), slices)
        read = [read_since(cell, arm, before) for arm, before in zip(live, read_before, strict=True)]
        # Where a round fails because arms read, the one that read most is to blame, and not the first one.
        finished = {
            number: finish_arm(
                engine,
                cell,
                number,
                live[number],
                ready,
                read[number],
                handicaps[number],
                turnover_s.get(number),
            )
            for number in sorted(range(len(live)), key=lambda number: read[number] or 0, reverse=True)
        }
        arms = tuple(replace(finished[number], tasks=told[number]) for number in range(len(live)))
        arms = with_preliminaries(cell, plan, dict(enumerate(live)), arms)
        for number, arm in enumerate(live):
            with blaming(number):
                check_data(arm.server, cell.workload.dataset)
                check_refreshed(cell, arm.server)
        placement = describe_placement(
            cell, bounds, turns, engine, event_loop=ready.event_loop, warm_up_us=warm_up_us, locked=locked
        )
        return Measured(slices, arms, placement, surroundings)


def _have_programs_in_memory(cell: PreparedCell, plan: RoundPlan) -> None:
    """Else the first server to run them is charged for them, and loses them again where its memory is short."""
    if cell.memory_bytes is not None:
        for arm in cell.ours:
            bring_in(cell.arms[arm].installs[plan.installs[arm]].program_files)


def _fill_memory(cell: PreparedCell, servers: Mapping[int, AnyServer]) -> dict[int, Footprint]:
    """Begun in the order given, side by side: no arm's data is long out of the caches when the next one's comes."""
    footprints: dict[int, Footprint] = {}
    arms = list(servers)
    for at_once in (arms[n : n + warmth.AT_ONCE] for n in range(0, len(arms), warmth.AT_ONCE)):
        with ExitStack() as stack:
            for arm in at_once:
                stack.enter_context(blaming(arm))
                if cell.is_cold:
                    footprints[arm] = weigh(servers[arm], DATABASE)
                else:
                    footprints[arm] = stack.enter_context(prewarming(servers[arm], DATABASE))
    return footprints


def _reset_counts(number: int, arm: LiveArm) -> None:
    with blaming(number), views.session(arm.server, DATABASE) as connection:
        if views.has_extension(connection, "pg_stat_statements"):
            views.reset_statements(connection)
