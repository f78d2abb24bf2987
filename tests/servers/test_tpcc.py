"""The TPC-C-like workload on a real server: its data, its work, and its twelve checks."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from pgverdict.datasets.checks import check_data
from pgverdict.datasets.load import DATABASE, load, where
from pgverdict.engine.process import EPOLL, IO_URING, Engine
from pgverdict.errors import WorldError
from pgverdict.observe import views
from pgverdict.servers.account import Account
from pgverdict.servers.home import Home
from pgverdict.servers.obtain import obtain
from pgverdict.servers.server import Server
from pgverdict.spec.parameters import Chosen
from pgverdict.workloads import catalogue

from .conftest import CopyCluster

pytestmark = pytest.mark.slow

SCALE = 1
WITH_KEYS: Chosen = (("foreign_keys", True),)
DATASET = catalogue.workload("tpcc", WITH_KEYS).dataset

SPOILS = [
    ("UPDATE warehouse SET w_ytd = w_ytd + 1", {1, 8}),
    ("UPDATE district SET d_next_o_id = d_next_o_id + 1 WHERE d_id = 3", {2}),
    ("DELETE FROM new_order WHERE no_o_id = 2500 AND no_d_id = 1", {3, 5, 11}),
    ("DELETE FROM order_line WHERE ol_d_id = 1 AND ol_o_id = 1 AND ol_number = 1", {4, 6}),
    ("UPDATE oorder SET o_carrier_id = NULL WHERE o_d_id = 1 AND o_id = 1", {5, 7}),
    ("UPDATE oorder SET o_ol_cnt = o_ol_cnt + 3 - 2 * o_id WHERE o_d_id = 1 AND o_id IN (1, 2)", {6}),
    ("UPDATE order_line SET ol_delivery_d = NULL WHERE ol_d_id = 1 AND ol_o_id = 1", {7}),
    ("UPDATE history SET h_amount = h_amount + 1 WHERE h_d_id = 1 AND h_c_id = 1", {8, 9, 10}),
    ("UPDATE district SET d_ytd = d_ytd + 3 - 2 * d_id WHERE d_id IN (1, 2)", {9}),
    ("UPDATE customer SET c_balance = c_balance + 1 WHERE c_d_id = 1 AND c_id = 1", {10, 12}),
    ("UPDATE customer SET c_delivery_cnt = c_delivery_cnt + 1 WHERE c_d_id = 1 AND c_id = 1", {11}),
    ("UPDATE customer SET c_ytd_payment = c_ytd_payment + 1 WHERE c_d_id = 1 AND c_id = 1", {12}),
]  # fmt: skip


@pytest.fixture(scope="module")
def loaded(
    session_scratch: Path, home: Home, account: Account, copy_cluster: CopyCluster
) -> Iterator[Server]:
    """A running server with the data of one warehouse, checked."""
    install = obtain("18", home)
    data = copy_cluster(install, session_scratch / "tpcc")
    sockets = session_scratch / "s"
    account.make_directory(sockets)
    settings = {"fsync": "off", "max_wal_size": "2GB", "shared_buffers": "256MB", "deadlock_timeout": "50ms"}
    server = Server(install, data, sockets, settings, account)
    with server, Engine.start() as engine:
        load(engine, server, DATASET, SCALE, lambda _rows, _total: None)
        check_data(server, DATASET)
        yield server


def test_the_data_have_the_cardinalities_of_the_standard(loaded: Server) -> None:
    expected = {
        "warehouse": 1, "district": 10, "customer": 30_000, "item": 100_000, "stock": 100_000,
    }  # fmt: skip
    with views.session(loaded, DATABASE) as connection:
        for name, rows in expected.items():
            found = connection.execute(f"SELECT count(*) FROM {name}".encode()).fetchone()
            assert found == (rows,), name
        original = connection.execute("SELECT count(*) FROM item WHERE i_data LIKE '%ORIGINAL%'").fetchone()
        assert original is not None
        assert 9_500 < original[0] < 10_500


@pytest.mark.parametrize(("spoil", "broken"), SPOILS)
def test_each_check_finds_what_breaks_it(loaded: Server, spoil: str, broken: set[int]) -> None:
    with views.session(loaded, DATABASE) as connection:
        connection.execute("BEGIN")
        connection.execute(spoil.encode())
        found = {
            int(check.name)
            for check in DATASET.checks
            if connection.execute(check.sql.encode()).fetchone() is not None
        }
        connection.execute("ROLLBACK")

    assert found == broken


@pytest.mark.parametrize("variant", ["statements", "functions"])
@pytest.mark.parametrize("isolation", ["read-committed", "serializable"])
def test_terminals_that_share_a_warehouse_leave_the_data_whole(
    loaded: Server, variant: str, isolation: str
) -> None:
    chosen: Chosen = (("isolation", isolation), ("terminals", "any"), ("tries", 1000), ("variant", variant))
    workload = catalogue.workload("tpcc", chosen)
    with Engine.start() as engine:
        ready = engine.setup(
            clients=6,
            threads=2,
            cpus=None,
            scripts=(),
            program=workload.program,
            variables={"scale": SCALE},
            # One variant by each: what a server does is the same. io_uring only where the kernel allows it.
            event_loop=IO_URING if variant == "functions" else EPOLL,
        )
        engine.connect(0, where(loaded))
        done = engine.slice(0, seed=5, bound={"transactions_per_client": 92}, discard={"duration_us": 0})
        totals = engine.totals(0)

    kinds = {ready.kinds[kind.kind]: kind for kind in totals.kinds}
    assert (done.transactions, done.failed) == (6 * 92, 0)
    # Four decks of each terminal.
    assert {name: kind.count for name, kind in kinds.items()} == {
        "new_order": 240, "payment": 240, "order_status": 24, "delivery": 24, "stock_level": 24,
    }  # fmt: skip
    assert 0 < kinds["new_order"].rolled_back < 12
    assert sum(kind.rolled_back for kind in kinds.values()) == kinds["new_order"].rolled_back
    assert (sum(kind.retried for kind in kinds.values()) > 0) == (isolation == "serializable")
    check_data(loaded, DATASET)


def test_checks_spill_instead_of_taking_the_memory_that_work_may_have(loaded: Server) -> None:
    with views.session(loaded, DATABASE) as connection:
        connection.execute("ALTER SYSTEM SET work_mem = '1GB'")
        connection.execute("SELECT pg_reload_conf()")
    before = _temporary_files(loaded)
    check_data(loaded, DATASET)
    with views.session(loaded, DATABASE) as connection:
        connection.execute("ALTER SYSTEM RESET work_mem")
        connection.execute("SELECT pg_reload_conf()")

    assert _temporary_files(loaded) > before


def _temporary_files(server: Server) -> int:
    """Written so far; every session that has ended is counted."""
    with views.session(server, DATABASE) as connection:
        row = connection.execute(
            "SELECT temp_files FROM pg_stat_database WHERE datname = current_database()"
        ).fetchone()
    assert row is not None
    return int(row[0])


def test_data_that_break_a_check_are_told_with_a_row(loaded: Server) -> None:
    with views.session(loaded, DATABASE) as connection:
        connection.execute(
            "UPDATE customer SET c_delivery_cnt = c_delivery_cnt + 1 WHERE c_d_id = 7 AND c_id = 9"
        )
        try:
            with pytest.raises(WorldError, match=r"the data of tpcc break check 11 .* 1, 7, "):
                check_data(loaded, DATASET)
        finally:
            connection.execute(
                "UPDATE customer SET c_delivery_cnt = c_delivery_cnt - 1 WHERE c_d_id = 7 AND c_id = 9"
            )
