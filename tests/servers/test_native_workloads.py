"""Native programs of the engine on real servers: their data, what they send, and what their kinds add up to."""

import re
from collections.abc import Callable

import pytest

from pgverdict.datasets.load import DATABASE, load, where
from pgverdict.engine.process import EPOLL, IO_URING, Engine
from pgverdict.observe import views
from pgverdict.servers.install import Install
from pgverdict.servers.server import Server
from pgverdict.spec.parameters import Chosen
from pgverdict.workloads import catalogue, sysbench
from pgverdict.workloads.workload import Workload

from .conftest import MakeServer

pytestmark = pytest.mark.slow

QUICK = {"fsync": "off", "full_page_writes": "off", "autovacuum": "off", "shared_buffers": "64MB"}

SMALL: Chosen = (("field_length", 20), ("fields", 3))


def ask(server: Server, sql: str) -> tuple[object, ...]:
    with views.session(server, DATABASE) as connection:
        row = connection.execute(sql.encode()).fetchone()
    assert row is not None
    return tuple(row)


def shape(statement: str) -> str:
    """Constants are parameters to pg_stat_statements."""
    return re.sub(r"\$\d+|(?<= )\d+\b", "?", statement)


def calls(server: Server) -> dict[str, int]:
    """How often each statement of a program ran, by its text, as the server counted."""
    with views.session(server, DATABASE) as connection:
        return {text: count.calls for text, count in views.statement_counts(connection)}


def run(
    engine: Engine,
    server: Server,
    workload: Workload,
    *,
    transactions: int,
    clients: int = 2,
    event_loop: str = EPOLL,
) -> dict[str, int]:
    """Transactions per kind, of the clients together."""
    ready = engine.setup(
        clients=clients,
        threads=1,
        cpus=None,
        scripts=workload.scripts,
        program=workload.program,
        variables={"scale": 1},
        event_loop=event_loop,
    )
    if ready.event_loop != event_loop:
        pytest.skip(f"NOT TESTED: {event_loop}, which this kernel does not allow")
    engine.connect(0, where(server))
    bound, discard = {"transactions_per_client": transactions}, {"transactions_per_client": 0}
    done = [engine.slice(0, seed=seed, bound=bound, discard=discard) for seed in (7, 8)]
    totals = engine.totals(0)
    engine.disconnect(0)
    assert sum(one.transactions for one in done) == totals.transactions == 2 * clients * transactions
    assert totals.failed == 0
    counts = {ready.kinds[kind.kind]: kind.count for kind in totals.kinds}
    assert sum(counts.values()) == totals.transactions
    return counts


def prepare(engine: Engine, server: Server, workload: Workload) -> None:
    load(engine, server, workload.dataset, 1, lambda _done, _total: None)


@pytest.mark.parametrize("release", ["9.6", "12", "15", "18"])
def test_ycsb_does_what_its_mixes_say(
    make_server: MakeServer, obtained: Callable[[str], Install], release: str
) -> None:
    with make_server(obtained(release), **QUICK) as server, Engine.start() as engine:
        prepare(engine, server, catalogue.workload("ycsb-a", SMALL))
        assert ask(server, "SELECT count(*), count(DISTINCT ycsb_key), min(length(field2)) FROM usertable") == (
            10_000, 10_000, 20,
        )  # fmt: skip
        first = "SELECT count(*) FROM usertable WHERE ycsb_key = 'user6284781860667377211'"
        assert ask(server, first) == (1,)
        for letter in "abcdef":
            before = ask(server, "SELECT count(*), max(xmin::text::bigint) FROM usertable")
            with views.session(server, DATABASE) as connection:
                views.reset_statements(connection)
            counts = run(engine, server, catalogue.workload(f"ycsb-{letter}", SMALL), transactions=300)
            sent = calls(server)
            reads = sum(
                count for text, count in sent.items() if text.startswith("SELECT * FROM usertable WHERE")
            )
            updates = sum(count for text, count in sent.items() if text.startswith("UPDATE usertable"))
            inserts = sum(count for text, count in sent.items() if text.startswith("INSERT INTO usertable"))
            both = counts.get("read_modify_write", 0)
            assert reads == counts.get("read", 0) + counts.get("scan", 0) + both, letter
            assert updates == counts.get("update", 0) + both, letter
            assert inserts == counts.get("insert", 0), letter
            after = ask(server, "SELECT count(*), max(xmin::text::bigint) FROM usertable")
            assert after[0] == before[0] + inserts  # type: ignore[operator]


