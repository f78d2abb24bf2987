"""Kerberos tickets in place of passwords, and GSSAPI in place of TLS: a real realm, a server of it, and libpq."""

import contextlib
import re
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from pgverdict.servers.account import Account
from pgverdict.servers.found import find_installed, obtain_installed
from pgverdict.servers.home import Home
from pgverdict.servers.install import Install
from pgverdict.spec.spelling import Installed
from tests.listening import await_server, free_port

from . import kerberos
from .asking import OVERFLOWING, ask, environment_of
from .kerberos import Realm

pytestmark = pytest.mark.slow

RULES = """
local all postgres trust
host all open_user 127.0.0.1/32 trust
hostnogssenc all carol 127.0.0.1/32 reject
hostgssenc all dave 127.0.0.1/32 reject
host all all 127.0.0.1/32 gss include_realm=0
"""


@dataclass(frozen=True)
class Listener:
    """A server that takes tickets for services of `realm`."""

    port: int
    install: Install
    realm: Realm


@pytest.fixture(scope="module")
def install(home: Home, account: Account) -> Install:
    """Of an installed release, as the ready-made builds have no GSSAPI."""
    for release in find_installed():
        found = obtain_installed(Installed(str(release.programs)), home, account=account)
        if "--with-gssapi" in found.build.configure:
            return found
    pytest.skip("no PostgreSQL with GSSAPI is installed (hint: on Debian: apt-get install postgresql)")


@pytest.fixture(scope="module")
def listener(
    session_scratch: Path,
    account: Account,
    install: Install,
    copy_cluster: Callable[[Install, Path], Path],
) -> Iterator[Listener]:
    if missing := kerberos.missing_programs():
        packages = " ".join(sorted(set(missing.values())))
        pytest.skip(
            f"{', '.join(missing)} not there for a realm (hint: on Debian: apt-get install {packages})"
        )
    folder = session_scratch / "tickets"
    folder.mkdir()
    folder.chmod(0o755)
    with kerberos.realm(folder / "realm", account, free_port()) as realm:
        realm.add("alice", "bob", "carol", "dave")
        keys = realm.key_table("postgres/localhost", "other/localhost")
        data = copy_cluster(install, folder / "data")
        port = free_port()
        (data / "pg_hba.conf").write_text(RULES)
        with (data / "postgresql.conf").open("a") as file:
            file.write(
                f"port = {port}\nlisten_addresses = '127.0.0.1'\nunix_socket_directories = '{data}'\n"
                f"fsync = off\nkrb_server_keyfile = '{keys}'\n"
            )
        with (folder / "log").open("wb") as log:
            process = account.popen(
                [str(install.postgres), "-D", str(data)],
                cwd=data,
                stdout=log,
                stderr=log,
                environment=realm.environment,
            )
        try:
            with await_server(data, port) as connection:
                for name in ("alice", "bob", "carol", "dave", "open_user"):
                    connection.execute(f"create role {name} login")
                connection.execute("create database bench owner alice")
            yield Listener(port, install, realm)
        finally:
            process.terminate()
            process.wait(kerberos.READY_S_MAX)


SHOWN = """
select gss_authenticated and principal = '{user}@{realm}' as known, case when encrypted then 1 else 0 end as secret
from pg_stat_gssapi where pid = pg_backend_pid() \\gset
\\set known debug(:known)
\\set secret debug(:secret)
"""


def _ask(
    pgbench: Path, folder: Path, user: str, connection: str, environment: dict[str, str]
) -> tuple[int, str]:
    """The exit code, and what was said, after asking a server whether it knows us by our ticket."""
    return ask(pgbench, folder, SHOWN.format(user=user, realm=kerberos.NAME), connection, environment)


