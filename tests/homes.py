"""Where the tests keep servers and datasets between runs, so that they are fetched and loaded once."""

import os
from pathlib import Path

VARIABLE = "PGVERDICT_TEST_HOME"


def home_for_tests() -> Path:
    """PGVERDICT_TEST_HOME; else, for root, a place the user that servers run as can reach."""
    default = (
        Path("/var/tmp/pgverdict-tests") if os.geteuid() == 0 else Path.home() / ".cache/pgverdict-tests"
    )
    return Path(os.environ.get(VARIABLE) or default)


def home_of_runs() -> Path:
    """A home beside that one, for whole runs: the end to end tests count, and kill, every server below it."""
    root = home_for_tests()
    return root.with_name(f"{root.name}-runs")