def test_operations_with_a_target_come_no_faster_and_wait_in_their_latency(
    make_server: MakeServer, install: Install
) -> None:
    # Far more than any server does, so that the last ones come late for certain; and few, which all come in time.
    for target, transactions in ((10_000_000, 2000), (200, 20)):
        workload = catalogue.workload("ycsb-c", (*SMALL, ("target", target)))
        with make_server(install, **QUICK) as server, Engine.start() as engine:
            prepare(engine, server, workload)
            engine.setup(
                clients=2, threads=1, cpus=None, scripts=(), program=workload.program, variables={"scale": 1}
            )
            engine.connect(0, where(server))
            bound, discard = {"transactions_per_client": transactions}, {"transactions_per_client": 0}
            done = engine.slice(0, seed=1, bound=bound, discard=discard)
        took_ns = done.ended_at_ns - done.begun_at_ns
        assert done.latency is not None
        if target == 200:
            # The last of 40 is due 39 steps of 5 ms after the first.
            assert took_ns >= 39 * 5_000_000
        else:
            # All were due within 0.4 ms, so they waited for half of the slice in the mean. If times counted from where
            # each was sent, they would be a two thousandth of it, however slow the host is.
            assert done.latency.mean_ns > 0.01 * took_ns


def test_ycsb_keeps_records_in_documents_too(make_server: MakeServer, install: Install) -> None:
    chosen: Chosen = (("field_length", 20), ("fields", 3), ("layout", "jsonb"))
    with make_server(install, **QUICK) as server, Engine.start() as engine:
        prepare(engine, server, catalogue.workload("ycsb-a", chosen))
        for letter in "afd":
            run(engine, server, catalogue.workload(f"ycsb-{letter}", chosen), transactions=100)
        whole = (
            "SELECT count(*) FROM usertable WHERE (SELECT count(*) FROM jsonb_object_keys(ycsb_value)) <> 3"
        )
        assert ask(server, whole) == (0,)
        chosen = tuple(sorted((*chosen, ("write_all_fields", True))))
        run(engine, server, catalogue.workload("ycsb-a", chosen), transactions=100)
        assert ask(server, whole) == (0,)


def test_records_that_are_inserted_twice_over_have_keys_of_their_own(
    make_server: MakeServer, install: Install
) -> None:
    """As on an aged copy: the connections that aged it are gone, and what they inserted is there."""
    workload = catalogue.workload("ycsb-d", SMALL)
    with make_server(install, **QUICK) as server, Engine.start() as engine:
        prepare(engine, server, workload)
        inserted = [run(engine, server, workload, transactions=200)["insert"] for _ in range(2)]
        assert ask(server, "SELECT count(*) FROM usertable") == (10_000 + sum(inserted),)


def test_a_table_that_is_not_what_was_loaded_is_an_error(make_server: MakeServer, install: Install) -> None:
    workload = catalogue.workload("ycsb-e", SMALL)
    with make_server(install, **QUICK) as server, Engine.start() as engine:
        prepare(engine, server, workload)
        with views.session(server, DATABASE) as connection:
            connection.execute("DELETE FROM usertable WHERE ycsb_key = 'user6284781860667377211'")
        with pytest.raises(Exception, match="usertable has 9999 records and 10000 were loaded"):
            run(engine, server, workload, transactions=1)


OLTP: dict[str, dict[str, int]] = {
    "point-select": {"SELECT c FROM sbtest1 WHERE id = $1": 1},
    "oltp-read-only": {
        "BEGIN": 1,
        "SELECT c FROM sbtest1 WHERE id = $1": 10,
        "SELECT c FROM sbtest1 WHERE id BETWEEN $1 AND $2": 1,
        "SELECT sum(k) FROM sbtest1 WHERE id BETWEEN $1 AND $2": 1,
        "SELECT c FROM sbtest1 WHERE id BETWEEN $1 AND $2 ORDER BY c": 1,
        "SELECT DISTINCT c FROM sbtest1 WHERE id BETWEEN $1 AND $2 ORDER BY c": 1,
        "COMMIT": 1,
    },
    "oltp-write-only": {
        "BEGIN": 1,
        "UPDATE sbtest1 SET k = k + 1 WHERE id = $1": 1,
        "UPDATE sbtest1 SET c = $1 WHERE id = $2": 1,
        "DELETE FROM sbtest1 WHERE id = $1": 1,
        "INSERT INTO sbtest1 (id, k, c, pad) VALUES ($1, $2, $3, $4)": 1,
        "COMMIT": 1,
    },
    "update-index": {"UPDATE sbtest1 SET k = k + 1 WHERE id = $1": 1},
    "update-non-index": {"UPDATE sbtest1 SET c = $1 WHERE id = $2": 1},
    "insert": {"INSERT INTO sbtest1 (k, c, pad) VALUES ($1, $2, $3)": 1},
    "delete": {"DELETE FROM sbtest1 WHERE id = $1": 1},
}
OLTP["oltp-read-write"] = OLTP["oltp-read-only"] | OLTP["oltp-write-only"]


