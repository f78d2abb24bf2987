"""What a transaction takes beside its execution: planning and locks, asked of every arm after the slices of a round.

    for each arm: a client of its own runs the script, uncounted -> its session says what it planned and locked

In a cell's first rounds, of cells with partitions and those they are compared with. The client is a new one, of an
engine of its own, placed as the first client of the slices was. It prepares the script's statements as that one did,
so what it plans is planned in slices too: it works until every statement has a generic plan, or is known to get none.
Only its session tracks planning, which costs time: no slice pays for it.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from pgverdict.conduct.cell import PreparedCell
from pgverdict.conduct.live import LiveArm, blaming
from pgverdict.conduct.placement import keep_engine, pin_backends
from pgverdict.datasets.load import DATABASE, where
from pgverdict.engine.process import Engine
from pgverdict.observe import preliminaries, views
from pgverdict.plan.rounds import RoundPlan
from pgverdict.records.round import ArmRecord, PreliminariesRecord
from pgverdict.servers.server import Server
from pgverdict.workloads.workload import Script, Workload

ROUNDS = 3
"""Of each cell, its first ones: planning scatters little within a host, and locks do not at all."""

SETTLING = 10
"""Transactions before: the first five executions of a prepared statement are always planned."""

TRANSACTIONS = 40

SETTLING_LONG, TRANSACTIONS_LONG = 1, 2
"""Of queries that take seconds. Those of the catalogue have no parameters: they are planned once."""

_UNCOUNTED = {"transactions_per_client": 0}
_BEGIN, _END = re.compile(r"begin\s*;", re.IGNORECASE), re.compile(r"(?:end|commit)\s*;", re.IGNORECASE)


def with_preliminaries(
    cell: PreparedCell, plan: RoundPlan, live: Mapping[int, LiveArm], records: Sequence[ArmRecord]
) -> tuple[ArmRecord, ...]:
    """The records of arms with what is asked of them now; as they are where nothing is.

    Nothing is asked of servers of others, nor about scripts of users: what happens when a transaction is begun around
    them is not known.
    """
    if not _is_asked(cell, plan):
        return tuple(records)
    return tuple(
        replace(record, preliminaries=_ask(cell, plan, record.arm, live[record.arm]))
        if isinstance(live[record.arm].server, Server)
        else record
        for record in records
    )


def _is_asked(cell: PreparedCell, plan: RoundPlan) -> bool:
    of_catalogue = bool(cell.workload.scripts) and cell.workload.streams is None and cell.spec.own is None
    return cell.asks_preliminaries and of_catalogue and plan.ordinal < ROUNDS


def _ask(cell: PreparedCell, plan: RoundPlan, number: int, arm: LiveArm) -> tuple[PreliminariesRecord, ...]:
    with blaming(number), views.session(arm.server, DATABASE) as connection, Engine.start() as engine:
        keep_engine(cell.placement, engine.hello.pid)
        tracked = preliminaries.can_track_planning(connection)
        return tuple(
            _ask_about(script, cell, plan, number, arm, engine, connection, tracked=tracked)
            for script in cell.workload.scripts
        )


def _ask_about(
    script: Script,
    cell: PreparedCell,
    plan: RoundPlan,
    number: int,
    arm: LiveArm,
    engine: Engine,
    connection: views.Connection,
    *,
    tracked: bool,
) -> PreliminariesRecord:
    cpus = cell.placement.engine_cpus
    engine.setup(
        clients=1,
        threads=1,
        cpus=None if cpus is None else cpus[:1],
        scripts=(Script(script.name, counting(script.text, track_planning=tracked)),),
        variables={"scale": cell.spec.scale},
        statement_s=cell.workload.statement_s,
    )
    connected = engine.connect(number, where(arm.server))
    pin_backends(cell.placement, connected.backend_pids)
    settling, transactions = _amounts(cell.workload)
    seed = plan.pairs[0].seed
    _run(engine, number, seed, settling)
    if tracked:
        views.reset_statements(connection)
    _run(engine, number, seed ^ 1, transactions)
    plans, planning_us = preliminaries.planning(connection) if tracked else (None, None)
    locked, fast_path = preliminaries.relations_locked(connection, connected.backend_pids[0])
    engine.disconnect(number)
    return PreliminariesRecord(
        script=script.name,
        transactions=transactions,
        plans=plans,
        planning_us_mean=None if planning_us is None else planning_us / transactions,
        relations_locked=locked,
        relations_locked_fast_path=fast_path,
    )


def _amounts(workload: Workload) -> tuple[int, int]:
    return (SETTLING_LONG, TRANSACTIONS_LONG) if workload.is_long else (SETTLING, TRANSACTIONS)


def _run(engine: Engine, arm: int, seed: int, transactions: int) -> None:
    bound = {"transactions_per_client": transactions}
    engine.slice(arm, seed=seed, bound=bound, discard=_UNCOUNTED, keep=False)


def counting(text: str, *, track_planning: bool) -> str:
    """A script of the catalogue that counts the relations it locked, at the end of its transaction.

    >>> print(counting("\\\\set n 1\\nSELECT :n;", track_planning=False).replace(preliminaries.COUNT_LOCKS, "COUNT;"))
    BEGIN;
    \\set n 1
    SELECT :n;
    COUNT;
    END;
    """
    lines = text.strip().splitlines()
    if any(_BEGIN.fullmatch(line) for line in lines):
        assert _END.fullmatch(lines[-1]), f"a transaction that does not end with its script: {text}"
        lines = [*lines[:-1], preliminaries.COUNT_LOCKS, lines[-1]]
    else:
        lines = ["BEGIN;", *lines, preliminaries.COUNT_LOCKS, "END;"]
    return "\n".join([preliminaries.TRACK_PLANNING, *lines] if track_planning else lines)
