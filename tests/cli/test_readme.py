"""What README tells people to type is what the command line takes."""

import re
import shlex
from pathlib import Path

import pytest
import typer

from pgverdict.cli.commands import app

README = (Path(__file__).resolve().parents[2] / "README.md").read_text()

COMMANDS = [
    shlex.split(line, comments=True)[2:]
    for line in README.splitlines()
    if line.startswith("    ./x pgverdict ")
]


def test_readme_shows_commands() -> None:
    assert len(COMMANDS) >= 5


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_a_command_of_the_readme_is_understood(words: list[str]) -> None:
    command = typer.main.get_command(app)
    rest = list(words)
    while hasattr(command, "commands"):
        command = command.commands[rest.pop(0)]

    command.make_context("pgverdict", rest)  # parses, and runs nothing


def test_the_transcript_is_one_that_was_printed() -> None:
    """It ends with the id of the run it shows; ids begin with the day the text names."""
    day = re.search(r"printed on (\d{4}-\d\d-\d\d)", README)
    run = re.search(r"^run (\d{4}-\d\d-\d\d)-\d{4}-[0-9a-f]{4}$", README, re.MULTILINE)

    assert day is not None
    assert run is not None
    assert day[1] == run[1]
