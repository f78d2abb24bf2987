"""What a calibration says on a screen, in a line, and to programs."""

import dataclasses
import json

import pytest

from pgverdict.judge.calibration import Calibration, calibration
from pgverdict.records.host import Diagnosis, Level
from pgverdict.records.run import RunRecord
from pgverdict.report.calibration import calibration_json, calibration_line, calibration_screen
from tests.judge.calibrated import a_calibration


@pytest.fixture(scope="module")
def run() -> RunRecord:
    return a_calibration(80)


@pytest.fixture(scope="module")
def found(run: RunRecord) -> Calibration:
    return calibration(run)


def test_the_screen_says_everything_and_fits_one(found: Calibration, run: RunRecord) -> None:
    screen = calibration_screen(found, run)

    lines = screen.splitlines()
    assert len(lines) <= 24
    assert lines[0] == (
        "17.11 on select-only, scale 10, 1 client, calibrated 2026-11-21: 70 rounds of 5 arms (6.0 s each),"
        " 10 of two (3.0 s each)"
    )
    assert [line.split("  ")[0] for line in lines[4:9]] == [
        "slowed down by",
        "nothing",
        "1.00 % (200 ns)",
        "2.00 % (400 ns)",
        "5.00 % (1,000 ns)",
    ]
    for said in (
        "false alarms",
        "promised at most 1.00 %",
        "between starts",
        "8 loads differ",
        "pairs would tell",
    ):
        assert said in screen
    assert lines[-1] == f"run {run.id}"


def test_what_doctor_warned_of_is_on_the_screen_and_all_it_said_is_for_programs(
    found: Calibration, run: RunRecord
) -> None:
    told = (Diagnosis("swap", Level.WARNING, "swappiness 60"), Diagnosis("turbo", Level.FINE, "off"))
    examined = dataclasses.replace(run, diagnoses=told)

    lines = calibration_screen(found, examined).splitlines()
    assert lines[-2].endswith("`pgverdict doctor` says why: swap: swappiness 60")
    assert [one["level"] for one in json.loads(calibration_json(found, examined))["run"]["diagnoses"]] == [
        "warning",
        "fine",
    ]


def test_the_line_says_what_is_found_how_soon(found: Calibration, run: RunRecord) -> None:
    assert found.alarms is not None
    seconds = [found.seconds(slowed.found.rounds_p50) for slowed in found.slowed]

    assert calibration_line(found, run) == (
        "on this host, calibrated 2026-11-21 with 17.11 select-only:"
        f" it finds a slow-down of 1.0 % in {seconds[0]:.0f} s, 2.0 % in {seconds[1]:.0f} s,"
        f" 5.0 % in {seconds[2]:.0f} s (median);"
        f" {found.alarms.count} false alarms in 4,000 made-up runs"
    )


def test_programs_get_the_same_numbers(found: Calibration, run: RunRecord) -> None:
    document = json.loads(calibration_json(found, run))

    assert document["schema"] == "pgverdict.calibration/1"
    assert document["handicaps_ns"] == [0, 0, 200, 400, 1000]
    assert found.alarms is not None
    assert document["calibration"]["alarms"]["count"] == found.alarms.count
    assert [one["found"]["truth"] for one in document["calibration"]["slowed"]] == [
        one.found.truth for one in found.slowed
    ]


def test_a_run_that_was_too_short_says_so() -> None:
    run = a_calibration(3)
    found = calibration(run)

    assert "too few rounds to say what is found here: 3" in calibration_screen(found, run)
    assert calibration_line(found, run) is None
    assert json.loads(calibration_json(found, run))["calibration"]["alarms"] is None


def test_a_run_that_knows_effects_badly_warns_of_its_shares() -> None:
    short, long = a_calibration(10), a_calibration(80)

    assert "shares and times are rough" in calibration_screen(calibration(short), short)
    assert "shares and times are rough" not in calibration_screen(calibration(long), long)
