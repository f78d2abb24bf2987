"""The CSV of a run."""

import csv
import io
import math
from collections import Counter

import pytest

from pgverdict.judge.values import Question, values
from pgverdict.report.table import COLUMNS, to_csv

from . import samples


def rows() -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(to_csv(samples.a_run()))))


def test_there_is_a_row_for_every_round_and_question() -> None:
    assert tuple(rows()[0]) == COLUMNS
    counted = Counter((row["cell"], row["metric"], row["subject"]) for row in rows())

    for cell in samples.a_run().cells:
        assert {n for key, n in counted.items() if key[0] == cell.spec.key} == {len(cell.rounds)}


def test_a_row_says_what_the_round_said_with_all_digits() -> None:
    cell = samples.a_run().cells[0]
    row = next(r for r in rows() if r["metric"] == "tps" and r["round"] == "3")
    said = values(cell.rounds[2], Question("tps"), clients=1)

    assert said is not None
    assert float(row["log_ratio"]) == said.log_ratio
    assert float(row["log_ratio"]) == pytest.approx(
        math.log(float(row["candidate_value"]) / float(row["baseline_value"]))
    )
    assert (row["better"], row["state"], row["candidate"]) == ("higher", "measured", "18")
    assert {abs(float(row[name])) for name in ("start", "connection", "directory")} == {0.5}


def test_the_primary_metric_of_a_cell_comes_first() -> None:
    first = {row["cell"]: row["metric"] for row in reversed(rows())}

    assert list(first.values())[::-1] == [cell.primary for cell in samples.a_run().cells]


def test_a_failed_round_has_a_row_without_values() -> None:
    failed = [row for row in rows() if row["state"] == "failed"]

    assert {row["round"] for row in failed} == {"5"}
    assert {(row["baseline_value"], row["log_ratio"]) for row in failed} == {("", "")}