def _ask_libpq(folder: Path, connection: str, environment: dict[str, str]) -> tuple[int, str]:
    """The same of libpq itself, of which psycopg has one that knows all options (18 or later)."""
    done = subprocess.run(
        [sys.executable, "-c", "import psycopg, sys; psycopg.connect(sys.argv[1])", connection],
        env=environment_of(folder, environment),
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stderr


def _where(listener: Listener, user: str, more: str = "") -> str:
    return (
        f"host=localhost hostaddr=127.0.0.1 port={listener.port} user={user} dbname=postgres sslmode=disable"
        f" gssencmode=disable {more}"  # of what is said twice, the last counts
    )


def _is_known(listener: Listener, option: str) -> bool:
    """Whether the real one has this connection option."""
    since = {"require_auth": 16, "gssdelegation": 17}
    return all(word not in option or listener.install.major >= (first,) for word, first in since.items())


@pytest.mark.parametrize(
    ("user", "more", "environment", "secret"),
    [
        ("alice", "", {}, False),
        ("alice", "require_auth=gss", {}, False),
        ("alice", "require_auth=!none,!password", {}, False),
        ("alice", "gsslib=gssapi krbsrvname=postgres", {}, False),
        ("alice", "krbsrvname=other", {}, False),
        ("alice", "", {"PGKRBSRVNAME": "other"}, False),
        ("alice", "krbsrvname=postgres", {"PGKRBSRVNAME": "nothing"}, False),
        ("alice", "gssencmode=require", {}, True),
        ("carol", "gssencmode=require sslmode=require", {}, True),
        ("carol", "gssencmode=require require_auth=gss krbsrvname=other", {}, True),
        ("carol", "gssencmode=require require_auth=none,md5", {}, True),
        ("carol", "gssencmode=prefer", {}, True),
        ("dave", "gssencmode=prefer", {}, False),
    ],
)
def test_a_ticket_lets_a_user_in(
    our_pgbench: Path,
    listener: Listener,
    tmp_path: Path,
    user: str,
    more: str,
    environment: dict[str, str],
    secret: bool,
) -> None:
    own = listener.realm.tickets(user, tmp_path / "tickets") | environment
    _require_known(our_pgbench, tmp_path, user, _where(listener, user, more), own, secret=secret)
    if _is_known(listener, more):
        _require_known(_real(listener), tmp_path, user, _where(listener, user, more), own, secret=secret)


def test_a_pipeline_that_overflows_is_sent_while_it_is_answered(
    our_pgbench: Path, listener: Listener, tmp_path: Path
) -> None:
    own = listener.realm.tickets("alice", tmp_path / "tickets")
    where = _where(listener, "alice", "gssencmode=require")
    code, said = ask(our_pgbench, tmp_path, OVERFLOWING, where, own, "-M", "extended")
    assert code == 0, said


def _require_known(
    pgbench: Path, folder: Path, user: str, connection: str, own: dict[str, str], *, secret: bool
) -> None:
    code, said = _ask(pgbench, folder, user, connection, own)
    assert (code, "boolean true" in said, f"int {int(secret)}" in said) == (0, True, True), (pgbench, said)


def _real(listener: Listener) -> Path:
    """The pgbench of the same release: with libpq that is built with GSSAPI, as its server is."""
    path = shutil.which("pgbench", path=str(Path(listener.install.package) / "bin"))
    if path is None:
        pytest.skip(f"no pgbench is in {listener.install.package}/bin to compare with")
    return Path(path)


@pytest.mark.parametrize(
    ("user", "holder", "more", "why"),
    [
        ("alice", "bob", "", 'FATAL:  GSSAPI authentication failed for user "alice"'),
        ("alice", None, "", "GSSAPI continuation error: "),
        ("alice", "alice", "krbsrvname=nothing", "nothing/localhost@"),
        ("alice", "alice", "host=''", "host name must be specified"),
        (
            "alice",
            "alice",
            "channel_binding=require",
            "channel binding required but not supported by server's authentication request",
        ),
        ("alice", "alice", "require_auth=!gss", "server requested GSSAPI authentication"),
        ("alice", "alice", "require_auth=scram-sha-256", "server requested GSSAPI authentication"),
        ("open_user", "alice", "require_auth=gss", "server did not complete authentication"),
        ("carol", None, "gssencmode=prefer", "FATAL:  pg_hba.conf rejects connection"),
        ("dave", "dave", "gssencmode=require", "FATAL:  pg_hba.conf rejects connection"),
        ("carol", "carol", "", "FATAL:  pg_hba.conf rejects connection"),
        ("alice", "bob", "gssencmode=require", 'FATAL:  GSSAPI authentication failed for user "alice"'),
        ("alice", None, "gssencmode=require", "GSSAPI encryption required but no credential cache"),
        ("alice", "alice", "gssencmode=require krbsrvname=nothing", "nothing/localhost@"),
        ("alice", "alice", "gssencmode=require require_auth=md5", "server did not complete authentication"),
        ("alice", "alice", "gssencmode=required", 'invalid gssencmode value: "required"'),
        (
            "alice",
            "alice",
            "gssencmode=require host=/tmp hostaddr=''",
            "GSSAPI encryption required but it is not supported over a local socket",
        ),
    ],
)
def test_who_has_not_the_right_ticket_is_told_so_in_libpqs_words(
    our_pgbench: Path, listener: Listener, tmp_path: Path, user: str, holder: str | None, more: str, why: str
) -> None:
    file = tmp_path / "tickets"
    none = listener.realm.environment | {"KRB5CCNAME": f"FILE:{file}"}
    own = none if holder is None else listener.realm.tickets(holder, file)

    code, said = _ask(our_pgbench, tmp_path, user, _where(listener, user, more), own)

    assert (code, why in said) == (1, True), said
    code, theirs = _ask_libpq(tmp_path, _where(listener, user, more), own)
    reason = re.search(r"(?:failed|is bad): (?!connection to)(.*)", theirs)
    assert reason is not None, theirs
    assert (code, reason[1] in said) == (1, True), (theirs, said)


@pytest.mark.parametrize(("delegates", "asked"), [("0", False), ("1", True)])
def test_a_ticket_is_handed_on_where_the_user_wants_it(
    our_pgbench: Path, listener: Listener, tmp_path: Path, delegates: str, asked: bool
) -> None:
    own = listener.realm.tickets("alice", tmp_path / "tickets") | {"PGGSSDELEGATION": delegates}
    before = listener.realm.log()

    code, said = _ask(our_pgbench, tmp_path, "alice", _where(listener, "alice"), own)

    assert (code, "boolean true" in said) == (0, True), said
    # Who hands on a ticket asks the centre for one to hand on: for the centre itself, by that which is there.
    news = listener.realm.log().removeprefix(before)
    found = re.search(rf"TGS_REQ .* for krbtgt/{kerberos.NAME}@{kerberos.NAME}", news)
    assert (found is not None) == asked, news


def test_a_ticket_alone_encrypts_nothing(our_pgbench: Path, listener: Listener, tmp_path: Path) -> None:
    own = listener.realm.tickets("alice", tmp_path / "tickets")
    where = _where(listener, "alice").replace("gssencmode=disable", "")

    code, said = _ask(our_pgbench, tmp_path, "alice", where, own)

    assert (code, "boolean true" in said, "int 0" in said) == (0, True, True), said


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (b"N", "server doesn't support GSSAPI encryption, but it was required"),
        (b"S", "received invalid response to GSSAPI negotiation: S"),
        (b"G\xff\xff\xff\xff", "oversize GSSAPI packet sent by the server (4294967295 > 65532)"),
        (b"G\0\0\0\x02no", "could not initiate GSSAPI security context: "),
        (b"G\0\0", "server closed the connection unexpectedly"),
    ],
)
def test_a_server_that_does_not_agree_on_encryption_is_left(
    our_pgbench: Path, listener: Listener, tmp_path: Path, answer: bytes, why: str
) -> None:
    own = listener.realm.tickets("alice", tmp_path / "tickets")
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def talk() -> None:
            connection, _ = listening.accept()
            # It may be closed before all of this was said.
            with connection, contextlib.suppress(OSError):
                connection.recv(8)
                connection.sendall(answer)
                connection.shutdown(socket.SHUT_WR)
                while connection.recv(65536):
                    pass

        server = threading.Thread(target=talk, daemon=True)
        server.start()
        where = _where(listener, "alice", f"gssencmode=require port={listening.getsockname()[1]}")
        code, said = _ask(our_pgbench, tmp_path, "alice", where, own)
        server.join(kerberos.READY_S_MAX)

    assert (code, why in said) == (1, True), said


