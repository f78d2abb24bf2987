"""TCP, TLS and passwords, against a real server."""

import contextlib
import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest

from pgverdict.servers.account import Account
from pgverdict.servers.install import Install

from .listening import READY_S_MAX, await_server, free_port

pytestmark = pytest.mark.slow

PASSWORD = "it's: a \\ secret"
TRADITIONAL_CIPHERS = ("aes128", "aes192", "aes256", "des3")
"""Those by which OpenSSL encrypts a key as it did before PKCS #8."""

RULES = """
local all postgres trust
hostssl all md5_user 127.0.0.1/32 md5
hostssl all scram_user 127.0.0.1/32 scram-sha-256
hostnossl all plain_user 127.0.0.1/32 password
hostnossl all bare_scram_user 127.0.0.1/32 scram-sha-256
hostssl all tls_user 127.0.0.1/32 trust
hostnossl all open_user 127.0.0.1/32 trust
hostssl all cert_user 127.0.0.1/32 cert
"""


@dataclass(frozen=True)
class Listener:
    """A server that listens to TCP, with certificates in `folder`."""

    port: int
    folder: Path


def _certify(folder: Path, name: str, *more: str) -> None:
    request = [
        "openssl",
        "req",
        "-x509",
        "-newkey",
        "rsa:2048",
        "-nodes",
        "-days",
        "2",
        "-subj",
        f"/CN={name}",
    ]
    files = ["-keyout", str(folder / f"{name}.key"), "-out", str(folder / f"{name}.crt")]
    subprocess.run([*request, *more, *files], check=True, capture_output=True)
    (folder / f"{name}.key").chmod(0o600)


@pytest.fixture(scope="module")
def listener(
    session_scratch: Path,
    account: Account,
    obtained: Callable[[str], Install],
    copy_cluster: Callable[[Install, Path], Path],
) -> Iterator[Listener]:
    if shutil.which("openssl") is None:
        pytest.skip(
            "openssl is not on PATH, which makes the certificates (hint: on Debian: apt-get install openssl)"
        )
    folder = session_scratch / "listener"
    folder.mkdir()
    folder.chmod(0o755)
    install = obtained("18")
    data = copy_cluster(install, folder / "data")
    _certify(folder, "localhost", "-addext", "subjectAltName=DNS:localhost")
    _certify(folder, "stranger")
    _certify(folder, "cert_user", "-addext", "basicConstraints=critical,CA:FALSE")
    account.give(folder / "localhost.key")
    lock = ["openssl", "pkcs8", "-topk8", "-passout", "pass:hush", "-in", str(folder / "cert_user.key")]
    subprocess.run([*lock, "-out", str(folder / "locked.key")], check=True, capture_output=True)
    for cipher in TRADITIONAL_CIPHERS:
        lock = ["openssl", "rsa", "-traditional", f"-{cipher}", "-passout", "pass:hush"]
        files = ["-in", str(folder / "cert_user.key"), "-out", str(folder / f"{cipher}.key")]
        subprocess.run([*lock, *files], check=True, capture_output=True)
    port = free_port()
    (data / "pg_hba.conf").write_text(RULES)
    with (data / "postgresql.conf").open("a") as file:
        file.write(
            f"port = {port}\nlisten_addresses = '127.0.0.1'\nunix_socket_directories = '{data}'\n"
            "fsync = off\nssl = on\n"
            f"ssl_cert_file = '{folder}/localhost.crt'\nssl_key_file = '{folder}/localhost.key'\n"
            f"ssl_ca_file = '{folder}/cert_user.crt'\n"
        )
    with (folder / "log").open("wb") as log:
        process = account.popen([str(install.postgres), "-D", str(data)], cwd=data, stdout=log, stderr=log)
    try:
        with await_server(data, port) as connection:
            for name in ("md5", "scram", "plain", "bare_scram", "tls", "open", "cert"):
                connection.execute(
                    f"set password_encryption = '{'md5' if name == 'md5' else 'scram-sha-256'}'"
                )
                quoted = PASSWORD.replace("'", "''")
                connection.execute(f"create role {name}_user login password '{quoted}'")
        yield Listener(port, folder)
    finally:
        process.terminate()
        process.wait(READY_S_MAX)


def _ask(pgbench: Path, folder: Path, connection: str, **environment: str) -> tuple[int, str]:
    """The exit code, and what was said, after asking a server whether it is spoken to under TLS."""
    script = folder / "script.sql"
    script.write_text(
        "select ssl as tls from pg_stat_ssl where pid = pg_backend_pid() \\gset\n\\set tls debug(:tls)\n"
    )
    own = {name: value for name, value in os.environ.items() if not name.startswith("PG")}
    done = subprocess.run(
        [pgbench, "-n", "-t", "1", "-f", script, connection],
        env=own | {"HOME": str(folder)} | environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        start_new_session=True,  # nobody can be asked for a password
    )
    return done.returncode, done.stderr


