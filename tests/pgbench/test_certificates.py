"""Certificates of servers that were revoked, and those that name their host in the old way."""

import contextlib
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from tests.listening import READY_S_MAX, await_server

from .listener import Listener, ask_about_tls, certify

pytestmark = pytest.mark.slow

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
    certify(tmp_path, "authority", "-addext", "keyUsage=critical,keyCertSign,cRLSign")

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
        trusted = ask_about_tls(our_pgbench, tmp_path, f"{where}before.crl")
        revoked = ask_about_tls(our_pgbench, tmp_path, f"{where}after.crl")

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
        certify(tmp_path, "authority")
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
        code, said = ask_about_tls(our_pgbench, tmp_path, where)

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
