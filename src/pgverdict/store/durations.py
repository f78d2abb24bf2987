"""How long rounds took: what an outlook on a campaign asks of a store, without loading runs."""

from collections import defaultdict
from collections.abc import Sequence

from sqlalchemy import func, select

from pgverdict.records.round import RoundState
from pgverdict.records.run import Purpose
from pgverdict.spec.campaign import CellSpec
from pgverdict.store import tables
from pgverdict.store.run_rows import cell_spec
from pgverdict.store.runs import Store

RUNS_READ_MAX = 10
"""The newest of them: a store may hold thousands."""


def seconds_of_rounds(
    store: Store, wanted: Sequence[CellSpec], *, host_name: str, arms: int
) -> dict[str, list[float]]:
    """By the key of a cell, the seconds of its measured rounds in the newest comparisons of so many arms on a host."""
    runs, cells, rounds = tables.runs, tables.cells, tables.rounds
    kinds = {(cell.key, cell.pairs) for cell in wanted}
    with store.reading() as connection:
        counting = select(tables.arms.c.run_id, func.count()).group_by(tables.arms.c.run_id)
        counted = {row[0]: row[1] for row in connection.execute(counting)}
        listed = select(runs.c.id, runs.c.host).where(runs.c.purpose == Purpose.COMPARE.value)
        ids = [
            run_id
            for run_id, host in connection.execute(listed.order_by(runs.c.started.desc(), runs.c.id.desc()))
            if counted.get(run_id) == arms and dict(host).get("name") == host_name
        ]
        # Most cells are told apart by what the database can compare; their keys by more.
        alike = select(cells).where(
            cells.c.run_id.in_(ids),
            cells.c.workload.in_({cell.workload for cell in wanted}),
            cells.c.scale.in_({cell.scale for cell in wanted}),
            cells.c.clients.in_({cell.clients for cell in wanted}),
        )
        found: dict[str, dict[int, str]] = defaultdict(dict)
        for row in connection.execute(alike).mappings():
            spec = cell_spec(row)
            if (spec.key, spec.pairs) in kinds:
                found[row["run_id"]][row["cell"]] = spec.key
        seconds: dict[str, list[float]] = defaultdict(list)
        read = 0
        for run_id in ids:
            of_run = found.get(run_id, {})
            took = select(rounds.c.cell, rounds.c.seconds).where(
                rounds.c.cell.in_(of_run), rounds.c.state == RoundState.MEASURED.value
            )
            measured = connection.execute(took).all() if of_run else []
            for cell, took_s in measured:
                seconds[of_run[cell]].append(took_s)
            read += bool(measured)
            if read == RUNS_READ_MAX:
                break
    return seconds
