"""Kerberos tickets in place of passwords: a real realm, a server built with GSSAPI, and libpq to compare with."""

import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from pgverdict.servers.account import Account
from pgverdict.servers.found import find_installed, obtain_installed
from pgverdict.servers.home import Home
from pgverdict.servers.install import Install
from pgverdict.spec.spelling import Installed

from . import kerberos
from .kerberos import Realm
from .listening import await_server, free_port

pytestmark = pytest.mark.slow

RULES = """
local all postgres trust
hostnossl all open_user 127.0.0.1/32 trust
hostnossl all all 127.0.0.1/32 gss include_realm=0
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
        realm.add("alice", "bob")
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
                for name in ("alice", "bob", "open_user"):
                    connection.execute(f"create role {name} login")
            yield Listener(port, install, realm)
        finally:
            process.terminate()
            process.wait(kerberos.READY_S_MAX)


SHOWN = """
select gss_authenticated and principal = '{user}@{realm}' and not encrypted as known
from pg_stat_gssapi where pid = pg_backend_pid() \\gset
\\set known debug(:known)
"""


def _ask(
    pgbench: Path, folder: Path, user: str, connection: str, environment: dict[str, str]
) -> tuple[int, str]:
    """The exit code, and what was said, after asking a server whether it knows us by our ticket."""
    script = folder / "script.sql"
    script.write_text(SHOWN.format(user=user, realm=kerberos.NAME))
    own = {name: value for name, value in os.environ.items() if not name.startswith(("PG", "KRB5"))}
    done = subprocess.run(
        [pgbench, "-n", "-t", "1", "-f", script, connection],
        env=own | {"HOME": str(folder), "LC_ALL": "C"} | environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        start_new_session=True,  # nobody can be asked for a password
    )
    return done.returncode, done.stderr


def _where(listener: Listener, user: str, more: str = "") -> str:
    return (
        f"host=localhost hostaddr=127.0.0.1 port={listener.port} user={user} dbname=postgres sslmode=disable"
        f" gssencmode=disable {more}"
    )


def _is_known(listener: Listener, option: str) -> bool:
    """Whether the real one has this connection option."""
    since = {"require_auth": 16, "gssdelegation": 17}
    return all(word not in option or listener.install.major >= (first,) for word, first in since.items())


@pytest.mark.parametrize(
    ("more", "environment"),
    [
        ("", {}),
        ("require_auth=gss", {}),
        ("require_auth=!none,!password", {}),
        ("gsslib=gssapi krbsrvname=postgres", {}),
        ("krbsrvname=other", {}),
        ("", {"PGKRBSRVNAME": "other"}),
        ("krbsrvname=postgres", {"PGKRBSRVNAME": "nothing"}),
    ],
)
def test_a_ticket_lets_a_user_in(
    our_pgbench: Path, listener: Listener, tmp_path: Path, more: str, environment: dict[str, str]
) -> None:
    own = listener.realm.tickets("alice", tmp_path / "tickets") | environment
    programs = [our_pgbench, *([_real(listener)] if _is_known(listener, more) else [])]

    for pgbench in programs:
        code, said = _ask(pgbench, tmp_path, "alice", _where(listener, "alice", more), own)

        assert (code, "boolean true" in said) == (0, True), (pgbench, said)


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
    if _is_known(listener, more):
        code, theirs = _ask(_real(listener), tmp_path, user, _where(listener, user, more), own)
        reason = re.search(r" failed: (.*)", theirs)
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