@pytest.mark.parametrize(
    ("user", "more", "tls"),
    [
        ("md5_user", "", True),
        ("scram_user", "", True),
        ("scram_user", "channel_binding=require", True),
        ("scram_user", "channel_binding=disable sslmode=require", True),
        ("plain_user", "sslmode=disable", False),
        ("plain_user", "sslmode=prefer", False),
        ("bare_scram_user", "", False),
        ("tls_user", "sslmode=allow", True),
        ("tls_user", "sslmode=verify-ca sslrootcert={folder}/localhost.crt", True),
        ("tls_user", "sslmode=verify-full sslrootcert={folder}/localhost.crt", True),
        ("open_user", "", False),
        ("open_user", "sslmode=allow", False),
        ("cert_user", "sslmode=require sslcert={folder}/cert_user.crt sslkey={folder}/cert_user.key", True),
        ("scram_user", "require_auth=scram-sha-256,md5", True),
        ("md5_user", "require_auth=!password,!none", True),
        (
            "cert_user",
            "sslmode=require sslcert={folder}/cert_user.crt sslkey={folder}/locked.key sslpassword=hush",
            True,
        ),
        *(
            (
                "cert_user",
                f"sslmode=require sslcert={{folder}}/cert_user.crt sslkey={{folder}}/{cipher}.key sslpassword=hush",
                True,
            )
            for cipher in TRADITIONAL_CIPHERS
        ),
        (
            "tls_user",
            "sslcert={folder}/cert_user.crt sslkey={folder}/cert_user.key sslcertmode=require",
            True,
        ),
        ("tls_user", "require_auth=none", True),
        ("tls_user", "target_session_attrs=read-write", True),
        ("tls_user", "target_session_attrs=prefer-standby load_balance_hosts=random", True),
        ("tls_user", "sslmode=require sslnegotiation=direct", True),
        ("tls_user", "ssl_min_protocol_version=TLSv1.3 sslsni=0", True),
        ("tls_user", "ssl_max_protocol_version=TLSv1.2", True),
        (
            "open_user",
            "keepalives_idle=10 keepalives_interval=2 keepalives_count=3 tcp_user_timeout=9000",
            False,
        ),
    ],
)
def test_a_user_gets_in_as_the_server_and_the_user_want_it(
    our_pgbench: Path, listener: Listener, tmp_path: Path, user: str, more: str, tls: bool
) -> None:
    where = f"host=localhost hostaddr=127.0.0.1 port={listener.port} user={user} dbname=postgres "

    code, said = _ask(our_pgbench, tmp_path, where + more.format(folder=listener.folder), PGPASSWORD=PASSWORD)

    assert (code, f"boolean {str(tls).lower()}" in said) == (0, True), said


