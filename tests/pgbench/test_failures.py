"""Servers that go away, and statements that fail, under our pgbench."""

import os
import subprocess
import time
from pathlib import Path

import pytest

from pgverdict.servers.server import Server

from .program import Program

pytestmark = pytest.mark.slow

BEGIN_S_MAX = 20


@pytest.fixture
def ours(our_pgbench: Path, server: Server, tmp_path: Path) -> Program:
    renamed = tmp_path / "pgbench"
    renamed.symlink_to(our_pgbench)
    return Program.on(renamed, server, tmp_path)


def _begin(program: Program, server: Server, script: str, *arguments: str) -> "subprocess.Popen[str]":
    """A run that has sent its first statement."""
    (program.folder / "script.sql").write_text(script)
    run = subprocess.Popen(
        [str(program.path), "-n", "-f", "script.sql", *arguments],
        env=program.environment,
        cwd=program.folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    deadline = time.monotonic() + BEGIN_S_MAX
    with server.connect() as connection:
        busy = "select count(*) from pg_stat_activity where application_name = 'pgbench' and query like 'select%'"
        while not connection.execute(busy).fetchone() > (0,):  # type: ignore[operator]
            assert time.monotonic() < deadline
            assert run.poll() is None
            time.sleep(0.01)
    return run


def test_a_server_that_is_stopped_ends_the_run(ours: Program, server: Server) -> None:
    run = _begin(ours, server, "select pg_sleep(0.001);\n", "-T", "60", "-c", "4", "-j", "2")

    server.stop("immediate")
    out, err = run.communicate(timeout=20)

    assert run.returncode == 2
    assert err.count(" aborted in command 0 ") == 4
    assert err.endswith("pgbench: error: Run was aborted; the above results are incomplete.\n")
    assert "transaction type: script.sql" in out


def test_a_client_whose_connection_is_cut_leaves_the_others_alone(ours: Program, server: Server) -> None:
    run = _begin(ours, server, "select pg_sleep(0.001);\n", "-t", "600", "-c", "3")

    with server.connect() as connection:
        connection.execute(
            "select pg_terminate_backend(min(pid)) from pg_stat_activity where application_name = 'pgbench'"
        )
    out, err = run.communicate(timeout=60)

    assert run.returncode == 2
    assert err.count("FATAL:  terminating connection due to administrator command") == 1
    done = next(line for line in out.splitlines() if "actually processed" in line).split()[-1]
    assert 1200 <= int(done.partition("/")[0]) < 1800


@pytest.mark.parametrize(
    ("script", "said"),
    [
        (
            "set statement_timeout = 10;\nselect pg_sleep(5);\n",
            "ERROR:  canceling statement due to statement timeout",
        ),
        ("copy (select 1) to stdout;\n", "COPY is not supported in pgbench, aborting"),
        ("create temp table t (a int);\ncopy t from stdin;\n", "COPY is not supported in pgbench, aborting"),
        ("begin;\nselect pg_terminate_backend(pg_backend_pid());\nend;\n", "FATAL:  terminating connection"),
        ("select pg_sleep(0.1);\n\\shell exit 1\n", "could not launch shell command"),
    ],
)
@pytest.mark.parametrize("mode", ["simple", "extended", "prepared"])
def test_what_a_server_refuses_ends_the_client(ours: Program, script: str, said: str, mode: str) -> None:
    run = ours.run("-n", "-t", "1", "-M", mode, script=script)

    assert run.code == 2
    assert said in "\n".join(run.err)


def test_nobody_reading_its_output_ends_it_quietly(ours: Program) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    (ours.folder / "script.sql").write_text("select 1;\n")

    run = subprocess.run(
        [str(ours.path), "-n", "-t", "1", "-f", "script.sql"],
        env=ours.environment,
        cwd=ours.folder,
        stdout=writing,
        stderr=subprocess.PIPE,
        check=False,
    )
    os.close(writing)

    assert (run.returncode, run.stderr) == (-13, b"")
