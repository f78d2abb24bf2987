"""Rounds under treatments: the table, from files whose truth is known; and the turns, with runs that are made up."""

import dataclasses
import math
import random
import subprocess
from pathlib import Path

import numpy as np
import pytest

from bench.levels import __main__ as under_test
from bench.levels.__main__ import measure, next_treatment, write
from bench.levels.table import METRICS, read, table
from bench.levels.treatments import (
    LONG,
    PLAIN,
    TREATMENTS,
    UPDATE,
    Treatment,
    applied,
    free_huge_bytes,
    obstacle,
    treatment_of,
)
from bench.verdicts.lines import Line
from bench.verdicts.measure import campaign_of
from bench.verdicts.recorded import Repetition, count, keep, next_name
from pgverdict.cli.live import LiveView
from pgverdict.conduct import bounds, warmth
from pgverdict.errors import UserError, WorldError
from pgverdict.judge.estimate import FloatArray, order_columns
from pgverdict.plan.rounds import arrange
from pgverdict.servers.layout import fixed_addresses
from pgverdict.workloads.workload import SliceBound

from . import made

FIRST = [one for one in TREATMENTS if one.cut == LONG and one.line.pairs == 12]

STARTED_FIRST = 0.006
"""Of one arm: half of the difference between a candidate that starts first and one that starts last."""


def _file(results: Path, treatment: str, noise: FloatArray, failure: str | None = None) -> None:
    """A run of a treatment, kept as the command keeps it."""
    orders = order_columns([arrange(made.CELL.key, seed=1, ordinal=i) for i in range(noise.size)])
    rounds = made.rounds_of(noise + 2 * STARTED_FIRST * orders[:, 0], metrics=METRICS)
    run = made.repetition(rounds, line=treatment, failure=failure)
    keep(run, results / treatment, next_name(results / treatment), compress=True)


def _rows(results: Path) -> list[list[str]]:
    lines = [line for line in table(read(results)).splitlines() if line.startswith("| `")]
    return [line.strip("| ").split(" | ") for line in lines]


def test_a_treatment_that_halves_the_scatter_has_a_quarter_of_the_variance(tmp_path: Path) -> None:
    for seed in range(20):
        _file(tmp_path, PLAIN, made.normal(16, 0.008, seed=seed))
        _file(tmp_path, "huge-pages", made.normal(16, 0.004, seed=100 + seed))

    rows = _rows(tmp_path)
    assert [[*row[:2], row[3]] for row in rows] == [
        [f"`{name}`", "320", f"`{metric}`"] for name in (PLAIN, "huge-pages") for metric in METRICS
    ]
    plain, huge = rows[0], rows[3]
    assert float(plain[4].split("%")[0]) == pytest.approx(0.8, rel=0.1)
    low, high = (float(limit.strip("% []")) for limit in plain[4].split("[")[1].split(", "))
    # The limits by chi-square of 316 degrees of freedom, rounded to what is shown.
    assert (low, high) == pytest.approx(
        tuple(float(plain[4].split("%")[0]) * math.sqrt(316 / q) for q in (358.5, 275.8)), abs=0.011
    )
    assert plain[5] == ""
    assert float(huge[5].split()[0]) == pytest.approx(0.25, rel=0.25)
    assert float(plain[9].split("%")[0]) / 100 == pytest.approx(STARTED_FIRST, rel=0.1)


def test_a_run_that_broke_off_in_its_first_block_of_orders_is_left_out(tmp_path: Path) -> None:
    _file(tmp_path, PLAIN, made.normal(16))
    _file(tmp_path, PLAIN, made.normal(5), failure="gave up")

    assert [row[1] for row in _rows(tmp_path)] == ["16"] * len(METRICS)


def test_without_plain_rounds_nothing_is_compared(tmp_path: Path) -> None:
    _file(tmp_path, "fixed-addresses", made.normal(16))

    assert [(row[5], row[6]) for row in _rows(tmp_path)] == [("", "")] * len(METRICS)


def test_within_a_start_is_told_where_slices_were_kept_and_tell_it(tmp_path: Path) -> None:
    noise = np.random.default_rng(1)
    rounds = [
        dataclasses.replace(
            r, slices=made.slices_of([(20.0, 20.0 * math.exp(p)) for p in 0.01 * noise.standard_normal(12)])
        )
        for r in made.rounds_of(made.normal(32), metrics=METRICS)
    ]
    keep(made.repetition(rounds), tmp_path / PLAIN, "0001", compress=True)

    told = {row[3]: row[7] for row in _rows(tmp_path)}
    assert told["`server_cpu_us_per_txn`"] == "-"
    assert float(told["`latency_us_mean`"].strip("%")) == pytest.approx(1 / math.sqrt(12), rel=0.3)


