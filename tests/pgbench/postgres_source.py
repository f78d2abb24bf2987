"""PostgreSQL's own tests of pgbench: where their source is, and how to get it.

    python -m tests.pgbench.postgres_source

fetches it with the machine's apt, as a Debian source package, into the home of the tests. Nothing of it
is kept in the repository.
"""

import os
import re
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

from tests.homes import home_for_tests

VARIABLE = "PGVERDICT_POSTGRES_SOURCE"
PACKAGE = "postgresql-18"
SUITE = "sid"
"""Where Debian has the newest release."""

NEEDED = ("src/bin/pgbench/t", "src/test/perl")


def find_source() -> Path | None:
    """The top folder of an unpacked source of PostgreSQL 18: named by PGVERDICT_POSTGRES_SOURCE, or fetched."""
    named = os.environ.get(VARIABLE)
    candidates = [Path(named)] if named else sorted(_fetched().glob("postgresql-18*"))
    whole = [path for path in candidates if all((path / needed).is_dir() for needed in NEEDED)]
    return whole[-1] if whole else None


def _fetched() -> Path:
    return home_for_tests() / "sources"


def _debian_addresses() -> list[str]:
    """Where this machine's apt gets Debian's packages from."""
    command = ["apt-get", "indextargets", "--format", "$(ORIGIN) $(REPO_URI)"]
    told = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return sorted(set(re.findall(r"^Debian (\S+)$", told, re.MULTILINE)), key=len)


def fetch() -> Path:
    """Fetch and unpack what the tests need. The machine's own lists of packages stay as they are."""
    addresses = _debian_addresses()
    if not addresses:
        sys.exit("error: this machine's apt knows no Debian\nhint: run apt-get update first")
    target = _fetched()
    target.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        for name in ("lists/partial", "cache/archives/partial"):
            (folder / name).mkdir(parents=True)
        keyring = "/usr/share/keyrings/debian-archive-keyring.gpg"
        (folder / "sources.list").write_text(f"deb-src [signed-by={keyring}] {addresses[0]} {SUITE} main\n")
        (folder / "apt.conf").write_text(
            f'Dir::State::Lists "{folder}/lists";\nDir::Cache "{folder}/cache";\n'
            f'Dir::Etc::SourceList "{folder}/sources.list";\nDir::Etc::SourceParts "/dev/null";\n'
        )
        environment = {**os.environ, "APT_CONFIG": str(folder / "apt.conf")}
        for command in (["update", "-qq"], ["source", "-qq", "--download-only", PACKAGE]):
            subprocess.run(["apt-get", *command], cwd=folder, env=environment, check=True)
        [archive] = folder.glob("*.orig.tar.*")
        with tarfile.open(archive) as tar:
            wanted = [
                member for member in tar if any(f"/{needed}/" in f"{member.name}/" for needed in NEEDED)
            ]
            tar.extractall(target, wanted, filter="data")
    found = find_source()
    assert found is not None, "what was fetched is not there"
    return found


if __name__ == "__main__":
    print(find_source() or fetch())
