"""A new, empty cluster, as the release ships it."""

from pathlib import Path

from pgverdict.errors import WorldError
from pgverdict.servers.account import Account
from pgverdict.servers.install import Install
from pgverdict.servers.settings import INCLUDED

SUPERUSER = "postgres"


def create_cluster(install: Install, data: Path, account: Account) -> None:
    """Make `data` (which must not exist) and a cluster in it. All is left to the release but what must be
    the same everywhere: locale, encoding, and who may connect (anybody who can reach the socket).

    Not synced to disk: who copies or measures it settles the file system first.
    """
    account.make_directory(data)
    answer = account.run(
        [
            str(install.initdb),
            f"--pgdata={data}",
            "--locale=C",
            "--encoding=UTF8",
            "--auth=trust",
            f"--username={SUPERUSER}",
            "-N",  # --no-sync by its name in all releases
        ],
        cwd=data,
    )
    if answer.returncode != 0:
        raise WorldError(f"initdb of PostgreSQL {install.version} failed in {data}: {answer.stdout.strip()}")
    with (data / "postgresql.conf").open("a") as file:
        file.write(f"\ninclude_if_exists '{INCLUDED}'\n")
