"""Rounds of work that is not cut into time: a slice is one whole transaction, a round one stream.

With one client a pair of slices is one task on each arm, with the same values, and the stream's order is drawn anew
for every round. With more clients every client has a stream of its own, and a slice is all of them side by side on one
arm, so that a round has one pair. Where streams refresh their data that is part of the only client's stream, or the
work of one more connection beside several.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pgverdict.conduct.bounds import Bounds
from pgverdict.conduct.cell import PreparedCell
from pgverdict.conduct.live import LiveArm, blaming
from pgverdict.datasets.checks import ask_checks
from pgverdict.datasets.load import DATABASE
from pgverdict.engine.messages import Statement
from pgverdict.engine.process import Engine
from pgverdict.errors import RoundFailed
from pgverdict.observe import tasks, views
from pgverdict.plan.rounds import RoundPlan
from pgverdict.plan.streams import stream_seed
from pgverdict.records.round import TaskRecord
from pgverdict.servers.outside import AnyServer
from pgverdict.workloads.control import is_control
from pgverdict.workloads.workload import Task, Workload

_UNCOUNTED = {"transactions_per_client": 0}


@dataclass(frozen=True)
class Streams:
    """What the clients of every arm do in a round, drawn from its plan."""

    by_client: tuple[tuple[Task, ...], ...]
    """The last one is that of the refresh, where it has a connection of its own."""
    changing: frozenset[str] = frozenset()
    """The scripts that change data: done once, in the slices that count."""

    @property
    def reading(self) -> tuple[tuple[Task, ...], ...]:
        """The tasks of each client that may be done again and again."""
        return tuple(
            tuple(task for task in stream if task.script not in self.changing) for stream in self.by_client
        )

    def of_slice(self, pair: int) -> list[tuple[Task, ...]]:
        """The tasks of each client in a slice of a pair."""
        return [(self.by_client[0][pair],)] if len(self.by_client) == 1 else list(self.by_client)

    @property
    def bounds(self) -> Bounds:
        """Of every slice, in the words of the seam."""
        count = 1 if len(self.by_client) == 1 else max(map(len, self.by_client))
        return Bounds((("transactions_per_client", count),), (("transactions_per_client", 0),))


def draw_streams(cell: PreparedCell, plan: RoundPlan) -> Streams | None:
    """A stream for each client; None where the workload has none."""
    streams = cell.workload.streams
    if streams is None:
        return None
    seeds = [stream_seed(plan, client) for client in range(cell.spec.clients)]
    drawn = tuple(streams.draw(seed, cell.spec.scale) for seed in seeds)
    if streams.refresh is None:
        return Streams(drawn)
    sets = [streams.refresh.tasks(number + 1) for number in range(cell.spec.clients)]
    changing = frozenset(task.script for tasks in sets for task in tasks)
    if len(drawn) == 1:
        (*before, behind) = sets[0]
        return Streams(((*before, *drawn[0], behind),), changing)
    return Streams((*drawn, tuple(task for tasks in sets for task in tasks)), changing)


def take_samples(workload: Workload, server: AnyServer, arm: int) -> None:
    """New samples of all tables for the planner, where the workload wants them: they differ from time to time."""
    if workload.streams is not None and workload.streams.analyze:
        with blaming(arm), views.session(server, DATABASE) as connection:
            connection.execute("ANALYZE")


def ask_about_tasks(
    cell: PreparedCell,
    plan: RoundPlan,
    streams: Streams,
    statements: Sequence[Statement],
    live: Sequence[LiveArm],
) -> list[tuple[TaskRecord, ...]]:
    """How each arm plans the tasks; and, in a cell's first round, what it answers, which all arms must agree on. What
    changes data is planned and not done."""
    by_script: dict[str, list[Statement]] = {}
    for statement in statements:
        by_script.setdefault(statement.script, []).append(statement)
    answers_too = plan.ordinal == 0
    told = []
    for number, arm in enumerate(live):
        with blaming(number), views.session(arm.server, DATABASE) as connection:
            told.append(
                tuple(
                    _ask(
                        connection,
                        client,
                        task,
                        by_script[task.script],
                        answers_too=answers_too and task.script not in streams.changing,
                    )
                    for client, stream in enumerate(streams.by_client)
                    for task in stream
                )
            )
    if answers_too:
        _require_same_answers([arm.name for arm in cell.arms], told)
    return told


def warm_streams(
    engine: Engine, cell: PreparedCell, plan: RoundPlan, streams: Streams, arms: Sequence[int]
) -> None:
    """Every client of these arms works through its stream once, uncounted, where the workload wants it."""
    assert cell.workload.streams is not None
    if not cell.workload.streams.warm_up:
        return
    count = max(map(len, streams.reading))
    for arm in arms:
        engine.slice(
            arm,
            seed=plan.pairs[0].seed,
            bound={"transactions_per_client": count},
            discard=_UNCOUNTED,
            keep=False,
            tasks=streams.reading,
        )


def check_refreshed(cell: PreparedCell, server: AnyServer) -> None:
    """WorldError where a server's data is not what the refresh of a round's streams leaves."""
    streams = cell.workload.streams
    if streams is not None and streams.refresh is not None:
        done = streams.refresh.done(cell.spec.clients)
        ask_checks(server, cell.workload.dataset.name, (done,))


def variables_of(streams: Streams | None, scale: int) -> Mapping[str, int | None]:
    """The variables that clients know from the start; those of tasks have no value until a task gives them one."""
    tasks = [task for stream in streams.by_client for task in stream] if streams else []
    return {name: None for task in tasks for name, _ in task.variables} | {"scale": scale}


def _ask(
    connection: views.Connection,
    client: int,
    task: Task,
    statements: Sequence[Statement],
    *,
    answers_too: bool,
) -> TaskRecord:
    values = dict(task.variables)
    planned = [one for one in statements if not is_control(one.text)]
    plans = [tasks.explain(connection, one.text, one.prepared_text, values) for one in planned]
    answers = [
        tasks.answer_sha256(connection, one.text, one.prepared_text, values)
        for one in statements
        if answers_too
    ]
    return TaskRecord(
        client=client,
        script=task.script,
        variables=tuple((name, str(value)) for name, value in task.variables),
        plan="\n".join(plans),
        answer_sha256=" ".join(answers) or None,
    )


def _require_same_answers(names: Sequence[str], told: Sequence[Sequence[TaskRecord]]) -> None:
    """RoundFailed where an arm does not answer as the baseline does: what is faster may be wrong."""
    for number, others in enumerate(told[1:], 1):
        for own, other in zip(told[0], others, strict=True):
            if own.answer_sha256 != other.answer_sha256:
                asked = ", ".join(f"{name}={value}" for name, value in own.variables)
                raise RoundFailed(f"{names[0]} and {names[number]} answer {own.script} differently: {asked}")
