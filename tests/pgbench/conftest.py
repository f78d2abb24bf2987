"""Our pgbench, a real one to compare with, and a server for both."""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from pgverdict.engine.binary import checkout_root
from pgverdict.servers.server import Server
from tests.servers.conftest import (  # noqa: F401 (fixtures, found by their names)
    MakeServer,
    account,
    copy_cluster,
    home,
    make_server,
    obtained,
    scratch,
    session_scratch,
    sockets,
)

from .listener import listener  # noqa: F401 (the same)
from .program import Program

OURS = "PGVERDICT_PGBENCH"
THEIRS = "PGVERDICT_REAL_PGBENCH"


@pytest.fixture(scope="session")
def our_pgbench() -> Path:
    """Built by `./x setup`, or named by PGVERDICT_PGBENCH."""
    root = checkout_root()
    named = os.environ.get(OURS)
    assert named or root is not None
    path = Path(named) if named else Path(str(root)) / "target" / "release" / "pgverdict-pgbench"
    assert os.access(path, os.X_OK), f"{path} is not there: `./x setup` builds it"
    return path


@pytest.fixture(scope="session")
def real_pgbench() -> Path:
    """PostgreSQL's own: named by PGVERDICT_REAL_PGBENCH, from PATH, or the newest that Debian installed."""
    installed = Path("/usr/lib/postgresql").glob("*/bin/pgbench")
    newest = sorted(installed, key=lambda path: int(path.parts[-3]))[-1:]
    found = os.environ.get(THEIRS) or shutil.which("pgbench") or next(map(str, newest), None)
    if found is None:
        pytest.skip(f"there is no real pgbench to compare with (hint: name one in {THEIRS})")
    return Path(found)


@pytest.fixture(scope="session")
def real_release(real_pgbench: Path) -> int:
    """The major release of the real one."""
    said = subprocess.run([real_pgbench, "--version"], check=True, capture_output=True, text=True).stdout
    match = re.search(r"\) (\d+)", said)
    assert match, said
    return int(match[1])


@pytest.fixture
def server(make_server: MakeServer, obtained) -> Iterator[Server]:  # type: ignore[no-untyped-def]  # noqa: F811
    with make_server(obtained("18"), fsync="off") as server:
        yield server


@pytest.fixture
def both(
    our_pgbench: Path,
    real_pgbench: Path,
    server: Server,
    tmp_path: Path,
) -> tuple[Program, Program]:
    """Ours under pgbench's name, and the real one, both for the same server."""
    renamed = tmp_path / "pgbench"
    renamed.symlink_to(our_pgbench)
    return Program.on(renamed, server, tmp_path), Program.on(real_pgbench, server, tmp_path)
