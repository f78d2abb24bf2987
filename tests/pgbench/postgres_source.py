"""PostgreSQL's own tests of pgbench: where their source is, and how to get it.

    python -m tests.pgbench.postgres_source

fetches it with the machine's apt, as a Debian source package, into the home of the tests. Nothing of it
is kept in the repository.
"""

import os
import sys
import tarfile
from pathlib import Path

from tests.debian_source import NoDebianError, fetch_tarball
from tests.homes import home_for_tests

VARIABLE = "PGVERDICT_POSTGRES_SOURCE"
PACKAGE = "postgresql-18"
SUITE = "sid"
"""Where Debian has the newest release."""

NEEDED = ("src/bin/pgbench/t", "src/test/perl")


def find_source() -> Path | None:
    """The top folder of an unpacked source of PostgreSQL 18: named by PGVERDICT_POSTGRES_SOURCE, or fetched."""
    named = os.environ.get(VARIABLE)
    candidates = [Path(named)] if named else sorted(_fetched().glob("postgresql-18*/"))
    whole = [path for path in candidates if all((path / needed).is_dir() for needed in NEEDED)]
    return whole[-1] if whole else None


def _fetched() -> Path:
    return home_for_tests() / "sources"


def fetch() -> Path:
    """Fetch and unpack what the tests need."""
    target = _fetched()
    try:
        archive = fetch_tarball(PACKAGE, SUITE, target)
    except NoDebianError as error:
        sys.exit(f"error: Debian's source package cannot be fetched\nhint: {error}")
    with tarfile.open(archive) as tar:
        wanted = [member for member in tar if any(f"/{needed}/" in f"{member.name}/" for needed in NEEDED)]
        tar.extractall(target, wanted, filter="data")
    found = find_source()
    assert found is not None, "what was fetched is not there"
    return found


if __name__ == "__main__":
    print(find_source() or fetch())