@pytest.mark.parametrize(
    ("user", "more", "password", "why"),
    [
        ("scram_user", "", "wrong", "FATAL:  password authentication failed for user"),
        ("md5_user", "", "wrong", "FATAL:  password authentication failed for user"),
        ("scram_user", "", "", "fe_sendauth: no password supplied"),
        ("tls_user", "sslmode=disable", "", "FATAL:  no pg_hba.conf entry for host"),
        ("open_user", "sslmode=require", "", "FATAL:  no pg_hba.conf entry for host"),
        (
            "bare_scram_user",
            "sslmode=disable channel_binding=require",
            PASSWORD,
            "channel binding is required",
        ),
        ("tls_user", "sslmode=verify-ca", "", '.postgresql/root.crt" does not exist'),
        ("tls_user", "sslmode=verify-ca sslrootcert={folder}/stranger.crt", "", "certificate verify failed"),
        (
            "tls_user",
            "host=127.0.0.1 sslmode=verify-full sslrootcert={folder}/localhost.crt",
            "",
            'server certificate for "localhost" does not match host name "127.0.0.1"',
        ),
        (
            "plain_user",
            "sslmode=disable require_auth=scram-sha-256",
            PASSWORD,
            "server requested a cleartext password",
        ),
        ("md5_user", "require_auth=!md5", PASSWORD, "server requested a hashed password"),
        ("open_user", "sslmode=disable require_auth=!none", "", "server did not complete authentication"),
        (
            "open_user",
            "sslmode=disable target_session_attrs=standby",
            "",
            "server is not in hot standby mode",
        ),
        ("open_user", "sslmode=disable target_session_attrs=read-only", "", "session is not read-only"),
        (
            "cert_user",
            "sslcert={folder}/cert_user.crt sslkey={folder}/cert_user.key sslcertmode=disable",
            "",
            "requires a valid client certificate",
        ),
        (
            "tls_user",
            "sslmode=require sslcertmode=require",
            "",
            "server accepted connection without a valid SSL certificate",
        ),
        (
            "open_user",
            "sslmode=disable sslcertmode=require",
            "",
            "server did not request an SSL certificate",
        ),
        (
            "cert_user",
            "sslmode=require sslcert={folder}/cert_user.crt sslkey={folder}/locked.key sslpassword=loud",
            "",
            "could not load private key file",
        ),
        (
            "cert_user",
            "sslmode=require sslcert={folder}/cert_user.crt sslkey={folder}/locked.key",
            "",
            "it is encrypted, and there is no sslpassword",
        ),
        (
            "cert_user",
            "sslmode=require sslcert={folder}/cert_user.crt sslkey={folder}/aes256.key sslpassword=loud",
            "",
            "could not load private key file",
        ),
        (
            "cert_user",
            "sslmode=require sslcert={folder}/cert_user.crt sslkey={folder}/aes256.key",
            "",
            "it is encrypted, and there is no sslpassword",
        ),
        (
            "tls_user",
            "sslmode=verify-ca sslrootcert={folder}/localhost.crt sslcrl=/no/such",
            "",
            "list of revocations",
        ),
        (
            "tls_user",
            "sslmode=prefer sslnegotiation=direct",
            "",
            "may not be used with sslnegotiation=direct",
        ),
        (
            "tls_user",
            "sslmode=require gssencmode=require",
            "",
            "GSSAPI encryption required but no credential cache",
        ),
        ("tls_user", "sslmode=require gsslib=sspi", "", 'connection option "gsslib" is not supported'),
    ],
)
def test_who_is_not_let_in_is_told_why(
    our_pgbench: Path, listener: Listener, tmp_path: Path, user: str, more: str, password: str, why: str
) -> None:
    where = f"host=localhost hostaddr=127.0.0.1 port={listener.port} user={user} dbname=postgres "

    code, said = _ask(our_pgbench, tmp_path, where + more.format(folder=listener.folder), PGPASSWORD=password)

    assert code == 1
    assert why in said, said


AUTHORITY = """
[ca]
default_ca = own
[own]
database = {folder}/index.txt
serial = {folder}/serial
crlnumber = {folder}/serial
new_certs_dir = {folder}
default_md = sha256
default_days = 2
default_crl_days = 2
policy = any
x509_extensions = server
crl_extensions = list
[any]
commonName = supplied
[list]
authorityKeyIdentifier = keyid
[server]
basicConstraints = CA:FALSE
subjectAltName = DNS:localhost
"""


def test_a_certificate_that_was_revoked_is_refused(
    our_pgbench: Path, listener: Listener, tmp_path: Path
) -> None:
    folder, config = listener.folder, tmp_path / "authority.conf"
    config.write_text(AUTHORITY.format(folder=tmp_path))
    (tmp_path / "index.txt").touch()
    (tmp_path / "serial").write_text("01\n")
    _certify(tmp_path, "authority", "-addext", "keyUsage=critical,keyCertSign,cRLSign")

    def openssl(*words: str | Path) -> None:
        subprocess.run(["openssl", *words], check=True, capture_output=True)

    def as_authority(*words: str | Path) -> None:
        keys = ("-cert", tmp_path / "authority.crt", "-keyfile", tmp_path / "authority.key")
        openssl("ca", "-batch", "-config", config, *keys, *words)

    wish = tmp_path / "wish.csr"
    openssl("req", "-new", "-key", folder / "localhost.key", "-subj", "/CN=localhost", "-out", wish)
    as_authority("-in", wish, "-out", folder / "issued.crt")
    as_authority("-gencrl", "-out", tmp_path / "before.crl")
    as_authority("-revoke", folder / "issued.crt")
    as_authority("-gencrl", "-out", tmp_path / "after.crl")
    where = (
        f"host=localhost hostaddr=127.0.0.1 port={listener.port} user=tls_user dbname=postgres"
        f" sslmode=verify-full sslrootcert={tmp_path}/authority.crt sslcrl={tmp_path}/"
    )
    with (
        await_server(folder / "data", listener.port) as connection,
        _certified_by(connection, folder / "issued.crt"),
    ):
        trusted = _ask(our_pgbench, tmp_path, f"{where}before.crl")
        revoked = _ask(our_pgbench, tmp_path, f"{where}after.crl")

    assert (trusted[0], "boolean true" in trusted[1]) == (0, True), trusted
    assert revoked[0] == 1
    assert "certificate verify failed (Revoked)" in revoked[1]


