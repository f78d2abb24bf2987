"""The command line as a child process, with a home of the tests' own."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]


def environment(home: Path, **more: str) -> dict[str, str]:
    """Ours, with the home and the checkout's package, without what would change the result."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PG", "COLUMNS"))}
    engine = os.environ.get("PGVERDICT_ENGINE", str(ROOT / "target" / "release" / "pgverdict-engine"))
    mirror = {name: os.environ[name] for name in ("PGVERDICT_MAVEN_MIRROR",) if name in os.environ}
    return {
        **kept, **mirror, "PYTHONPATH": str(ROOT / "src"), "PGVERDICT_HOME": str(home), "PGVERDICT_ENGINE": engine,
        "COLUMNS": "100", **more,
    }  # fmt: skip


def start(*arguments: str, home: Path, **more: str) -> "subprocess.Popen[str]":
    """`pgverdict ARGUMENTS` in the background."""
    return subprocess.Popen(
        # A test run in the background of a shell ignores Ctrl-C, and its children would too.
        ["env", "--default-signal=INT,HUP,TERM", sys.executable, "-m", "pgverdict", *arguments],
        env=environment(home, **more),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def run(*arguments: str, home: Path, **more: str) -> "subprocess.CompletedProcess[str]":
    """`pgverdict ARGUMENTS`, to its end."""
    process = start(*arguments, home=home, **more)
    out, err = process.communicate()
    return subprocess.CompletedProcess(process.args, process.returncode, out, err)


def report_of(*arguments: str, home: Path, **more: str) -> dict[str, Any]:
    """The JSON report of a `compare` or `report` that must succeed."""
    done = run(*arguments, "--json", "-", home=home, **more)
    assert done.returncode == 0, done.stderr
    report: dict[str, Any] = json.loads(done.stdout)
    return report


def until(condition: Callable[[], Any], *, seconds: float, what: str) -> Any:
    """Poll until the condition gives something true."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        found = condition()
        if found:
            return found
        time.sleep(0.01)
    raise AssertionError(f"not within {seconds} s: {what}")


def servers_below(home: Path) -> list[int]:
    """Processes of PostgreSQL whose working directory is below the home."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                place, program = str((entry / "cwd").readlink()), str((entry / "exe").readlink())
            except OSError:
                continue
            if place.startswith(f"{home}/") and _is_postgres(entry, program.split(" ")[0]):
                found.append(int(entry.name))
    return found


def _is_postgres(entry: Path, program: str) -> bool:
    """Started by itself, or by the dynamic loader, which is then what it is called by."""
    if program.endswith("/postgres"):
        return True
    try:
        return "/ld-linux-" in program and "/postgres\n" in (entry / "maps").read_text()
    except OSError:
        return False


def engines(home: Path) -> list[int]:
    """Processes of the load engine that work for a run with this home."""
    mark = f"PGVERDICT_HOME={home}".encode()
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                program, names = (entry / "exe").readlink(), (entry / "environ").read_bytes().split(b"\0")
            except OSError:
                continue
            if program.name.startswith("pgverdict-engine") and mark in names:
                found.append(int(entry.name))
    return found
