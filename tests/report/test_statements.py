"""What is described of every statement, in the formats that show it."""

import dataclasses
import json
from typing import Any

from pgverdict.report.html import to_html
from pgverdict.report.machine import to_json
from pgverdict.report.markdown import to_markdown
from pgverdict.report.model import Report
from pgverdict.report.statements import statements_of

from . import samples

ARMS = (0, 1)


def test_figures_are_per_call_and_typical_of_the_rounds() -> None:
    cell = samples.a_run().cells[0]
    (statement,) = statements_of(cell, arms=ARMS)
    found = {one.name: one.values for one in statement.figures}

    assert statement.text == samples.SELECT
    assert found["rows per call"] == (1.0, 1.0)
    assert found["blocks hit per call"] == (4.0, 5.0)
    assert found["blocks read per call"] == (0.0, 0.0)
    assert found["WAL per call"] == (None, 150.0)
    assert found["its standard deviation there"] == (0.002, 0.002)
    baseline, candidate = found["mean time, seen by clients"]
    assert baseline is not None
    assert candidate is not None
    assert 19 < baseline < candidate < 21


def test_a_server_that_told_nothing_has_the_clients_figures_alone() -> None:
    cell = samples.a_run().cells[0]
    silent: dict[str, Any] = {
        "server_calls": None,
        "server_ms_mean": None,
        "server_ms_stddev": None,
        "server_rows": None,
    }
    rounds = tuple(
        dataclasses.replace(
            record,
            arms=tuple(
                dataclasses.replace(
                    arm, statements=tuple(dataclasses.replace(one, **silent) for one in arm.statements)
                )
                for arm in record.arms
            ),
        )
        for record in cell.rounds
    )
    (statement,) = statements_of(dataclasses.replace(cell, rounds=rounds), arms=ARMS)

    assert [one.name for one in statement.figures] == ["mean time, seen by clients", "its standard deviation"]


def test_every_format_that_describes_a_cell_has_them(report: Report) -> None:
    (statement,) = json.loads(to_json(report))["cells"][0]["statements"]
    assert statement["text"] == samples.SELECT
    assert {"name": "blocks hit per call", "unit": "", "values": [4.0, 5.0]} in statement["figures"]
    assert "| #1 | blocks hit per call |  | 4.000 | 5.000 |" in to_markdown(report)
    assert '<th scope="row">blocks hit per call</th>' in to_html(report)
