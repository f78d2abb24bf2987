"""A server asked by pgbench what it knows of the connection."""

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

ANSWER_S_MAX = 120.0

OVERFLOWING = "\n".join(
    (
        "\\startpipeline",
        *[f"select repeat('x', 60000) /* {'y' * 50_000} */;"] * 300,
        "\\endpipeline",
    )
)
"""More than sockets hold in either direction: who does not read while there is no room to write waits for a server
that does the same."""


def environment_of(folder: Path, more: Mapping[str, str]) -> dict[str, str]:
    """Ours with a home of the test's own, in which nothing is known of servers, tickets and languages but `more`."""
    own = {name: value for name, value in os.environ.items() if not name.startswith(("PG", "KRB5"))}
    return own | {"HOME": str(folder), "LC_ALL": "C"} | dict(more)


def ask(
    pgbench: Path, folder: Path, script: str, connection: str, more: Mapping[str, str], *options: str
) -> tuple[int, str]:
    """The exit code, and what was said, of one run of the script; nobody can be asked for a password."""
    file = folder / "script.sql"
    file.write_text(script)
    done = subprocess.run(
        [pgbench, "-n", "-t", "1", "-f", file, *options, connection],
        env=environment_of(folder, more),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        start_new_session=True,
        timeout=ANSWER_S_MAX,
    )
    return done.returncode, done.stderr
