"""Servers that somebody else runs, against a real one behind TCP, passwords and TLS."""

import signal
import socket
import struct
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from pgverdict.engine.process import Engine, EngineError, Named
from pgverdict.errors import PgverdictError, UserError, WorldError
from pgverdict.observe import views
from pgverdict.servers.outside import OutsideServer
from pgverdict.servers.stay import Stay
from pgverdict.workloads.workload import Script
from tests.outside import PASSWORD, Elsewhere, somebody_elses

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def elsewhere() -> Iterator[Elsewhere]:
    with somebody_elses() as server:
        yield server


@pytest.fixture(autouse=True)
def _password(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGPASSWORD", PASSWORD)


def test_databases_are_made_under_names_of_ours_and_go_with_the_stay(elsewhere: Elsewhere) -> None:
    before = elsewhere.databases()
    with Stay(elsewhere.dsn()) as stay:
        first = stay.create()
        copy = stay.create(template=first, settings={"work_mem": "9MB"})
        assert set(elsewhere.databases()) - set(before) == {first, copy}
        assert stay.token in first
        with stay.connect(copy) as connection:
            shown = connection.execute("SHOW work_mem").fetchone()
        assert shown == ("9MB",)
        stay.drop(copy)
        assert set(elsewhere.databases()) - set(before) == {first}
    assert elsewhere.databases() == before


def test_what_a_killed_run_left_is_removed_and_what_others_have_is_not(elsewhere: Elsewhere) -> None:
    elsewhere.ask("CREATE DATABASE pgverdict_mine OWNER maker")
    elsewhere.ask("CREATE DATABASE pgverdict_0123456789ab_0 OWNER maker")  # our name, and no mark
    program = (
        "import sys, time; from pgverdict.servers.stay import Stay; stay = Stay(sys.argv[1]);"
        " first = stay.create(); copy = stay.create(template=first);"
        " stay._keeper.execute(f'COMMENT ON DATABASE {copy} IS NULL');"  # as if killed in the middle of making it
        " print(first, copy, flush=True); time.sleep(600)"
    )
    killed = subprocess.Popen(
        [sys.executable, "-c", program, elsewhere.dsn()], stdout=subprocess.PIPE, text=True
    )
    assert killed.stdout is not None
    left = killed.stdout.readline().split()
    with Stay(elsewhere.dsn()) as living, Stay(elsewhere.dsn()) as stay:
        kept = living.create()
        assert not any(name in said for said in stay.sweep() for name in (*left, kept))

        killed.send_signal(signal.SIGKILL)
        killed.communicate()
        _until_gone(elsewhere, left[0].split("_")[1])
        said = "; ".join(stay.sweep())

        assert f"removed {left[0]}, {left[1]}" in said
        assert "pgverdict_0123456789ab_0 on" in said
        assert "no mark: it stays" in said
        assert set(elsewhere.databases()) == {kept, "pgverdict_mine", "pgverdict_0123456789ab_0"}
    elsewhere.ask("DROP DATABASE pgverdict_mine")
    elsewhere.ask("DROP DATABASE pgverdict_0123456789ab_0")


def _until_gone(elsewhere: Elsewhere, token: str) -> None:
    """The server notices that a client is gone when it next listens to it."""
    query = f"SELECT 1 FROM pg_stat_activity WHERE application_name = 'pgverdict {token}'"
    while elsewhere.ask(query):
        elsewhere.ask("SELECT pg_sleep(0.01)")


def test_the_oldest_release_is_one_of_them() -> None:
    with somebody_elses("9.6") as elsewhere:
        with Stay(elsewhere.dsn("boss")) as stay:
            facts = dict(stay.inspect().facts)
            assert facts["version"].startswith("PostgreSQL 9.6.")
            server = OutsideServer(stay, {})
            server.create_database("bench")
            with views.session(server, "bench") as connection:
                views.create_extensions(connection, shared=True)
                assert not views.has_extension(connection, "pg_stat_statements")  # its counts are everybody's
                assert views.has_extension(connection, "pg_prewarm")
            copy = stay.create(template=server.names["bench"])
            with stay.connect(copy):
                stay.drop(copy)  # whoever is connected
            assert stay.free_connections() > 0
        assert elsewhere.databases() == []


@pytest.mark.parametrize(
    ("user", "more", "password", "kind", "said", "hint"),
    [
        ("maker", "", "wrong", WorldError, "password authentication failed", "PGPASSWORD goes before"),
        ("maker", "", "", WorldError, "no password supplied", "PGPASSFILE"),
        ("maker", "&dbname=nowhere", PASSWORD, WorldError, 'database "nowhere" does not exist', "databases of its own"),
        ("stranger", "", PASSWORD, WorldError, "pg_hba.conf", "let this user in"),
        ("reader", "", PASSWORD, UserError, "the user reader may not create databases", "CREATEDB"),
        ("tls_only", "&sslmode=disable", PASSWORD, WorldError, "no encryption", "pg_hba.conf"),
        ("maker", "&sslmode=verify-full&sslrootcert=/nowhere.crt", PASSWORD, WorldError, "does not exist", ""),
        ("maker", "&hostaddr=127.0.0.1&port=1", PASSWORD, WorldError, "onnection refused", "is a server listening"),
    ],
)  # fmt: skip
def test_who_cannot_measure_there_is_told_why(
    elsewhere: Elsewhere,
    monkeypatch: pytest.MonkeyPatch,
    user: str,
    more: str,
    password: str,
    kind: type[PgverdictError],
    said: str,
    hint: str,
) -> None:
    monkeypatch.setenv("PGPASSWORD", password)
    monkeypatch.setenv("PGPASSFILE", "/nowhere")

    with pytest.raises(kind) as caught:
        Stay(elsewhere.dsn(user, more))

    assert said in caught.value.message
    assert hint in (caught.value.hint or "")
    assert PASSWORD not in caught.value.message


def test_a_host_that_nobody_knows_is_named() -> None:
    with pytest.raises(WorldError, match=r"host.*nobody\.invalid") as caught:
        Stay("postgresql://maker@nobody.invalid/postgres")
    assert caught.value.hint == "is the name of the host right?"


@contextmanager
def _answering(talk: Callable[[socket.socket], None]) -> Iterator[int]:
    """Something on a TCP port that answers every connection in its way."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            while True:
                try:
                    connection, _ = listening.accept()
                except OSError:
                    return
                with connection:
                    talk(connection)

        threading.Thread(target=serve, daemon=True).start()
        yield listening.getsockname()[1]
        listening.shutdown(socket.SHUT_RDWR)


def _message(kind: bytes, body: bytes) -> bytes:
    return kind + struct.pack("!i", len(body) + 4) + body


def test_what_is_no_postgresql_is_asked_about() -> None:
    def talk(connection: socket.socket) -> None:
        connection.recv(1024)
        connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")

    with _answering(talk) as port, pytest.raises(WorldError) as caught:
        Stay(f"postgresql://maker@127.0.0.1:{port}/postgres?gssencmode=disable")

    assert caught.value.hint == "is that a PostgreSQL?"


def test_a_server_older_than_the_oldest_is_refused() -> None:
    def talk(connection: socket.socket) -> None:
        connection.recv(1024)
        connection.sendall(
            _message(b"R", struct.pack("!i", 0))
            + _message(b"S", b"server_version\x009.5.25\x00")
            + _message(b"S", b"client_encoding\x00UTF8\x00")
            + _message(b"Z", b"I")
        )
        connection.recv(1024)

    with _answering(talk) as port, pytest.raises(UserError) as caught:
        Stay(f"postgresql://maker@127.0.0.1:{port}/postgres?gssencmode=disable&sslmode=disable")

    assert "too old" in caught.value.message
    assert "9.5.25" in caught.value.message


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"shared_buffers": "1GB"}, "is not a session's"),
        ({"autovacuum": "off"}, "is not a session's"),
        ({"work_memm": "1MB"}, "does not know the setting work_memm"),
        ({"work_mem": "plenty"}, 'invalid value for parameter "work_mem"'),
        ({"log_duration": "on"}, "permission denied to set parameter"),
    ],
)
def test_settings_that_no_session_of_ours_can_have_are_refused(
    elsewhere: Elsewhere, settings: dict[str, str], said: str
) -> None:
    with Stay(elsewhere.dsn()) as stay:
        stay.require_settings("new", {"work_mem": "8MB", "jit": "off"})
        with pytest.raises(UserError, match=said):
            stay.require_settings("new", settings)


@pytest.mark.parametrize(("user", "there"), [("maker", False), ("boss", True)])
def test_extensions_are_used_where_this_user_may_and_others_keep_their_counts(
    elsewhere: Elsewhere, user: str, there: bool
) -> None:
    with Stay(elsewhere.dsn(user)) as stay:
        server = OutsideServer(stay, {})
        server.create_database("bench")
        with views.session(server, "bench") as connection:
            views.create_extensions(connection, shared=True)
            assert [views.has_extension(connection, name) for name in views.EXTENSIONS] == [there, there]
            if there:
                elsewhere.ask("SELECT 'somebody else asks'")
                views.reset_statements(connection)
                others = connection.execute(
                    "SELECT count(*) FROM pg_stat_statements AS s WHERE s.query LIKE '%somebody%'"
                    " OR s.dbid <> (SELECT oid FROM pg_database WHERE datname = current_database())"
                ).fetchone()
                assert others is not None
                assert others[0] > 0


@pytest.mark.parametrize(
    ("user", "more"),
    [
        ("maker", "&sslmode=disable"),
        ("maker", "&sslmode=verify-full&sslrootcert={certificate}"),
        ("tls_only", ""),
    ],
)
def test_the_engine_works_there_with_a_password_and_under_tls(
    elsewhere: Elsewhere, user: str, more: str
) -> None:
    dsn = elsewhere.dsn(user, more.format(certificate=elsewhere.certificate))
    script = Script(
        "long", "SELECT repeat(md5(:client_id::text), 20000)", 1
    )  # larger than any buffer of ours
    with Engine.start() as engine:
        engine.setup(clients=2, threads=1, cpus=None, scripts=[script], variables={})
        connected = engine.connect(0, Named(dsn, "postgres"))
        done = engine.slice(
            0, seed=1, bound={"transactions_per_client": 20}, discard={"transactions_per_client": 0}
        )
    assert connected.server_version.startswith("17.")
    assert (done.transactions, done.failed) == (40, 0)


def test_the_engine_says_why_it_was_not_let_in_and_no_secret(elsewhere: Elsewhere) -> None:
    where = Named(elsewhere.dsn(), "postgres", "my other secret")
    assert "secret" not in repr(where)
    with Engine.start() as engine:
        engine.setup(clients=1, threads=1, cpus=None, scripts=[Script("one", "SELECT 1", 1)], variables={})
        with pytest.raises(EngineError) as caught:
            engine.connect(0, where)
    assert caught.value.kind == "server"
    assert 'password authentication failed for user "maker"' in caught.value.message
    assert "secret" not in caught.value.message