def test_the_page_is_kept_beside_the_data_only_if_there_is_any(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path)
    assert "Nothing has been measured." in capsys.readouterr().out
    assert not list(tmp_path.iterdir())

    _file(tmp_path, PLAIN, made.normal(16))
    write(tmp_path)
    assert (tmp_path / "README.md").read_text() == capsys.readouterr().out.removesuffix("\n")


def test_treatments_take_turns_by_lot() -> None:
    turns = set()
    for seed in range(30):
        lot, done = random.Random(seed), {one.name: 0 for one in TREATMENTS}
        turn = []
        for _ in TREATMENTS:
            turn.append(next_treatment(TREATMENTS, done, lot).name)
            done[turn[-1]] += 1
        assert sorted(turn) == sorted(done)
        turns.add(tuple(turn))

    assert len(turns) > 10


def test_treatments_differ_in_what_they_say_and_in_nothing_else() -> None:
    campaigns = {one.name: campaign_of(one.line, seed=1, handicap=0) for one in TREATMENTS}

    assert len(campaigns) == len(TREATMENTS)
    assert campaigns["fixed-addresses"] == campaigns[PLAIN]
    huge, plain = campaigns["huge-pages"], campaigns[PLAIN]
    assert [set(a.settings) - set(b.settings) for a, b in zip(huge.arms, plain.arms, strict=True)] == [
        {("huge_pages", "on")}
    ] * 2
    assert dataclasses.replace(huge, arms=plain.arms) == plain
    changing, reading = campaigns["update-slices-20"], campaigns["slices-20"]
    (changed,), (read_,) = changing.cells, reading.cells
    assert dataclasses.replace(changed, workload=read_.workload, pairs=read_.pairs) == read_
    assert [campaigns[name].cells[0].pairs for name in (PLAIN, "pairs-30", "slices-20")] == [12, 30, 30]


def test_slices_are_of_another_length_only_for_cells_whose_slices_are_chosen_inside() -> None:
    def chosen() -> bounds.Bounds:
        return bounds.choose_bounds(SliceBound.TIME, [50_000.0], clients=1)

    before = chosen()
    for name, slice_us in ((PLAIN, 50_000), ("slices-20", 20_000)):
        with applied(treatment_of(name)):
            assert chosen() == bounds.Bounds((("duration_us", slice_us),), (("duration_us", 5_000),))
    with applied(treatment_of("update-slices-20")):
        changing = bounds.choose_bounds(SliceBound.TRANSACTIONS, [10_000.0], clients=1)
        assert changing == bounds.Bounds(
            (("transactions_per_client", 200),), (("transactions_per_client", 50),)
        )
    assert chosen() == before


def test_the_warm_up_is_shorter_inside() -> None:
    before = bounds.BY_TIME
    with applied(treatment_of("warm-up-100")):
        inside = bounds.BY_TIME.warm_up_us
    assert (inside, bounds.BY_TIME) == (100_000, before)


def test_servers_read_their_data_one_after_the_other_unless_the_treatment_says_otherwise() -> None:
    before = warmth.AT_ONCE
    seen = []
    for name in (PLAIN, "side-by-side"):
        with applied(treatment_of(name)):
            seen.append(warmth.AT_ONCE)
    assert (seen, warmth.AT_ONCE) == ([1, 2], before)


def test_a_round_that_takes_twice_as_long_must_scatter_less_to_be_worth_it(tmp_path: Path) -> None:
    for name, sd, seconds in ((PLAIN, 0.008, 2.0), ("pairs-30", 0.004, 4.0)):
        rounds = [
            dataclasses.replace(one, seconds=seconds)
            for one in made.rounds_of(made.normal(320, sd), metrics=METRICS)
        ]
        keep(made.repetition(rounds, line=name), tmp_path / name, "0001", compress=True)

    pairs = _rows(tmp_path)[3]
    assert pairs[2] == "4.00"
    assert float(pairs[6]) == pytest.approx(2 * float(pairs[5].split()[0]), abs=0.011)


def test_plain_rounds_of_other_hours_are_compared_with_nothing(tmp_path: Path) -> None:
    for treatment, hour, sd in (
        (PLAIN, 8, 0.02), (PLAIN, 12, 0.004), ("pairs-30", 12, 0.004), ("pairs-30", 16, 0.02)
    ):  # fmt: skip
        run = made.repetition(
            made.rounds_of(made.normal(320, sd, seed=hour + len(treatment)), metrics=METRICS),
            begun=f"2026-11-02T{hour:02}:{len(treatment):02}:00+00:00",
        )
        keep(run, tmp_path / treatment, f"00{hour:02}", compress=True)

    rows = _rows(tmp_path)
    assert [row[0] for row in rows[:: len(METRICS)]] == [
        f"`{PLAIN}`, 2026-11-02 08:05", f"`{PLAIN}`, 2026-11-02 12:05", "`pairs-30`"
    ]  # fmt: skip
    assert float(rows[2 * len(METRICS)][5].split()[0]) == pytest.approx(1.0, rel=0.3)


