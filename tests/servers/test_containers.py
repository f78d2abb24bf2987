"""Containers, as far as a fake `docker` can tell: which commands are given, and that a server behind them is used.

No container engine answers on the machines that pgverdict is developed on.
"""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pgverdict.errors import UserError, WorldError
from pgverdict.servers.containers import find_program, run_image, sweep_containers
from pgverdict.servers.supervisor import Supervisor
from tests.outside import Elsewhere, somebody_elses

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def elsewhere() -> Iterator[Elsewhere]:
    with somebody_elses() as server:
        yield server


class Docker:
    """The fake on PATH, and what it was told."""

    def __init__(self, folder: Path, server: Elsewhere) -> None:
        self.log = folder / "docker.jsonl"
        self.environment = {
            "FAKE_DOCKER_LOG": str(self.log),
            "FAKE_DOCKER_PORT": str(server.port),
            "FAKE_DOCKER_SOCKETS": str(server.sockets),
            "PATH": f"{folder}:{os.environ['PATH']}",
            "PYTHONPATH": str(ROOT / "src"),
        }
        program = folder / "docker"
        program.write_text(f'#!/bin/sh\nexec {sys.executable} {ROOT}/tests/servers/fake_docker.py "$@"\n')
        program.chmod(0o755)

    def told(self, verb: str) -> list[list[str]]:
        return [one["words"] for one in self._lines() if one["words"][0] == verb]

    def passwords(self) -> list[str]:
        return [one["password"] for one in self._lines() if one["words"][0] == "run"]

    def _lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.log.read_text().splitlines()] if self.log.exists() else []


@pytest.fixture
def docker(tmp_path: Path, elsewhere: Elsewhere, monkeypatch: pytest.MonkeyPatch) -> Docker:
    fake = Docker(tmp_path, elsewhere)
    for name, value in fake.environment.items():
        monkeypatch.setenv(name, value)
    return fake


pytestmark = pytest.mark.slow


def test_an_image_is_run_with_its_settings_on_a_port_of_this_host_and_removed(docker: Docker) -> None:
    with Supervisor() as supervisor:
        container = run_image("postgres:17", {"work_mem": "9MB", "shared_buffers": "1GB"}, "here", supervisor)
        assert container.stay.version.startswith("17.")
        database = container.stay.create()
        with container.stay.connect(database) as connection:
            assert connection.execute("SELECT 1").fetchone() == (1,)
        container.remove()

    [words] = docker.told("run")
    assert words == [
        "run", "--detach", "--name", container.name, "--label", "pgverdict.host=here", "--env", "POSTGRES_PASSWORD",
        "--publish", "127.0.0.1::5432", "postgres:17", "-c", "shared_preload_libraries=pg_stat_statements",
        "-c", "work_mem=9MB", "-c", "shared_buffers=1GB",
    ]  # fmt: skip
    [password] = docker.passwords()
    assert password not in " ".join(words)
    assert docker.told("rm")[0] == ["rm", "--force", "--volumes", container.name]


def test_a_container_is_removed_when_its_run_is_killed(docker: Docker) -> None:
    program = (
        "import sys, time; from pgverdict.servers.containers import run_image;"
        " from pgverdict.servers.supervisor import Supervisor;"
        " print(run_image('postgres:17', {}, 'here', Supervisor()).name, flush=True); time.sleep(600)"
    )
    killed = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert killed.stdout is not None
    name = killed.stdout.readline().strip()
    killed.send_signal(signal.SIGKILL)
    killed.communicate()

    deadline = time.monotonic() + 30
    while ["rm", "--force", "--volumes", name] not in docker.told("rm"):
        assert time.monotonic() < deadline, docker.told("rm")
        time.sleep(0.02)


def test_what_a_killed_run_left_is_removed_and_the_containers_of_others_are_not(docker: Docker) -> None:
    with Supervisor() as supervisor:
        left = run_image("postgres:17", {}, "here", supervisor)
        left.stay.leave()
        assert sweep_containers("here") == [f"found containers of killed runs: removed {left.name}"]
        assert sweep_containers("here") == []
    assert "label=pgverdict.host=here" in docker.told("ps")[0]
    assert not any("somebody-elses" in words for words in docker.told("rm"))


def test_a_setting_that_the_server_in_it_refuses_is_the_users(
    docker: Docker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_DOCKER_ENDS", 'FATAL: invalid value for parameter "shared_buffers": "much"')
    with Supervisor() as supervisor:
        with pytest.raises(UserError, match="the server refuses the setting shared_buffers = much"):
            run_image("postgres:17", {"shared_buffers": "much"}, "here", supervisor)
        assert len(docker.told("rm")) == 1


def test_without_a_container_engine_both_programs_are_told_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "docker"
    program.write_text("#!/bin/sh\necho 'Cannot connect to the Docker daemon' >&2\nexit 1\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))

    with pytest.raises(WorldError) as caught:
        find_program()

    assert caught.value.message == (
        "no container engine answers: docker info: Cannot connect to the Docker daemon; podman is not on PATH"
    )