@pytest.mark.parametrize("release", ["9.6", "12", "15", "18"])
def test_sysbench_sends_the_statements_of_its_scripts(
    make_server: MakeServer, obtained: Callable[[str], Install], release: str
) -> None:
    with make_server(obtained(release), **QUICK) as server, Engine.start() as engine:
        prepare(engine, server, catalogue.workload("sysbench-point-select"))
        row = "SELECT count(*), min(k) >= 1, max(k) <= 10000, min(length(c)), min(length(pad)) FROM sbtest1"
        assert ask(server, row) == (10_000, True, True, 119, 59)
        for name, statements in sorted(OLTP.items(), key=lambda item: item[0] in ("insert", "delete")):
            with views.session(server, DATABASE) as connection:
                views.reset_statements(connection)
            run(engine, server, catalogue.workload(f"sysbench-{name}"), transactions=25, clients=1)
            # Not BEGIN and COMMIT: releases count these by names of their own, and some only the first of a connection.
            sent = {shape(text): count for text, count in calls(server).items() if "sbtest1" in text}
            wanted = {shape(text): 50 * count for text, count in statements.items() if "sbtest1" in text}
            assert sent == wanted, name
        assert ask(server, "SELECT count(*) > 10000 FROM sbtest1 WHERE id <= 10050") == (False,)

        with views.session(server) as connection:
            connection.execute(f"DROP DATABASE {DATABASE}".encode())
        bulk = catalogue.workload("sysbench-bulk-insert", (("rows", 100), ("tables", 2)))
        prepare(engine, server, bulk)
        for connected in (1, 2):
            assert run(engine, server, bulk, transactions=3) == {"insert": 12}
            filled = "SELECT count(*), min(id), max(id), bool_and(k = id) FROM sbtest2"
            assert ask(server, filled) == (600 * connected, 1, 600 * connected, True)


def test_every_sysbench_workload_runs_on_several_tables_and_with_every_distribution(
    make_server: MakeServer, install: Install
) -> None:
    with make_server(install, **QUICK) as server, Engine.start() as engine:
        prepare(engine, server, catalogue.workload("sysbench-point-select", (("tables", 3),)))
        assert ask(server, "SELECT count(*) FROM sbtest1 JOIN sbtest3 USING (id, c)") == (0,)
        for entry in sysbench.ENTRIES:
            run(engine, server, catalogue.workload(entry.name, (("tables", 3),)), transactions=5)
        for distribution in ("gaussian", "special", "pareto", "zipfian"):
            chosen = (("distribution", distribution), ("tables", 3))
            run(engine, server, catalogue.workload("sysbench-point-select", chosen), transactions=20)


def test_two_clients_that_replace_one_row_at_once_do_not_end_a_run(
    make_server: MakeServer, install: Install
) -> None:
    """Each deletes and inserts the same id: one of them inserts what the other has just inserted."""
    chosen: Chosen = (
        ("distribution", "special"),
        ("index_updates", 0),
        ("non_index_updates", 0),
        ("special_percent", 0.01),
        ("special_repeated", 99),
    )
    workload = catalogue.workload("sysbench-oltp-write-only", chosen)
    with make_server(install, **QUICK) as server, Engine.start() as engine:
        prepare(engine, server, workload)
        engine.setup(
            clients=4, threads=2, cpus=None, scripts=(), program=workload.program, variables={"scale": 1}
        )
        engine.connect(0, where(server))
        bound, discard = {"transactions_per_client": 500}, {"transactions_per_client": 0}
        done = engine.slice(0, seed=1, bound=bound, discard=discard)
        assert done.transactions + done.failed == 2000
        assert done.failed > 0
        assert ask(server, "SELECT count(*), count(DISTINCT id) FROM sbtest1") == (10_000, 10_000)


@pytest.mark.parametrize(
    ("name", "chosen"),
    [
        ("ycsb-f", SMALL),
        # Clients that replace one row at once fail or not as it happens, and what fails sends less.
        ("sysbench-oltp-read-write", (("delete_inserts", 0),)),
    ],
)
def test_both_event_loops_send_the_same(
    make_server: MakeServer, install: Install, name: str, chosen: Chosen
) -> None:
    workload = catalogue.workload(name, chosen)
    with make_server(install, **QUICK) as server, Engine.start() as engine:
        prepare(engine, server, workload)
        seen = []
        for event_loop in (EPOLL, IO_URING):
            with views.session(server, DATABASE) as connection:
                views.reset_statements(connection)
            counts = run(engine, server, workload, transactions=100, clients=5, event_loop=event_loop)
            sent = {
                text: count for text, count in calls(server).items() if text.startswith(("SELECT", "UPDATE"))
            }
            seen.append((counts, {text: count for text, count in sent.items() if "pg_" not in text}))
    assert seen[0] == seen[1]
    assert all(sum(sent.values()) > 0 for _, sent in seen)
