"""A store of many runs, made of recorded rounds: one run is kept as the product keeps it, the others are copies of it.

Slices, orders, loads and seconds are those that `./x bench verdicts` recorded (results/verdicts-12-pairs/
series-select). What is not in those files is made up, of about the size that it has: processor times, and histograms
of 1 056 random bytes. Copies have a name, day and seed of their own, and the numbers of their rows.
"""

import base64
import random
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import cycle, islice
from pathlib import Path

from bench.verdicts.recorded import Round, SliceFigures, read_all
from pgverdict.plan.rounds import Pair
from pgverdict.records.round import (
    ArmRecord,
    Latency,
    RoundRecord,
    RoundState,
    SliceRecord,
    StatementRecord,
)
from pgverdict.records.run import ArmFacts, CellRecord, RunRecord, RunState
from pgverdict.spec.arms import make_arms
from pgverdict.spec.campaign import Campaign, CellSpec, Written
from pgverdict.store.opening import open_store

HISTOGRAM_BYTES = 1056
"""Of 3 000 samples, three digits: what the engine sends of an arm's round."""

_STATEMENT = "SELECT abalance FROM pgbench_accounts WHERE aid = $1"
_BEGUN = datetime(2026, 1, 1, tzinfo=UTC)


def fill(place: Path, series: Path, *, runs: int, cells: int, rounds: int) -> None:
    """Make the store: so many runs, of so many cells each, of so many rounds each. The last run is the newest."""
    run = a_run(series, cells=cells, rounds=rounds)
    with open_store(place) as store:
        store.begin_run(run)
    with closing(sqlite3.connect(place, isolation_level=None)) as connection:
        # Nothing is kept but the whole: what a kill leaves is no store.
        connection.execute("PRAGMA synchronous = OFF")
        connection.execute("BEGIN")
        for number in range(1, runs):
            _copy(connection, run, number, cells=cells, rounds=cells * rounds)
        connection.execute("COMMIT")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def a_run(series: Path, *, cells: int, rounds: int) -> RunRecord:
    """A run whose rounds are recorded ones, in turn."""
    recorded = cycle([one for repetition in read_all(series) for one in repetition.rounds if one.slices])
    draw = random.Random(1)
    specs = tuple(CellSpec("select-only", 1 + number // 20, 1 + number % 20) for number in range(cells))
    arms = make_arms(("17.11", "again=17.11"))
    return RunRecord(
        id=_name(0),
        state=RunState.DONE,
        started=_started(0),
        seconds=3.0 * cells * rounds,
        campaign=Campaign(arms, specs, seed=1, budget_s=3600.0 * 24, written=Written("made-up.toml", "")),
        host=(("name", "bench"), ("processor", "AMD EPYC"), ("cores", "2")),
        arms=tuple(
            ArmFacts(arm.name, arm.role, arm.server, "17.11", (("compiler", "gcc"),), ()) for arm in arms
        ),
        cells=tuple(
            CellRecord(
                spec,
                "latency_us_p50",
                "read-only",
                tuple(_record(one, n, draw) for n, one in enumerate(islice(recorded, rounds))),
            )
            for spec in specs
        ),
    )


def _record(recorded: Round, ordinal: int, draw: random.Random) -> RoundRecord:
    pairs = len(recorded.slices) // 2
    order = [tuple(one.arm for one in recorded.slices[2 * pair : 2 * pair + 2]) for pair in range(pairs)]
    return RoundRecord(
        plan=replace(
            recorded.plan,
            ordinal=ordinal,
            pairs=tuple(Pair(arms, draw.getrandbits(62)) for arms in order),
        ),
        state=RoundState.MEASURED,
        started="2026-01-01T00:00:00.000+00:00",
        seconds=recorded.seconds,
        slices=tuple(_slice(place, one) for place, one in enumerate(recorded.slices)),
        arms=tuple(_arm(arm, recorded, draw) for arm in (0, 1)),
        placement=(("pinned", "yes"), ("threads", "1")),
    )


def _slice(place: int, one: SliceFigures) -> SliceRecord:
    return SliceRecord(
        pair=one.pair,
        position=place % 2,
        arm=one.arm,
        begun_at_ns=place * 50_000_000,
        ended_at_ns=place * 50_000_000 + 49_000_000,
        transactions=one.transactions,
        failed=0,
        discarded=150,
        busy_ns=round(one.busy_us * 1e3),
        rate_hz=one.transactions / one.busy_us * 1e6,
        latency=_latency(one.p50_us, one.p99_us, one.max_us, one.busy_us / one.transactions),
        server_cpu_ns=one.transactions * 15_000,
        engine_cpu_ns=one.transactions * 6000,
        engine_run_delay_ns=20_000,
        begin_late_ns_max=3000,
        drain_ns_max=15_000,
        server_run_delay_ns=20_000,
    )


def _arm(arm: int, recorded: Round, draw: random.Random) -> ArmRecord:
    mine = [one for one in recorded.slices if one.arm == arm]
    transactions = sum(one.transactions for one in mine)
    busy_us = sum(one.busy_us for one in mine)
    p50, p99 = (recorded.values[name][arm] for name in ("latency_us_p50", "latency_us_p99"))
    latency = _latency(p50, p99, max(one.max_us for one in mine), busy_us / transactions)
    statement = StatementRecord(
        _STATEMENT, transactions, latency.mean_ns, latency.sd_ns, _histogram(draw), transactions, 0.005, 0.001
    )
    return ArmRecord(
        arm=arm,
        server_version="17.11",
        transactions=transactions,
        failed=0,
        busy_ns=round(busy_us * 1e3),
        latency=latency,
        histogram=_histogram(draw),
        statements=(statement,),
        start_ms=130.0,
        data_bytes=160_000_000,
        buffers_read=0,
        storage_read_bytes=0,
    )


def _latency(p50_us: float, p99_us: float, max_us: float, mean_us: float) -> Latency:
    return Latency(
        p50_us * 800, mean_us * 1e3, p50_us * 300, p50_us * 1e3, p50_us * 1500, p99_us * 1e3, max_us * 1e3
    )


def _histogram(draw: random.Random) -> str:
    return base64.b64encode(draw.randbytes(HISTOGRAM_BYTES)).decode()


def _copy(connection: sqlite3.Connection, run: RunRecord, number: int, *, cells: int, rounds: int) -> None:
    """The first run once more. Its rows have the lowest numbers, so copies of them follow each other."""
    new = {
        "id": _name(number), "first": run.id, "started": _started(number), "seed": number + 1,
        "cells": number * cells, "rounds": number * rounds, "last_cell": cells, "last_round": rounds,
    }  # fmt: skip
    for table, condition in _tables(connection):
        columns = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
        values = [_value(table, column) for column in columns]
        connection.execute(
            f"INSERT INTO {table} ({', '.join(columns)}) SELECT {', '.join(values)} FROM {table} WHERE {condition}",
            new,
        )


def _tables(connection: sqlite3.Connection) -> Iterator[tuple[str, str]]:
    """Those with rows of a run, what belongs to another after it; and which rows are the first run's."""
    yield "runs", "id = :first"
    yield "arms", "run_id = :first"
    yield "cells", "run_id = :first"
    yield "rounds", "cell <= :last_cell"
    names = [row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    of_rounds = [
        name
        for name in names
        if name != "rounds"
        and "round" in {row[1] for row in connection.execute(f"PRAGMA table_info({name})")}
    ]
    for name in sorted(of_rounds, key=lambda name: (name != "round_arms", name)):
        yield name, "round <= :last_round"


def _value(table: str, column: str) -> str:
    """What stands in a column of a copy."""
    if (table, column) in (("runs", "id"), ("runs", "started"), ("runs", "seed")):
        return f":{column}"
    return {"run_id": ":id", "cell": "cell + :cells", "round": "round + :rounds"}.get(column, column)


def _name(number: int) -> str:
    return f"{_BEGUN + timedelta(days=number):%Y-%m-%d-%H%M}-{number:04x}"


def _started(number: int) -> str:
    return (_BEGUN + timedelta(days=number)).isoformat(timespec="milliseconds")
