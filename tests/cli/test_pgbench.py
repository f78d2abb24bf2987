"""`pgverdict pgbench` hands over to the engine in pgbench's place."""

import subprocess
import sys
from pathlib import Path

import pytest

from pgverdict.engine import binary
from pgverdict.errors import WorldError


def _pgbench(*arguments: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "pgverdict", "pgbench", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_all_arguments_are_passed_on() -> None:
    done = _pgbench("--show-script", "se")

    assert done.returncode == 0
    assert "SELECT abalance FROM pgbench_accounts WHERE aid = :aid;" in done.stderr


def test_messages_and_exit_codes_are_pgbenchs() -> None:
    done = _pgbench("-n", "-c", "0")

    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "pgbench: error: -c/--client must be in range 1..2147483647\n"


def test_an_engine_without_it_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = tmp_path / "engine"
    engine.touch(mode=0o755)
    monkeypatch.setenv(binary.VARIABLE, str(engine))

    with pytest.raises(WorldError, match="no pgverdict-pgbench beside the engine"):
        binary.find_pgbench()
