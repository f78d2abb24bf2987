"""A server that somebody else runs: on a TCP port of this host, with passwords and TLS, and users of three kinds."""

import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
import pytest

from pgverdict.servers.account import server_account
from pgverdict.servers.cluster import create_cluster
from pgverdict.servers.home import Home
from pgverdict.servers.obtain import obtain
from pgverdict.servers.workspace import Workspace
from tests.homes import home_for_tests
from tests.listening import free_port

READY_S_MAX = 30
PASSWORD = "it's: a secret"

RULES = """
local all all trust
hostssl all tls_only 127.0.0.1/32 scram-sha-256
host all open 127.0.0.1/32 trust
host all maker,boss,reader,postgres 127.0.0.1/32 scram-sha-256
"""


@dataclass(frozen=True)
class Elsewhere:
    """`certificate` is that of `localhost`, which signed itself."""

    port: int
    sockets: Path
    certificate: Path

    def dsn(self, user: str = "maker", more: str = "") -> str:
        """As that user: `maker` may create databases, `boss` anything, `reader` nothing; `tls_only` only comes so."""
        return f"postgresql://{user}@localhost:{self.port}/postgres?hostaddr=127.0.0.1{more}"

    def ask(self, query: str) -> list[Any]:
        """As the one who runs it; the first column."""
        with psycopg.connect(
            host=str(self.sockets), port=self.port, user="postgres", dbname="postgres", autocommit=True
        ) as connection:
            found = connection.execute(query.encode())
            return [row[0] for row in found.fetchall()] if found.description else []

    def databases(self) -> list[str]:
        return self.ask("SELECT datname FROM pg_database WHERE datname LIKE 'pgverdict%' ORDER BY 1")


@contextmanager
def somebody_elses(release: str = "17") -> Iterator[Elsewhere]:
    """Runs while the context lasts, below the bystanders' home, which no test counts servers in."""
    if shutil.which("openssl") is None:
        pytest.skip(
            "openssl is not on PATH, which makes the certificate (hint: on Debian: apt-get install openssl)"
        )
    account, home = server_account(), Home.find({"PGVERDICT_HOME": str(home_for_tests())})
    home.ensure(account)
    install = obtain(release, home)
    with (
        Workspace.create(home, account) as workspace,
        tempfile.TemporaryDirectory(prefix="pgt-") as folder,
    ):
        certificate = Path(folder) / "localhost.crt"
        key = Path(folder) / "localhost.key"
        Path(folder).chmod(0o755)
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost",
             "-addext", "subjectAltName=DNS:localhost", "-keyout", str(key), "-out", str(certificate)],
            check=True,
            capture_output=True,
        )  # fmt: skip
        key.chmod(0o600)
        account.give(key)
        data, sockets, port = workspace.path / "data", workspace.socket_directory("elsewhere"), free_port()
        create_cluster(install, data, account)
        old = install.major < (10,)
        (data / "pg_hba.conf").write_text(RULES.replace("scram-sha-256", "md5") if old else RULES)
        with (data / "postgresql.conf").open("a") as file:
            file.write(
                f"port = {port}\nlisten_addresses = '127.0.0.1'\nunix_socket_directories = '{sockets}'\n"
                f"fsync = off\nssl = on\nssl_cert_file = '{certificate}'\nssl_key_file = '{key}'\n"
                "shared_preload_libraries = 'pg_stat_statements'\nmax_connections = 30\n"
            )
        with (workspace.path / "log").open("wb") as log:
            process = account.popen(
                [str(install.postgres), "-D", str(data)], cwd=data, stdout=log, stderr=log
            )
        try:
            elsewhere = Elsewhere(port, sockets, certificate)
            _await(elsewhere, workspace.path / "log")
            encryption = "on" if old else "scram-sha-256"
            for user, right in (
                ("maker", "CREATEDB"), ("boss", "SUPERUSER"), ("reader", ""), ("tls_only", "CREATEDB"),
                ("open", "CREATEDB"),
            ):  # fmt: skip
                quoted = PASSWORD.replace("'", "''")
                elsewhere.ask(
                    f"SET password_encryption = '{encryption}'; CREATE ROLE {user} LOGIN {right} PASSWORD '{quoted}'"
                )
            yield elsewhere
        finally:
            process.terminate()
            process.wait(READY_S_MAX)


def _await(elsewhere: Elsewhere, log: Path) -> None:
    deadline = time.monotonic() + READY_S_MAX
    while True:
        try:
            elsewhere.ask("SELECT 1")
            return
        except psycopg.OperationalError:
            assert time.monotonic() < deadline, log.read_text()
            time.sleep(0.05)
