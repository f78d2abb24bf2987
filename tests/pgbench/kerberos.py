"""A Kerberos realm for tests: a key distribution centre on a port of this host, all of it in one folder."""

import contextlib
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pgverdict.servers.account import Account

NAME = "PGVERDICT.TEST"
READY_S_MAX = 30
PASSWORD = "a ticket, please"
PACKAGES = {
    "krb5kdc": "krb5-kdc",
    "kdb5_util": "krb5-kdc",
    "kadmin.local": "krb5-admin-server",
    "kinit": "krb5-user",
}
"""What a realm is made with, and Debian's packages of it."""

_PATH = os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", "/usr/bin"])

# No name is looked up anywhere: neither the centre's nor that of the host a ticket is for. Tickets may be handed on.
_CLIENTS = """
[libdefaults]
default_realm = {name}
dns_lookup_realm = false
dns_lookup_kdc = false
dns_canonicalize_hostname = false
rdns = false
udp_preference_limit = 1
forwardable = true
[realms]
{name} = {{
    kdc = 127.0.0.1:{port}
}}
[domain_realm]
localhost = {name}
127.0.0.1 = {name}
[logging]
kdc = FILE:{folder}/kdc.log
default = FILE:{folder}/other.log
"""

_CENTRE = """
[kdcdefaults]
kdc_listen = ""
kdc_tcp_listen = 127.0.0.1:{port}
[realms]
{name} = {{
    database_name = {folder}/principals
    key_stash_file = {folder}/stash
    acl_file = {folder}/rights
    max_life = 1h
}}
"""


def missing_programs() -> dict[str, str]:
    """Programs that a realm needs and this host has not, and Debian's packages of them."""
    return {name: package for name, package in PACKAGES.items() if shutil.which(name, path=_PATH) is None}


@dataclass(frozen=True)
class Realm:
    """`environment` is what programs need to find it."""

    folder: Path
    account: Account
    environment: dict[str, str]

    def add(self, *principals: str) -> None:
        """Users, whose password is PASSWORD."""
        for principal in principals:
            self._administer(f'add_principal -pw "{PASSWORD}" {principal}')

    def key_table(self, *services: str) -> Path:
        """New services and a file with their keys, which their server reads."""
        path = self.folder / "keys"
        for service in services:
            self._administer(f"add_principal -randkey {service}")
            self._administer(f"ktadd -k {path} {service}")
        return path

    def tickets(self, principal: str, file: Path) -> dict[str, str]:
        """Gets the user's ticket into a file; the environment that shows it."""
        own = self.environment | {"KRB5CCNAME": f"FILE:{file}"}
        command = [_found("kinit"), principal]
        done = subprocess.run(
            command,
            env=os.environ | own,
            input=PASSWORD + "\n",
            capture_output=True,
            text=True,
            check=False,
            start_new_session=True,  # else it would ask at the terminal
        )
        assert done.returncode == 0, done.stderr
        return own

    def log(self) -> str:
        """What the centre was asked for, and what it gave."""
        return (self.folder / "kdc.log").read_text()

    def _administer(self, command: str) -> None:
        self._run("kadmin.local", "-r", NAME, "-q", command)

    def _run(self, name: str, *words: str) -> None:
        process = self.account.popen(
            [_found(name), *words],
            cwd=self.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            environment=self.environment,
        )
        said = process.communicate()[0].decode()
        # kadmin.local ends well also where the command did not.
        assert process.returncode == 0, said
        assert name != "kadmin.local" or "while" not in said, said


@contextlib.contextmanager
def realm(folder: Path, account: Account, port: int) -> Iterator[Realm]:
    """A realm in a new folder, as long as it is wanted."""
    account.make_directory(folder)
    folder.chmod(0o755)
    for file, text in (("krb5.conf", _CLIENTS), ("kdc.conf", _CENTRE), ("rights", "")):
        (folder / file).write_text(text.format(name=NAME, folder=folder, port=port))
    environment = {
        "KRB5_CONFIG": str(folder / "krb5.conf"),
        "KRB5_KDC_PROFILE": str(folder / "kdc.conf"),
        "KRB5RCACHENAME": "none:",  # a file that would stay behind, and a second ticket is no attack here
    }
    made = Realm(folder, account, environment)
    made._run("kdb5_util", "create", "-r", NAME, "-s", "-P", "of the realm's master")
    with (folder / "centre.out").open("wb") as out:
        command = [_found("krb5kdc"), "-n"]
        process = account.popen(command, cwd=folder, stdout=out, stderr=out, environment=environment)
    try:
        _await(port, process, folder)
        yield made
    finally:
        process.terminate()
        process.wait(READY_S_MAX)


def _found(name: str) -> str:
    path = shutil.which(name, path=_PATH)
    assert path is not None, name
    return path


def _await(port: int, process: "subprocess.Popen[bytes]", folder: Path) -> None:
    deadline = time.monotonic() + READY_S_MAX
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), READY_S_MAX).close()
            return
        except OSError:
            assert process.poll() is None, (folder / "centre.out").read_text()
            assert time.monotonic() < deadline, (folder / "centre.out").read_text()
            time.sleep(0.05)
