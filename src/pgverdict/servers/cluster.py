"""A new, empty cluster, as the release ships it."""

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from pgverdict.errors import WorldError
from pgverdict.servers.account import Account
from pgverdict.servers.install import Install
from pgverdict.servers.settings import INCLUDED

SUPERUSER = "postgres"

_CHECKSUMS_BY_DEFAULT = (18,)
"""From this release on clusters have page checksums unless they are told not to; before, it was the other way round."""


def create_cluster(
    install: Install,
    data: Path,
    account: Account,
    settings: Mapping[str, str] = MappingProxyType({}),
) -> None:
    """Make `data` (which must not exist) and a cluster in it. All is left to the release but what must be
    the same everywhere (locale, encoding, and who may connect: anybody who can reach the socket), and what
    `settings` say that is initdb's to decide (`settings.BY_INITDB`).

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
            *_checksums(install, settings.get("data_checksums")),
        ],
        cwd=data,
    )
    if answer.returncode != 0:
        raise WorldError(f"initdb of PostgreSQL {install.version} failed in {data}: {answer.stdout.strip()}")
    with (data / "postgresql.conf").open("a") as file:
        file.write(f"\ninclude_if_exists '{INCLUDED}'\n")


def _checksums(install: Install, wanted: str | None) -> list[str]:
    """initdb's option for them. Only releases that would make them otherwise know how not to."""
    if wanted is None or (wanted == "on") == (install.major >= _CHECKSUMS_BY_DEFAULT):
        return []
    return ["--data-checksums" if wanted == "on" else "--no-data-checksums"]
