"""The page: a pure function of what is recorded, complete and incomplete."""

import dataclasses

import numpy as np
import pytest

from bench.verdicts.lines import LINES, PROMISES
from bench.verdicts.page import page
from bench.verdicts.resampling import resampled
from pgverdict.spec.campaign import primary_metrics

from . import made


def test_without_any_measurement_the_page_says_so_of_every_line() -> None:
    text = page({})

    assert "Nothing has been measured." in text
    assert all(f"`{one.name}` 0 of {one.repetitions}" in text for one in LINES)
    assert text.count("nothing measured") == len(PROMISES)


def test_a_row_shows_the_goal_what_was_measured_and_the_prototype() -> None:
    rounds = made.rounds_of(0.02 + made.normal(12, 0.004), spun_us=0.4)
    text = page({"typical-2": [made.repetition(rounds)] * 20})

    (row,) = (line for line in text.splitlines() if line.startswith("| `typical-2`"))
    assert row.split(" | ")[2:] == [
        "30 s / 60 s", "30 s / 30 s", "12", "20 / 0 / 0", "2.00 %", "20 of 20", "20 of 20", "23 s", "met |",
    ]  # fmt: skip
    assert "`typical-2` 20 of 20" not in text


def test_every_repetition_stands_in_the_order_it_was_measured_with_the_noise_of_its_hour() -> None:
    calm = made.repetition(made.rounds_of(0.02 + made.normal(400, 0.004)), begun="2026-11-21T12:30:00+00:00")
    noisy = made.repetition(
        made.rounds_of(0.02 + made.normal(400, 0.02), base_us=27.0), begun="2026-11-21T09:00:00+00:00"
    )
    few = made.repetition(made.rounds_of([0.02] * 3), begun="2026-11-22T00:00:00+00:00")
    text = page({"typical-2": [calm, noisy, few]})

    table = text.split("### Every repetition")[1].split("\n\n")[1].splitlines()[2:]
    rows = [line.strip("| ").split(" | ") for line in table]
    assert [row[0] for row in rows] == ["2026-11-21 09:00", "2026-11-21 12:30", "2026-11-22 00:00"]
    assert [row[2] for row in rows] == ["27.0 us", "20.0 us", "20.0 us"]
    assert [float(row[3].strip(" %")) for row in rows[:2]] == [
        pytest.approx(2.0, rel=0.15),
        pytest.approx(0.4, rel=0.15),
    ]
    assert rows[2][3:] == ["-", "3", "8", "SLOWER"]


def test_live_runs_and_series_of_equal_servers_give_false_alarms_and_noise() -> None:
    same = dataclasses.replace(made.CELL, outcome="SAME", low=0.995, high=1.005, effect=1.0)
    rounds = [
        dataclasses.replace(r, slices=made.slices_of([(20.0, 20.0 + shift) for shift in made.normal(12, 0.1, seed=n)]))
        for n, r in enumerate(made.rounds_of(made.normal(50), metrics=primary_metrics()))
    ]  # fmt: skip
    text = page(
        {
            "equal": [made.repetition(cell=same)] * 30,
            "series-select": [made.repetition(rounds, cell=same, fixed_rounds=50)] * 2,
        },
        runs=200,
    )

    assert "0 of 30 whole live runs of equal servers ended SLOWER or FASTER: at most 9.50 %" in text
    assert "### `series-select`: 100 rounds in 2 runs" in text
    assert text.count("| `latency_us_p50`") == 2
    assert "means without the longest transaction of every slice" in text


def test_recoveries_show_what_was_found_of_what_was_injected() -> None:
    text = page(
        {
            name: [made.repetition(made.rounds_of(share + made.normal(20, 0.001), spun_us=20 * share))]
            for name, share in (("recovery-2", 0.02), ("recovery-5", 0.05))
        }
    )

    assert "| 2.00 % | 20 | 400 ns |" in text
    assert "Over all of them: found = " in text


def test_series_that_were_given_up_at_once_are_left_out() -> None:
    short = made.repetition(made.rounds_of([0.01] * 3, spun_us=0.4), failure="gave up")
    text = page({"series-select": [short], "recovery-2": [short], "typical-2": [short]})

    assert "## Noise" not in text
    assert "## Recovery" not in text
    assert "0 / 0 / 1" in text


def test_a_metric_whose_orders_hide_the_effect_is_not_resampled() -> None:
    rounds = [
        r if r.start_order[0] == 0 else dataclasses.replace(r, values={})
        for r in made.rounds_of(made.normal(64))
    ]
    found = resampled(
        rounds, made.METRIC, alpha=0.05, margin=0.01, runs=20, length=20, random=np.random.default_rng(1)
    )

    assert found is None
