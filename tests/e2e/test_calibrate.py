"""A host is calibrated, and the reports of later runs say so."""

import json
from pathlib import Path

import pytest

from tests.e2e import cli

pytestmark = [pytest.mark.slow, pytest.mark.long]


def test_a_calibration_is_kept_shown_again_and_told_beside_later_verdicts(
    home: Path, store: str, tmp_path: Path
) -> None:
    out = tmp_path / "calibration.json"
    first = cli.run(
        "calibrate", "17", "--minutes", "1", "--scale", "1", "--seed", "1", "--store", store,
        "--json", str(out), home=home,
    )  # fmt: skip
    again = cli.run("report", "--store", store, home=home)

    assert first.returncode == 0, first.stderr
    assert again.stdout == first.stdout
    document = json.loads(out.read_text())
    assert document["schema"] == "pgverdict.calibration/1"
    assert document["handicaps_ns"][:2] == [0, 0]
    assert document["handicaps_ns"] == sorted(document["handicaps_ns"])
    calibration = document["calibration"]
    assert calibration["rounds"] > calibration["short_rounds"] > 0
    assert calibration["costs"]["round_s"] < calibration["round_s"]
    assert [one["handicap_ns"] for one in calibration["slowed"]] == document["handicaps_ns"][2:]
    assert calibration["levels"]["round_sd"] > 0

    refused = cli.run("report", "--store", store, "--html", str(tmp_path / "page.html"), home=home)
    assert refused.returncode == 2
    assert "is a calibration, which has no page" in refused.stderr

    report = cli.report_of(
        "compare", "17", "17", "--scale", "1", "--rounds", "2", "--store", store, home=home
    )
    assert report["run"]["notes"][-1].startswith("on this host, calibrated 20")
    assert "false alarm" in report["run"]["notes"][-1]
