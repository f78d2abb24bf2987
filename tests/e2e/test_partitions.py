"""What transactions plan and lock, asked on the two releases of a study, from the command line to the store."""

from pathlib import Path

import pytest

from pgverdict.store.opening import open_store
from tests.e2e import cli

pytestmark = pytest.mark.slow


def test_planning_and_locks_are_asked_of_a_cell_with_partitions(home: Path, store: str) -> None:
    cli.report_of(
        "compare", "15", "16", "--workload", "select-only", "-p", "partitions=20", "--scale", "1", "--rounds", "2",
        "--pairs", "2", "--store", store, home=home,
    )  # fmt: skip

    with open_store(store) as opened:
        (cell,) = opened.load_run().cells
    measured, _ = cell.measured
    assert [arm.server_version.split(".")[0] for arm in measured.arms] == ["15", "16"]
    for arm in measured.arms:
        (asked,) = arm.preliminaries
        assert (asked.script, asked.transactions) == ("select-only", 40)
        # The partitioned table, and the partition that is read, with their indexes.
        assert 3 <= asked.relations_locked <= 42
        assert 0 < asked.relations_locked_fast_path <= 16
        assert asked.plans is not None
        assert asked.planning_us_mean is not None
        assert 0 <= asked.plans <= asked.transactions
        assert (asked.planning_us_mean > 0) == (asked.plans > 0)
