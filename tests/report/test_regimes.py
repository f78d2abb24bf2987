"""Which regime spoke, and what its arms went through."""

import dataclasses

from pgverdict.judge.cell import judge_run
from pgverdict.plan.stretches import whole
from pgverdict.records.round import ArmRecord, RoundRecord, TableRecord
from pgverdict.records.run import CellRecord, RunRecord
from pgverdict.report.cells import CellReport
from pgverdict.report.model import make_report
from pgverdict.report.regimes import regime_notes
from pgverdict.spec.regime import Regime

from . import samples

NAMES = {0: "17.7", 1: "18.1"}


def through(arm: ArmRecord, checkpoints: int, vacuums: int) -> ArmRecord:
    tables = (
        TableRecord("pgbench_accounts", True, vacuums, 10**8, 10**8, 100, 90),
        TableRecord("pgbench_history", False, 0, 10**6, 2 * 10**6, 0, 0),
    )
    return dataclasses.replace(arm, checkpoints=checkpoints, wal_bytes=10**9, tables=tables)


def a_steady_cell(*covered: tuple[tuple[int, int], tuple[int, int]]) -> CellRecord:
    """A round for each; per arm, how many checkpoints and vacuums it went through."""
    fresh = samples.a_run().cells[1]

    def steady(record: RoundRecord, seen: tuple[tuple[int, int], tuple[int, int]]) -> RoundRecord:
        arms = [through(arm, *counts) for arm, counts in zip(record.arms, seen, strict=True)]
        return dataclasses.replace(record, plan=whole(record.plan), arms=tuple(arms))

    return dataclasses.replace(
        fresh,
        spec=dataclasses.replace(fresh.spec, regime=Regime.STEADY),
        regime="steady",
        rounds=tuple(steady(r, seen) for r, seen in zip(fresh.measured, covered, strict=False)),
    )


def report_of(cell: CellRecord) -> CellReport:
    run = samples.a_run()
    cells = (cell, run.cells[1])
    campaign = dataclasses.replace(run.campaign, cells=tuple(one.spec for one in cells))
    run = dataclasses.replace(run, cells=cells, campaign=campaign)
    assert isinstance(run, RunRecord)
    return make_report(run, judge_run(run)).cells[0]


def test_a_steady_cell_says_how_many_checkpoints_and_vacuums_each_arm_went_through() -> None:
    (note,) = regime_notes(a_steady_cell(((2, 5), (3, 4)), ((2, 6), (4, 4))), NAMES)

    assert (
        "17.7 went through 2 checkpoints and 5 to 6 vacuums of pgbench_accounts and"
        " 18.1 went through 3 to 4 checkpoints and 4 vacuums of pgbench_accounts" in note
    )
    assert "for 12 s" in note  # as many slices of a second as the sample has


def test_an_arm_that_went_through_too_little_is_named() -> None:
    _, checkpoints, vacuums = regime_notes(a_steady_cell(((2, 2), (1, 2)), ((2, 2), (2, 1))), NAMES)

    assert checkpoints.startswith("18.1 finished fewer than 2 checkpoints in 1 round")
    assert vacuums == "18.1 vacuumed pgbench_accounts fewer than 2 times in 1 round"


def test_a_hot_table_without_a_vacuum_is_named_and_one_that_only_grows_is_not() -> None:
    _, first, second = regime_notes(a_steady_cell(((2, 0), (2, 0))), NAMES)

    assert first.startswith("17.7 never vacuumed pgbench_accounts")
    assert second.startswith("18.1 never vacuumed pgbench_accounts")


def test_a_fresh_cell_says_what_it_cannot_see() -> None:
    (note,) = regime_notes(samples.a_run().cells[1], NAMES)

    assert "no vacuum" in note


def test_a_steady_cell_is_called_so_and_has_no_pairs() -> None:
    cell = report_of(a_steady_cell(*(((2, 4), (3, 5)),) * 12))

    assert "simple-update (throughput, steady regime)" in cell.headline
    assert (cell.regime, cell.pairs, cell.turns) == ("steady", 0, "each arm alone")
    conditions = {condition.name: condition.values for condition in cell.conditions}
    assert conditions["checkpoints finished, per round"] == (2.0, 3.0)
    assert conditions["WAL written, per round"] == (1e9, 1e9)
    assert conditions["vacuums of pgbench_accounts, per round"] == (4.0, 5.0)
    assert "hit by a stall, in all" not in conditions
    (finding,) = [note for note in cell.notes if note.startswith("18.1 goes through more checkpoints")]
    assert "by 1.0 in a round" in finding
