"""What servers count of statements with constants, and under which text, from the oldest release to the newest."""

import pytest

from pgverdict.datasets.load import DATABASE, where
from pgverdict.engine.process import Engine
from pgverdict.observe import views
from pgverdict.observe.statements import assign_counts
from pgverdict.servers.install import Install
from pgverdict.workloads.workload import Script

from .conftest import MakeServer

pytestmark = pytest.mark.slow

APART = (
    "SELECT -5, - 6, 7 - 8, true, NULL, 'a''b', E'x', date '1994-01-01', interval '3' day, $$q$$;",
    "SELECT v FROM t WHERE i = :i AND v > 0 LIMIT 3;",
    "SELECT v FROM t WHERE i IN (1, 2, 3);",
    "SELECT i, v FROM t ORDER BY 1 LIMIT 4;",
    "SELECT i, v FROM t ORDER BY 2 LIMIT 4;",
    "SELECT '{\"a\": 1}'::jsonb ? 'a';",
    "/* said */ SELECT 2 FROM t -- two\n;",
    "UPDATE t SET v = v + 1 WHERE i = :i;",
)
TOGETHER = ("SELECT v FROM t WHERE i = 5;", "SELECT v FROM t WHERE i = 6;")


@pytest.mark.parametrize("analysed", [False, True])
def test_statements_with_constants_are_found_whether_they_were_analysed_again_or_not(
    make_server: MakeServer, any_install: Install, analysed: bool
) -> None:
    script = Script("own", "\\set i random(1, 100)\n" + "\n".join((*APART, *TOGETHER)))
    with make_server(any_install, autovacuum="off") as server, Engine.start() as engine:
        server.create_database(DATABASE)
        with views.session(server, DATABASE) as connection:
            views.create_extensions(connection)
            connection.execute("CREATE TABLE t AS SELECT i, 0 AS v FROM generate_series(1, 100) AS i")
            ready = engine.setup(clients=2, threads=1, cpus=None, scripts=(script,), variables={"scale": 1})
            engine.connect(0, where(server))
            views.reset_statements(connection)
            if analysed:
                connection.execute("ALTER TABLE t ADD COLUMN w int")  # what was prepared holds no more
            bound, discard = {"transactions_per_client": 2}, {"transactions_per_client": 1}
            engine.slice(0, seed=7, bound=bound, discard=discard)
            rows = views.statement_counts(connection)

    sent = [statement.prepared_text for statement in ready.statements]
    calls = {text: counts.calls for text, counts in assign_counts(sent, rows).items()}
    assert calls == dict.fromkeys(sent[: len(APART)], 6)
    as_sent = {text for text, _ in rows}
    assert (sent[1] in as_sent) != analysed
