"""PostgreSQL's own tests of pgbench, with our binary in pgbench's place.

They need PostgreSQL's source (see postgres_source.py), Perl with IPC::Run and prove, and any psql; without
one of them they are skipped, and say which.
"""

import os
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from pgverdict.servers.account import Account
from pgverdict.servers.install import Install

from .postgres_source import NEEDED, VARIABLE, find_source

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]


def _missing() -> str | None:
    if find_source() is None:
        fetch = "python -m tests.pgbench.postgres_source"
        return (
            f"the source of PostgreSQL 18 is not here (hint: `{fetch}` fetches it, or name it in {VARIABLE})"
        )
    for program in ("prove", "psql"):
        if shutil.which(program) is None:
            return f"{program} is not on PATH (hint: on Debian: apt-get install perl postgresql-client)"
    if subprocess.run(["perl", "-MIPC::Run", "-e", "1"], capture_output=True, check=False).returncode:
        return "Perl has no IPC::Run (hint: on Debian: apt-get install libipc-run-perl)"
    return None


def _lay_out(folder: Path, source: Path, install: Install, pgbench: Path) -> Path:
    """The source that is needed and the programs that the tests look for, where servers' account can read them."""
    for needed in NEEDED:
        shutil.copytree(source / needed, folder / "source" / needed)
    programs = folder / "bin"
    programs.mkdir()
    for name in ("initdb", "pg_ctl", "postgres"):
        _write_program(programs / name, f'exec {install.postgres.parent / name} "$@"')
    # What the build would know: the tests ask for the version only.
    _write_program(programs / "pg_config", f'echo "PostgreSQL {install.version}"')
    shutil.copy2(pgbench, programs / "pgbench")
    for path in (folder, *folder.rglob("*")):
        path.chmod(0o755 if path.is_dir() or path.parent == programs else 0o644)
    return programs


def _write_program(path: Path, line: str) -> None:
    path.write_text(f"#!/bin/sh\n{line}\n")


@pytest.mark.parametrize("name", ["001_pgbench_with_server.pl", "002_pgbench_no_server.pl"])
def test_postgresqls_own_tests_pass(
    name: str,
    scratch: Path,
    account: Account,
    obtained: Callable[[str], Install],
    our_pgbench: Path,
) -> None:
    missing = _missing()
    if missing:
        pytest.skip(missing)
    source = find_source()
    assert source is not None
    programs = _lay_out(scratch, source, obtained("18"), our_pgbench)
    work = scratch / "work"
    account.make_directory(work)
    identity = {} if account.is_self else {"user": account.uid, "group": account.gid, "extra_groups": []}
    laid_out = scratch / "source"
    done = subprocess.run(
        ["prove", "-I", str(laid_out / "src/test/perl"), f"src/bin/pgbench/t/{name}"],
        cwd=laid_out,
        env={
            "PATH": f"{programs}:{os.environ['PATH']}",
            "LC_ALL": "C",
            "HOME": str(work),
            "PG_REGRESS": "/bin/true",
            "TESTDATADIR": str(work / "data"),
            "TESTLOGDIR": str(work / "log"),
            "top_builddir": str(work),
            "share_contrib_dir": "/nonexistent",
        },
        capture_output=True,
        text=True,
        check=False,
        **identity,  # type: ignore[call-overload]
    )

    assert done.returncode == 0, done.stdout + done.stderr
    ran = re.search(r"Tests=(\d+)", done.stdout)
    assert ran is not None, done.stdout
    assert int(ran[1]) > 200, done.stdout
