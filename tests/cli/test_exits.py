"""How the program ends: messages, exit codes, and no traceback."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "COLUMNS": "100"}


def run(*arguments: str, stdout: str = "/dev/null", program: str | None = None) -> tuple[int, str]:
    """The exit code and what was said on stderr."""
    command = [sys.executable, *(("-c", program) if program else ("-m", "pgverdict")), *arguments]
    with Path(stdout).open("w") as output:
        done = subprocess.run(
            command, env=ENVIRONMENT, stdout=output, stderr=subprocess.PIPE, text=True, check=False
        )
    return done.returncode, done.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("compare", "17"), "error: missing argument 'CANDIDATE'\nhint: see `pgverdict compare --help`\n"),
        (("nosuch",), "error: no such command 'nosuch'\nhint: see `pgverdict --help`\n"),
    ],
)
def test_wrong_words_are_told_in_the_programs_own_way(arguments: tuple[str, ...], said: str) -> None:
    assert run(*arguments) == (2, said)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ("compare", "17", "18", "--handicap", "18:5", "--handicap", "2%"),
            "error: two handicaps for one arm: 18\n",
        ),
        (
            ("compare", "17", "18", "--handicap", "19:5"),
            "error: unknown arm in --handicap: 19\n",
        ),
        (("compare", "17", "18", "--handicap", "much"), "error: not a handicap: much\n"),
        (
            ("calibrate", "17", "--set", "baseline:jit=off"),
            "error: the arms of a calibration differ in nothing",
        ),
        (("calibrate", "17", "--minutes", "nan"), "error: invalid value for '--minutes'"),
    ],
)
def test_what_cannot_be_measured_is_refused_before_anything_is(arguments: tuple[str, ...], said: str) -> None:
    code, told = run(*arguments)

    assert code == 2
    assert told.startswith(said)


def test_output_that_cannot_be_written_is_an_error_of_the_world() -> None:
    code, said = run("list", "workloads", stdout="/dev/full")

    assert (code, said) == (1, "error: cannot write standard output: No space left on device\n")


def test_a_reader_that_has_gone_is_no_error() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [sys.executable, "-m", "pgverdict", "list", "workloads"],
        env=ENVIRONMENT,
        stdout=writer,
        stderr=subprocess.PIPE,
        check=False,
    )
    os.close(writer)

    assert (done.returncode, done.stderr) == (141, b"")


@pytest.mark.parametrize("number", ["SIGINT", "SIGTERM", "SIGHUP"])
@pytest.mark.parametrize("module", ["typer", "pgverdict.workloads.catalogue"])
def test_an_interruption_is_told_also_while_modules_are_imported(number: str, module: str) -> None:
    program = (
        # Tests run in the background of a shell ignore Ctrl-C, and their children would too.
        f"import signal, sys; signal.signal(signal.{number}, signal.SIG_DFL)\n"
        "class Interrupting:\n"
        "    def find_spec(self, name, *_):\n"
        f"        if name == {module!r}: signal.raise_signal(signal.{number})\n"
        "sys.meta_path.insert(0, Interrupting())\n"
        "from pgverdict.cli import main; main()"
    )

    assert run("list", "workloads", program=program) == (130, "error: interrupted\n")
