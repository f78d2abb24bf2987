"""More than two arms on real servers."""

from pathlib import Path

import pytest

from pgverdict.plan.rounds import PAIRS
from tests.e2e import cli

pytestmark = pytest.mark.slow


def test_three_arms_of_a_build_are_measured_in_one_round_and_take_turns_on_data_and_installs(
    home: Path, store: str
) -> None:
    report = cli.report_of(
        "compare", "17", "17", "17", "--scale", "1", "--rounds", "3", "--seed", "1", "--set", "17#3:jit=off",
        "--store", store, home=home,
    )  # fmt: skip

    assert [arm["name"] for arm in report["arms"]] == ["17", "17#2", "17#3"]
    assert [(c["baseline"], c["candidate"], c["rounds"], c["pairs"]) for c in report["cells"]] == [
        ("17", "17#2", 3, 3 * PAIRS),
        ("17", "17#3", 3, 3 * PAIRS),
    ]
    for cell in report["cells"]:
        assert all(v["baseline_value"] > 0 and v["candidate_value"] > 0 for v in cell["verdicts"])
        assert len(cell["conditions"][0]["values"]) == 2
    # Settings may shape what is loaded, so the third arm, which has another, has loads of its own.
    same, own = (cell["notes"][0] for cell in report["cells"])
    assert same.startswith("both arms took turns on the same 3 independent loads and 3 installs")
    assert own.startswith(
        "both arms took turns on the same 3 installs; each arm's data came from 3 independent"
    )
    assert report["trends"] == []
    assert cli.report_of("report", "--store", store, home=home) == report
