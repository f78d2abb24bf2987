"""Two machines side by side: numbers, and nothing that sounds like a verdict."""

import dataclasses

import pytest

from pgverdict.errors import UserError
from pgverdict.judge.verdict import Outcome
from pgverdict.records.run import RunRecord
from pgverdict.report.machines import WARNING, machine_rows, machine_screen

from .samples import a_run


def slower_machine(factor: float) -> RunRecord:
    """The sample run on a machine on which every transaction takes longer by this factor."""
    run = a_run()
    cells = tuple(
        dataclasses.replace(cell, rounds=tuple(dataclasses.replace(
            one,
            slices=tuple(
                dataclasses.replace(
                    s,
                    busy_ns=round(s.busy_ns * factor),
                    latency=dataclasses.replace(s.latency, p50_ns=s.latency.p50_ns * factor),
                )
                for s in one.slices
            ),
            arms=tuple(
                dataclasses.replace(
                    a,
                    busy_ns=round(a.busy_ns * factor),
                    latency=dataclasses.replace(a.latency, p50_ns=a.latency.p50_ns * factor),
                )
                for a in one.arms
            ),
        ) for one in cell.rounds))
        for cell in run.cells
    )  # fmt: skip
    return dataclasses.replace(run, id="elsewhere", cells=cells, host=(("name", "other"), ("cores", "8")))


def test_medians_of_both_and_their_ratio_are_told_for_every_cell_and_arm() -> None:
    rows = machine_rows(a_run(), slower_machine(2.0))

    assert [(row.cell.split()[0], row.labels[0]) for row in rows] == [
        ("select-only", "17.7"), ("select-only", "18.1"), ("simple-update", "17.7"), ("simple-update", "18.1"),
    ]  # fmt: skip
    assert [row.ratio for row in rows] == [pytest.approx(n, rel=1e-3) for n in (2, 2, 0.5, 0.5)]
    assert rows[0].rounds == (24, 24)
    assert rows[2].rounds == (12, 12), "failed rounds say nothing"
    for row in rows:
        for middle, (low, high) in zip(row.median, row.spread, strict=True):
            assert low <= middle <= high


def test_the_screen_says_that_it_is_no_comparison_and_gives_no_verdict() -> None:
    said = machine_screen(a_run(), slower_machine(1.0))

    assert WARNING in said
    assert "elsewhere on name other, cores 8" in said
    assert not [one.value for one in Outcome if one.value in said]


def test_runs_of_other_cells_are_refused() -> None:
    run = a_run()
    other = dataclasses.replace(
        run,
        id="other",
        cells=tuple(
            dataclasses.replace(cell, spec=dataclasses.replace(cell.spec, clients=64)) for cell in run.cells
        ),
    )
    with pytest.raises(UserError, match="have no cell, arm and metric in common"):
        machine_rows(run, other)
