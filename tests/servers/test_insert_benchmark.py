"""The steps of the Insert Benchmark on real servers: what they leave in the tables, and that roles keep pace."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from pgverdict.conduct.cell import PreparedCell
from pgverdict.conduct.placement import place
from pgverdict.conduct.steps import StepRunner
from pgverdict.datasets.load import DATABASE, load
from pgverdict.engine.process import Engine
from pgverdict.observe import views
from pgverdict.observe.views import Connection
from pgverdict.plan.pools import Pools
from pgverdict.records.round import StepRecord
from pgverdict.servers.install import Install
from pgverdict.spec.campaign import CellSpec, Pinning
from pgverdict.spec.parameters import Chosen
from pgverdict.workloads import catalogue

from .conftest import MakeServer

pytestmark = pytest.mark.slow

QUICK = {"fsync": "off", "full_page_writes": "off", "autovacuum": "off", "shared_buffers": "64MB"}

TINY: Chosen = (
    ("l_i1_rows", 2000),
    ("l_i2_rows", 500),
    ("rates", "100"),
    ("rows", 3000),
    ("seconds", 1),
    ("wait_seconds", 0),
)

SHAPE = """
SELECT count(*), count(DISTINCT transactionid), min(cashregisterid) >= 0 AND max(cashregisterid) < 1000,
       min(productid) >= 0 AND max(productid) < 10000, min(customerid) >= 0 AND max(customerid) < 100000,
       min(price) >= 0 AND max(price) < 500, min(length(data)) >= 10 AND max(length(data)) <= 20
FROM {table}
"""


@contextmanager
def chain_on(
    make_server: MakeServer, install: Install, chosen: Chosen, clients: int
) -> Iterator[tuple[Callable[[], dict[str, StepRecord]], Connection]]:
    """What runs all steps of a chain, and a connection to what they work on."""
    chosen = tuple(sorted(dict((*TINY, *chosen)).items()))
    workload = catalogue.workload("insert-benchmark", chosen)
    assert workload.chain is not None
    chain = workload.chain(1, clients)
    cell = PreparedCell(
        spec=CellSpec("insert-benchmark", 1, clients, chosen),
        workload=workload,
        arms=(),
        placement=place(clients, Pinning.FREE),
        slots=(Path(),),
        load_pools=Pools.apart(2, 2),
        install_pools=Pools.apart(2, 1),
    )
    with make_server(install, **QUICK) as server, Engine.start() as engine:
        load(engine, server, workload.dataset, 1, lambda _done, _total: None)
        with views.session(server, DATABASE) as connection:
            runner = StepRunner(engine, server, connection, cell, chain.program, arm=0, position=0)

            def run() -> dict[str, StepRecord]:
                done = [runner.run(step, number, 7 + number) for number, step in enumerate(chain.steps)]
                return {one.step.name: one.step for one in done}

            yield run, connection


def one(connection: Connection, query: str) -> tuple[object, ...]:
    row = connection.execute(query.encode()).fetchone()
    assert row is not None
    return tuple(row)


@pytest.mark.parametrize("release", ["9.6", "12", "18"])
def test_a_chain_leaves_as_many_rows_as_its_first_step_loaded(
    make_server: MakeServer, obtained: Callable[[str], Install], release: str
) -> None:
    with chain_on(make_server, obtained(release), (), clients=2) as (run, connection):
        steps = run()
        assert list(steps) == ["l.i0", "l.x", "l.i1", "l.i2", "wait", "qr100", "qp100"]
        for table in ("pi1", "pi2"):
            # Each client deletes as many rows as it inserts from l.i1 on.
            assert one(connection, SHAPE.format(table=table)) == (1500, 1500, *[True] * 5)
            (newest,) = one(connection, f"SELECT max(transactionid) FROM {table}")
            # Numbers are taken from the sequence by the thousand, and a step has a session of its own.
            assert isinstance(newest, int)
            assert newest >= 5 * 1000
            indexes = f"SELECT count(*) FROM pg_index WHERE indrelid = '{table}'::regclass"
            assert one(connection, indexes) == (4,)
        # The clock: a second for a thousand rows of a client, of which this is the last that is there.
        assert one(connection, "SELECT max(dateandtime)::text FROM pi1") == ("2026-01-01 00:00:02",)
    assert [step.rows for step in steps.values()] == [3000, 0, 2000, 500, 0, 200, 200]
    assert [steps[name].operations for name in ("l.i0", "l.x", "l.i1", "l.i2")] == [3000, 3000, 2000, 500]
    assert steps["qr100"].operations > 0
    assert steps["qp100"].operations > 0
    assert steps["wait"].latency is None
    for name, step in steps.items():
        assert step.seconds > 0, name
        assert step.server_cpu_ns > 0, name
        assert step.tables_bytes > 0, name
    # A row has 24 bytes of header, 48 to 56 of values and a pointer, its key 20 in the primary key; secondary indexes
    # have 24 to 36 for it. Pages are not full, and tables so small have few.
    assert 100 < steps["l.i0"].tables_bytes / 3000 < 180
    assert 80 < (steps["l.x"].tables_bytes - steps["l.i0"].tables_bytes) / 3000 < 180
    for name in ("l.i0", "l.i1", "l.i2"):
        assert steps[name].wal_bytes > 50 * steps[name].rows, name
        assert steps[name].switches > 0, name


def test_the_same_rows_come_from_the_same_seed_whatever_the_release(
    make_server: MakeServer, obtained: Callable[[str], Install]
) -> None:
    digest = (
        "SELECT md5(string_agg(concat_ws(',', dateandtime, cashregisterid, customerid, productid, price, data), ';'"
        " ORDER BY transactionid)) FROM pi1"
    )
    found = set()
    for release in ("9.6", "18"):
        with chain_on(make_server, obtained(release), (("deletes", False),), clients=1) as (run, connection):
            run()
            assert one(connection, "SELECT count(*) FROM pi1") == (3000 + 2000 + 500 + 100 + 100,)
            found.add(one(connection, digest))
    assert len(found) == 1


def test_all_options_at_once(make_server: MakeServer, obtained: Callable[[str], Install]) -> None:
    chosen: Chosen = (
        ("htap_seconds", 1),
        ("partitions", 4),
        ("secondary_indexes", 1),
        ("shared_table", True),
    )
    with chain_on(make_server, obtained("18"), chosen, clients=2) as (run, connection):
        steps = run()
        (left,) = one(connection, "SELECT count(*) FROM pi1")
        assert isinstance(left, int)
        # Two deleters of one table may come to the same rows; what one finds deleted stays inserted.
        assert 3000 <= left <= 3000 + 2900
        parts = (
            "SELECT count(*), bool_and(relname ~ '^pi1_p[0-3]$') FROM pg_class"
            " WHERE relispartition AND relkind = 'r'"
        )
        assert one(connection, parts) == (4, True)
        assert one(connection, "SELECT count(*) FROM pg_class WHERE relname ~ '^pi._marketsegment$'") == (1,)
        assert one(connection, "SELECT count(*) FROM pg_class WHERE relname ~ '^pi._pdc$'") == (0,)
    assert steps["qp100"].operations > 0


def test_a_rate_is_kept_where_it_can_be(make_server: MakeServer, obtained: Callable[[str], Install]) -> None:
    chosen: Chosen = (("rates", "100"), ("seconds", 3))
    with chain_on(make_server, obtained("18"), chosen, clients=1) as (run, _):
        steps = run()
    assert steps["qr100"].rows == 300
    assert steps["qr100"].seconds >= 2.99
    assert steps["qr100"].tables_bytes > 0
    assert steps["qr100"].rows_per_second == 100
