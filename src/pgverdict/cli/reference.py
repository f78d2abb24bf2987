"""docs/cli.md, made from what --help says: `python -m pgverdict.cli.reference` prints it."""

import typer
from typer.testing import CliRunner

from pgverdict.cli.commands import app

_HEAD = """# The command line

This page is made from `--help` by `./x docs`; a test holds it against the program.

Exit codes: 0 done; 1 the world failed (the message says what was tried and what to do); 2 the input is wrong (the
message names it and offers the nearest valid word); 3 `--fail-on` matched; 130 interrupted; 141 whoever
read the output has left.
"""


def reference() -> str:
    """The whole page."""
    pages = [_HEAD]
    for words in _commands():
        text = (
            CliRunner().invoke(app, [*words, "--help"], prog_name="pgverdict", env={"COLUMNS": "110"}).stdout
        )
        pages.append(f"## {' '.join(('pgverdict', *words))}\n\n```text\n{text.strip()}\n```\n")
    return "\n".join(pages)


def _commands() -> list[tuple[str, ...]]:
    """Every command, in the order in which --help lists them; groups before their commands."""
    found: list[tuple[str, ...]] = [()]

    def visit(group: object, words: tuple[str, ...]) -> None:
        for name, command in getattr(group, "commands", {}).items():
            found.append((*words, name))
            visit(command, (*words, name))

    visit(typer.main.get_command(app), ())
    return found


if __name__ == "__main__":
    print(reference(), end="")
