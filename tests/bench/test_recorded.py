"""What is kept of a repetition comes back, and a file is there whole or not at all."""

import dataclasses
import json
import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.verdicts import recorded
from bench.verdicts.recorded import (
    Repetition,
    SliceFigures,
    from_lines,
    keep,
    next_name,
    read,
    read_all,
    to_lines,
)
from pgverdict.errors import WorldError

from . import made

MEASURED = tuple(
    dataclasses.replace(r, slices=made.slices_of([(20.0, 20.5)]))
    for r in made.rounds_of([0.02, 0.021], spun_us=0.4)
)
FAILED = dataclasses.replace(MEASURED[0], state="failed", values={}, slices=(), story="the server died")
FULL = made.repetition((*MEASURED, FAILED))


def test_a_repetition_comes_back_equal() -> None:
    again = from_lines(to_lines(FULL))

    assert again.cells == FULL.cells
    assert again.rounds[2] == FULL.rounds[2]
    assert again.rounds[0].slices == FULL.rounds[0].slices
    assert dataclasses.replace(again, rounds=()) == dataclasses.replace(FULL, rounds=())


@given(st.floats(-1, 1), st.floats(0.01, 1e7))
def test_log_ratios_are_kept_to_the_last_digit_and_values_to_the_seventh(
    ratio: float, base_us: float
) -> None:
    (r,) = from_lines(to_lines(made.repetition(made.rounds_of([ratio], base_us=base_us)))).rounds

    baseline, candidate, kept = r.values[made.METRIC]
    assert kept == ratio
    assert baseline == pytest.approx(base_us, rel=1e-6)
    assert candidate == pytest.approx(base_us * math.exp(ratio), rel=1e-6)


def test_a_metric_that_a_round_lacks_is_missing_in_that_round_only() -> None:
    with_both, with_one = made.rounds_of([0.1, 0.2])
    with_one = dataclasses.replace(with_one, values={made.METRIC: with_one.values[made.METRIC]})
    again = from_lines(to_lines(made.repetition((with_both, with_one))))

    assert [sorted(r.values) for r in again.rounds] == [["latency_us_mean", made.METRIC], [made.METRIC]]


def test_an_interval_without_limits_is_written_as_json_knows_it() -> None:
    open_cell = dataclasses.replace(made.CELL, outcome="UNDECIDED", effect=math.nan, low=0.0, high=math.inf)
    text = to_lines(made.repetition(made.rounds_of([0.1]), cell=open_cell))

    json.loads(text.splitlines()[0], parse_constant=lambda word: pytest.fail(f"not JSON: {word}"))
    (cell,) = from_lines(text).cells
    assert math.isnan(cell.effect)
    assert cell.high == math.inf


@pytest.mark.parametrize("compress", [False, True])
def test_repetitions_are_read_in_the_order_they_were_kept(tmp_path: Path, compress: bool) -> None:
    for seed in (5, 6):
        keep(made.repetition(seed=seed), tmp_path, next_name(tmp_path), compress=compress)
    keep(made.repetition(seed=4), tmp_path, f"0003-{recorded.PROBE}", compress=False)

    assert [one.seed for one in read_all(tmp_path)] == [5, 6]
    assert next_name(tmp_path) == "0004"


def test_the_same_repetition_gives_the_same_bytes(tmp_path: Path) -> None:
    first, second = (keep(FULL, tmp_path, name, compress=True) for name in ("0001", "0002"))

    assert first.read_bytes() == second.read_bytes()


def test_a_file_that_is_there_is_never_changed(tmp_path: Path) -> None:
    place = keep(made.repetition(seed=1), tmp_path, "0001", compress=False)

    with pytest.raises(FileExistsError):
        keep(made.repetition(seed=2), tmp_path, "0001", compress=False)

    assert read(place).seed == 1


def test_what_a_kill_left_half_written_is_not_read(tmp_path: Path) -> None:
    (tmp_path / ".0001.jsonl").write_text(to_lines(FULL)[:100])

    assert read_all(tmp_path) == []
    assert next_name(tmp_path) == "0001"


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "0001.jsonl").write_text(to_lines(FULL)[:100])

    with pytest.raises(WorldError, match=r"cannot read the repetition .*0001\.jsonl"):
        read_all(tmp_path)


def test_no_field_is_forgotten_in_the_file() -> None:
    head = json.loads(to_lines(FULL).splitlines()[0])

    assert set(head) == {field.name for field in dataclasses.fields(Repetition)} - {"rounds"} | {"metrics"}
    assert len(dataclasses.fields(SliceFigures)) == len(
        json.loads(to_lines(FULL).splitlines()[1])["slices"][0]
    )
