"""Every workload of the pgbench group, and what its parameters make of the data, on real servers of every kind."""

from collections.abc import Callable

import pytest

from pgverdict.datasets.load import DATABASE, load, where
from pgverdict.engine.process import Engine
from pgverdict.observe import views
from pgverdict.servers.install import Install
from pgverdict.spec.parameters import Chosen
from pgverdict.workloads import catalogue, pgbench
from pgverdict.workloads.workload import Dataset, Workload

from .conftest import MakeServer

pytestmark = pytest.mark.slow

VARIANTS: tuple[tuple[str, Chosen], ...] = (
    *((entry.name, ()) for entry in pgbench.ENTRIES),
    ("simple-update", (("fillfactor", 50), ("foreign_keys", True), ("unlogged", True))),
    ("tpcb-like-indexed", (("fillfactor", 80), ("foreign_keys", True), ("partitions", 3))),
    ("batch-select", (("fillfactor", 80), ("foreign_keys", True), ("partitions", 3), ("extra_indexes", "lookups"))),
    ("batch-update", (("partition_method", "hash"), ("partitions", 4), ("unlogged", True))),
    ("select-only", (("partition_method", "hash"), ("partitions", 4), ("unlogged", True))),
)  # fmt: skip

QUICK = {
    "fsync": "off", "full_page_writes": "off", "autovacuum": "off", "shared_buffers": "64MB",
    "shared_preload_libraries": "pg_stat_statements",
}  # fmt: skip

FOUND = """
SELECT
    (SELECT count(*) FROM pg_class WHERE relname ~ '^pgbench_accounts_[0-9]+$'),
    (SELECT count(*) FROM pg_constraint WHERE contype = 'f' AND (conname || conrelid::regclass) !~ '[0-9]'),
    (SELECT count(*) FROM pg_index WHERE NOT indisprimary AND indrelid::regclass::text ~ '^pgbench_[a-z_]+$'),
    (SELECT relpersistence::text FROM pg_class WHERE relname = 'pgbench_history'),
    (SELECT reloptions[1] FROM pg_class WHERE relname = 'pgbench_tellers'),
    (SELECT count(*) FROM pgbench_accounts),
    (SELECT max(aid) FROM (SELECT aid FROM pgbench_accounts LIMIT 1000) AS first)
"""


@pytest.mark.parametrize("release", ["9.6", "12", "15", "18"])
def test_every_workload_runs_and_its_data_is_as_its_parameters_say(
    make_server: MakeServer, obtained: Callable[[str], Install], release: str
) -> None:
    install = obtained(release)
    by_data: dict[str, list[tuple[Workload, Chosen]]] = {}
    for name, given in VARIANTS:
        chosen = tuple(sorted(given))
        workload = catalogue.workload(name, chosen)
        if not any(install.is_before(need.since) for need in workload.dataset.needs):
            by_data.setdefault(workload.dataset.digest(1), []).append((workload, chosen))
    with make_server(install, **QUICK) as server, Engine.start() as engine:
        for users in by_data.values():
            dataset = users[0][0].dataset
            load(engine, server, dataset, 1, lambda _done, _total: None)
            with views.session(server, DATABASE) as connection:
                row = connection.execute(FOUND.encode()).fetchone()
            assert row == _expected(dataset, users[0][1]), users
            for workload, _ in users:
                ready = engine.setup(
                    clients=2,
                    threads=1,
                    cpus=None,
                    scripts=workload.scripts,
                    variables={"scale": 1},
                    statement_s=workload.statement_s,
                )
                engine.connect(0, where(server))
                with views.session(server, DATABASE) as connection:
                    views.reset_statements(connection)
                bound, discard = {"transactions_per_client": 2}, {"transactions_per_client": 1}
                done = engine.slice(0, seed=7, bound=bound, discard=discard)
                engine.disconnect(0)
                assert (done.transactions, done.failed, done.discarded) == (4, 0, 2), workload.name
                with views.session(server, DATABASE) as connection:
                    counts = dict(views.statement_counts(connection))
                for statement in ready.statements:
                    _check_counts(counts[statement.prepared_text], statement.prepared_text, install)
            with views.session(server) as connection:
                connection.execute(f"DROP DATABASE {DATABASE}".encode())


def _check_counts(counted: views.StatementCounts, text: str, install: Install) -> None:
    """Two clients ran three transactions each; the server found every statement under the text it was sent."""
    if text in ("BEGIN", "END") and not install.is_before(14):
        assert counted.calls == 2  # the first of every connection; `conduct.collect` leaves these out
        return
    assert counted.calls == 6, text
    assert counted.ms_mean >= 0
    assert (counted.wal_bytes is None) == install.is_before(13), text
    if text.startswith(("UPDATE", "INSERT")):
        assert counted.rows >= 6
        assert counted.buffers_hit + counted.buffers_read > 0


def _expected(dataset: Dataset, chosen: Chosen) -> tuple[object, ...]:
    values = dict(chosen)
    partitions = dataset.partitioning.count if dataset.partitioning else 0
    indexes = sum(
        count
        for sql, count in (("pgbench_history_mtime", 4), ("bid_abalance", 1), ("copy_aid", 1))
        if sql in dataset.indexes_sql
    )
    by_hash = values.get("partition_method") == "hash"
    return (
        partitions,
        5 if values.get("foreign_keys") else 0,
        indexes,
        "u" if values.get("unlogged") else "p",
        f"fillfactor={values.get('fillfactor', 100)}",
        100_000,
        pytest.approx(4000, rel=0.2) if by_hash else 1000,
    )