def test_rounds_that_change_data_are_held_against_such(tmp_path: Path) -> None:
    for name, sd in ((PLAIN, 0.02), (UPDATE, 0.004), ("update-slices-20", 0.004)):
        run = made.repetition(made.rounds_of(made.normal(320, sd), metrics=METRICS), line=name)
        keep(run, tmp_path / name, "0001", compress=True)

    rows = _rows(tmp_path)[:: len(METRICS)]
    assert [row[0] for row in rows] == [f"`{PLAIN}`", f"`{UPDATE}`", "`update-slices-20`"]
    assert [row[5] for row in rows[:2]] == ["", ""]
    assert rows[2][5].startswith("1.00 [")


def test_an_unknown_treatment_is_told_from_the_nearest(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="treatment"):
        under_test.main(["--measure", "slices-2", "--results", str(tmp_path)])


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of what was run; each run takes a minute, and huge pages are not to be had."""
    asked: list[str] = []

    def run(line: Line, _handicap: int, revision: str, _view: LiveView) -> Repetition:
        asked.append(line.name)
        return made.repetition(
            made.rounds_of(made.normal(16), metrics=METRICS), line=line.name, revision=revision
        )

    def refused(treatment: Treatment) -> str | None:
        return "none are free" if treatment.huge_pages else None

    monkeypatch.setattr(under_test, "revision_of_checkout", lambda: "a test")
    monkeypatch.setattr(under_test, "monotonic", lambda: 60.0 * len(asked))
    monkeypatch.setattr(under_test, "obstacle", refused)
    monkeypatch.setattr(under_test, "run_once", run)
    return asked


def _measure(results: Path, minutes: float) -> None:
    with LiveView() as view:
        measure(FIRST, results, minutes=minutes, view=view)


def test_after_the_time_limit_no_run_is_begun_and_the_one_that_runs_is_kept(
    tmp_path: Path, runs: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    _measure(tmp_path, minutes=2.5)

    assert len(runs) == 3
    assert sum(count(tmp_path / name) for name in (PLAIN, "fixed-addresses")) == 3
    assert "left out: huge-pages: none are free" in capsys.readouterr().err


def test_a_treatment_that_lacks_runs_of_other_days_gets_no_hours_to_itself(
    tmp_path: Path, runs: list[str]
) -> None:
    for _ in range(5):
        _file(tmp_path, PLAIN, made.normal(16))
    _measure(tmp_path, minutes=3.5)

    assert sorted(runs) == ["fixed-addresses"] * 2 + [PLAIN] * 2


def test_a_command_does_it_again_with_the_same_addresses(tmp_path: Path, runs: list[str]) -> None:
    _measure(tmp_path, minutes=1.5)

    assert sorted(runs) == ["fixed-addresses", PLAIN]
    said = {name: [one.command for one in kept] for name, kept in read(tmp_path).items() if kept}
    cut = f"# with {LONG}, prewarmed at once: 1, layouts the kernel's"
    assert said == {
        PLAIN: [f"pgverdict compare 17.7 17.7 {cut}"],
        "fixed-addresses": [f"setarch -R pgverdict compare 17.7 17.7 {cut}"],
    }


def test_a_run_without_rounds_is_not_kept(
    tmp_path: Path, runs: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(under_test, "run_once", lambda *_: made.repetition(failure="gave up"))

    with pytest.raises(WorldError, match="failed: gave up"):
        _measure(tmp_path, minutes=1)

    assert not runs
    assert not list(tmp_path.iterdir())


def test_a_time_limit_in_which_nothing_could_begin_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="longer than nothing: 0"):
        under_test.main(["--measure", "--minutes", "0", "--results", str(tmp_path)])


def test_only_what_is_started_inside_has_fixed_addresses() -> None:
    if obstacle(next(one for one in TREATMENTS if one.name == "fixed-addresses")):
        pytest.skip("personality(2) is forbidden here")

    def of_a_child() -> int:
        return int(subprocess.check_output(["cat", "/proc/self/personality"]), 16)

    before = of_a_child()
    with fixed_addresses():
        assert of_a_child() == before | 0x0040000
    assert of_a_child() == before


def test_huge_pages_must_have_room_for_two_servers(tmp_path: Path) -> None:
    huge = next(one for one in TREATMENTS if one.name == "huge-pages")
    meminfo = tmp_path / "meminfo"

    for pages, fits in ((0, False), (599, False), (600, True)):
        meminfo.write_text(f"HugePages_Free:      {pages}\nHugepagesize:       2048 kB\n")
        assert (obstacle(huge, meminfo) is None) == fits
    assert free_huge_bytes("MemTotal: 1 kB\n") == 0