def test_what_is_long_goes_through_encryption_whole(
    our_pgbench: Path, listener: Listener, tmp_path: Path
) -> None:
    own = environment_of(tmp_path, listener.realm.tickets("alice", tmp_path / "tickets"))
    where = _where(listener, "alice", "gssencmode=require").replace("dbname=postgres", "dbname=bench")
    script = tmp_path / "script.sql"
    # Answers and questions of many packets each, which must come back as they went.
    script.write_text(
        "\\set length random(1, 200000)\n"
        "select repeat(md5(:length::text), :length / 32 + 1) as long \\gset\n"
        "select (:'long' = repeat(md5(:length::text), :length / 32 + 1))::int as same \\gset\n"
        "\\if :same\n\\else\nselect 1 / 0;\n\\endif\n".replace(":'long'", "':long'")
    )

    def run(*words: str | Path) -> str:
        done = subprocess.run(
            [our_pgbench, *words, where], env=own, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    run("-i", "-q")
    mixed = run("-n", "-c", "4", "-j", "2", "-t", "50", "-M", "prepared")
    anew = run("-n", "-C", "-S", "-c", "4", "-j", "2", "-t", "5")
    long = run("-n", "-c", "2", "-j", "2", "-t", "20", "-f", script)

    assert "number of transactions actually processed: 200/200" in mixed
    assert "number of transactions actually processed: 20/20" in anew
    assert "number of transactions actually processed: 40/40" in long
