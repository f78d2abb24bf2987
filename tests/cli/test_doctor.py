"""`pgverdict doctor` on this very host, which is only looked at: no test sets a knob of a real kernel."""

import json
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from pgverdict.cli.commands import app
from pgverdict.cli.doctor import RECORD
from pgverdict.errors import UserError


def test_this_host_is_looked_at_without_leaving_anything(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    monkeypatch.setenv("PGVERDICT_HOME", str(home))

    done = CliRunner().invoke(app, ["doctor", "--json", "-"], catch_exceptions=False)

    assert done.exit_code == 0
    document = json.loads(done.stdout)
    assert len(document["checks"]) == 23
    assert not home.exists()


def test_putting_back_what_was_never_set_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGVERDICT_HOME", str(tmp_path))

    done = CliRunner().invoke(app, ["doctor", "--undo"], catch_exceptions=False)

    assert done.stdout == f"nothing to put back: {tmp_path}/data/{RECORD} is not there\n"


@pytest.mark.parametrize("arguments", [["--undo", "--fix"], ["--undo", "--json", "-"]])
def test_undoing_stands_alone(arguments: list[str]) -> None:
    command = typer.main.get_command(app)

    with pytest.raises(UserError, match="--undo stands alone"):
        command.main(["doctor", *arguments], standalone_mode=False)
