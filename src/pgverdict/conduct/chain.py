"""A round of a chain: each arm whole and alone, through all steps, on one copy of its data.

    for each arm, in the order of the plan:
        copy -> settled -> started -> for each step: prepared -> connected -> done to its end -> counted; stopped

Every step has connections of its own, as the programs have that it is taken from. Its work is fixed and the same for
all arms, so they are compared at tables of one size.
"""

import math
from contextlib import ExitStack

from pgverdict.conduct.bounds import Bounds
from pgverdict.conduct.cell import PreparedCell
from pgverdict.conduct.collect import describe_placement, huge_pages
from pgverdict.conduct.live import Launch, blaming, fresh_copies, quoting_logs, running
from pgverdict.conduct.measured import Measured, gathered
from pgverdict.conduct.placement import keep_engine
from pgverdict.conduct.steps import StepRunner
from pgverdict.conduct.stretch import Tell
from pgverdict.conduct.turns import Turns
from pgverdict.datasets.load import DATABASE
from pgverdict.engine.process import Engine
from pgverdict.observe import views
from pgverdict.observe.surroundings import around, between
from pgverdict.plan.rounds import RoundPlan
from pgverdict.plan.stretches import slice_seed
from pgverdict.records.round import ArmRecord, Latency, SliceRecord, StepRecord
from pgverdict.servers.server import Server
from pgverdict.spec.regime import Regime
from pgverdict.workloads.chain import Chain

_NO_LATENCY = Latency(*[math.nan] * 7)
"""Of all steps together: their transactions have nothing in common."""

_NO_BOUNDS = Bounds((), ())

_NO_TURNS = Turns({}, None)


def measure_chain(cell: PreparedCell, plan: RoundPlan, launch: Launch, tell: Tell) -> Measured:
    """The steps of a round as slices and as records of arms, and how it was placed."""
    assert cell.workload.chain is not None, cell.workload.name
    chain = cell.workload.chain(cell.spec.scale, cell.spec.clients)
    return gathered(
        [_run_arm(cell, plan, position, chain, launch, tell) for position in range(len(plan.start_order))]
    )


def _run_arm(
    cell: PreparedCell, plan: RoundPlan, position: int, chain: Chain, launch: Launch, tell: Tell
) -> Measured:
    arm = plan.start_order[position]
    with ExitStack() as stack:
        data = stack.enter_context(fresh_copies(cell, plan, [arm]))[arm]
        server = launch(cell, plan, arm, data)
        start_ms = stack.enter_context(running(server, Regime.CHAIN, arm))
        stack.enter_context(quoting_logs({arm: server}))
        engine = stack.enter_context(Engine.start())
        keep_engine(cell.placement, engine.hello.pid)
        slices: list[SliceRecord] = []
        steps: list[StepRecord] = []
        with blaming(arm), views.session(server, DATABASE) as watching:
            version = watching.execute("SHOW server_version").fetchone()
            assert version is not None
            # `run.outside` has refused a chain on a server that is not ours.
            assert isinstance(server, Server)
            runner = StepRunner(engine, server, watching, cell, chain.program, arm, position)
            before = around(cell.placement.cpus)
            for number, step in enumerate(chain.steps):
                done = runner.run(step, number, slice_seed(plan, number))
                steps.append(done.step)
                slices += [] if done.slice is None else [done.slice]
                tell(arm, number + 1, len(chain.steps))
            surroundings = between(before, around(cell.placement.cpus))
            data_bytes = views.database_bytes(watching)
        record = ArmRecord(
            arm=arm,
            server_version=str(version[0]),
            transactions=sum(s.transactions for s in slices),
            failed=sum(s.failed for s in slices),
            busy_ns=sum(s.busy_ns for s in slices),
            latency=_NO_LATENCY,
            histogram="",
            statements=(),
            start_ms=start_ms,
            data_bytes=data_bytes,
            buffers_read=None,
            storage_read_bytes=sum(step.storage_read_bytes for step in steps),
            memory_bytes_max=server.confines.memory_bytes_max() if server.confines else None,
            huge_pages=huge_pages(server),
            steps=tuple(steps),
        )
        placement = describe_placement(cell, _NO_BOUNDS, _NO_TURNS, engine, event_loop=runner.event_loop)
        return Measured(tuple(slices), (record,), placement, surroundings)
