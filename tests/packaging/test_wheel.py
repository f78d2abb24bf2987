"""The wheel, installed where nothing else is: no checkout, no development packages, no cargo."""

import os
import subprocess
import sys
import venv
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from pgverdict import __version__

ROOT = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.long

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Made of this checkout."""
    folder = tmp_path_factory.mktemp("wheel")
    command = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "--quiet",
        "--no-deps",
        "--wheel-dir",
        str(folder),
        str(ROOT),
    ]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (made,) = folder.glob("*.whl")
    return made


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Runs a program of an environment that holds the wheel and what it depends on."""
    home = tmp_path_factory.mktemp("installed")
    venv.create(home / "venv", with_pip=True)
    programs = home / "venv" / "bin"
    hidden = ("PYTHONPATH", "PGVERDICT_ENGINE")
    kept = {name: value for name, value in os.environ.items() if name not in hidden}
    # Programs of the system, and none that builds.
    environment = {**kept, "PATH": f"{programs}:/usr/bin:/bin", "PGVERDICT_HOME": str(home / "pgverdict")}

    def run(program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        command = [str(programs / program), *arguments]
        return subprocess.run(command, cwd=home, env=environment, capture_output=True, text=True)

    done = run("python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", str(wheel))
    assert done.returncode == 0, done.stderr
    return run


def test_the_wheel_is_of_a_platform_and_holds_the_programs(wheel: Path) -> None:
    assert "-py3-none-linux_" in wheel.name
    with zipfile.ZipFile(wheel) as archive:
        modes = {entry.filename: entry.external_attr >> 16 for entry in archive.infolist()}
    for program in ("pgverdict-engine", "pgverdict-pgbench"):
        assert modes[f"pgverdict/engine/{program}"] & 0o111
    assert "pgverdict/engine/libpgverdict_handicap.so" in modes
    assert "pgverdict/report/templates/report.css" in modes
    assert not [name for name in modes if name.startswith(("tests/", "bench/", "engine/"))]


def test_what_was_installed_works_alone(installed: Run) -> None:
    version = installed("pgverdict", "--version")
    assert __version__ in version.stdout, version.stderr
    listed = installed("pgverdict", "list", "workloads")
    assert "select-only" in listed.stdout, listed.stderr
    pgbench = installed("pgverdict", "pgbench", "--version")
    assert "(PostgreSQL) 18" in pgbench.stdout, pgbench.stderr


def test_the_engine_that_was_installed_is_the_one_that_is_used(installed: Run) -> None:
    code = (
        "from pgverdict.engine.process import Engine\n"
        "from pgverdict.engine.binary import find_engine\n"
        "from pgverdict.servers.handicap import find_library\n"
        "with Engine.start() as engine: print(engine.hello.profile, find_engine(), find_library())\n"
    )
    said = installed("python", "-c", code)
    profile, engine, library = said.stdout.split()
    assert profile == "release", said.stderr
    assert "site-packages/pgverdict/engine/" in engine
    assert "site-packages/pgverdict/engine/" in library