@pytest.mark.parametrize("issued", [False, True], ids=["of its own", "issued"])
@pytest.mark.parametrize(
    ("subject", "host", "let_in"),
    [
        ("localhost", "localhost", True),
        ("*.example.test", "db.Example.test", True),
        ("*.example.test", "a.db.example.test", False),
        ("127.0.0.1", "127.0.0.1", True),
    ],
)
def test_a_host_that_only_the_common_name_names_is_trusted_as_libpq_does(
    our_pgbench: Path, listener: Listener, tmp_path: Path, subject: str, host: str, let_in: bool, issued: bool
) -> None:
    folder, shown = listener.folder, listener.folder / "shown.crt"

    def openssl(*words: str | Path) -> None:
        subprocess.run(["openssl", *words], check=True, capture_output=True)

    request = ("req", "-new", "-key", folder / "localhost.key", "-subj", f"/CN={subject}")
    if issued:
        _certify(tmp_path, "authority")
        (tmp_path / "extensions").write_text("basicConstraints=CA:FALSE\n")
        openssl(*request, "-out", tmp_path / "wish.csr")
        signed_by = (
            "-CA",
            tmp_path / "authority.crt",
            "-CAkey",
            tmp_path / "authority.key",
            "-CAcreateserial",
        )
        files = ("-extfile", tmp_path / "extensions", "-in", tmp_path / "wish.csr", "-out", shown)
        openssl("x509", "-req", "-days", "2", *signed_by, *files)
        root = tmp_path / "authority.crt"
    else:
        openssl(*request, "-x509", "-days", "2", "-out", shown)
        root = shown
    where = (
        f"host={host} hostaddr=127.0.0.1 port={listener.port} user=tls_user dbname=postgres"
        f" sslmode=verify-full sslrootcert={root}"
    )

    with await_server(folder / "data", listener.port) as connection, _certified_by(connection, shown):
        code, said = _ask(our_pgbench, tmp_path, where)

    assert (code == 0) == let_in, said
    assert let_in or f'server certificate for "{subject}" does not match host name "{host}"' in said


@contextlib.contextmanager
def _certified_by(connection: "psycopg.Connection[tuple[object, ...]]", file: Path) -> Iterator[None]:
    """The server shows another certificate for a while."""

    def show(change: str) -> None:
        before = connection.execute("select pg_conf_load_time()").fetchone()
        connection.execute(change.encode())
        connection.execute("select pg_reload_conf()")
        deadline = time.monotonic() + READY_S_MAX
        while connection.execute("select pg_conf_load_time()").fetchone() == before:
            assert time.monotonic() < deadline
            time.sleep(0.01)

    show(f"alter system set ssl_cert_file = '{file}'")
    try:
        yield
    finally:
        show("alter system reset ssl_cert_file")


@pytest.mark.parametrize(("peer", "let_in"), [("{owner}", True), ("nobody-of-that-name", False)])
def test_a_socket_is_only_trusted_if_its_owner_is_the_one_that_is_asked_for(
    our_pgbench: Path, listener: Listener, account: Account, tmp_path: Path, peer: str, let_in: bool
) -> None:
    peer = peer.format(owner=account.name)
    where = (
        f"host={listener.folder}/data port={listener.port} user=postgres dbname=postgres requirepeer={peer}"
    )

    code, said = _ask(our_pgbench, tmp_path, where)

    assert (code == 0) == let_in, said
    assert let_in or f'requirepeer specifies "{peer}", but actual peer user name is "{account.name}"' in said


def test_a_password_file_and_a_service_file_are_read(
    our_pgbench: Path, listener: Listener, tmp_path: Path
) -> None:
    escaped = PASSWORD.replace("\\", "\\\\").replace(":", "\\:")
    passwords, services = tmp_path / ".pgpass", tmp_path / ".pg_service.conf"
    passwords.write_text(f"127.0.0.1:{listener.port}:*:scram_user:{escaped}\n")
    passwords.chmod(0o600)
    services.write_text(f"[test]\nhost=127.0.0.1\nport={listener.port}\nuser=scram_user\ndbname=postgres\n")

    code, said = _ask(our_pgbench, tmp_path, "service=test")
    assert (code, "boolean true" in said) == (0, True), said

    passwords.chmod(0o644)
    code, said = _ask(our_pgbench, tmp_path, "service=test")
    assert code == 1
    assert "has group or world access" in said
