"""A server that listens to TCP, with and without TLS, and lets every user in by another method."""

import shutil
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from pgverdict.servers.account import Account
from pgverdict.servers.install import Install
from tests.listening import READY_S_MAX, await_server, free_port

from .asking import ask

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


def certify(folder: Path, name: str, *more: str) -> None:
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


@pytest.fixture(scope="session")
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
    certify(folder, "localhost", "-addext", "subjectAltName=DNS:localhost")
    certify(folder, "stranger")
    certify(folder, "cert_user", "-addext", "basicConstraints=critical,CA:FALSE")
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


SHOWN = "select ssl as tls from pg_stat_ssl where pid = pg_backend_pid() \\gset\n\\set tls debug(:tls)\n"


def ask_about_tls(pgbench: Path, folder: Path, connection: str, **environment: str) -> tuple[int, str]:
    """The exit code, and what was said, after asking a server whether it is spoken to under TLS."""
    return ask(pgbench, folder, SHOWN, connection, environment)
