"""What partitions cost, and what that consists of."""

import dataclasses
import json

import pytest

from pgverdict.judge.cell import judge_run
from pgverdict.records.round import ArmRecord, PreliminariesRecord
from pgverdict.records.run import CellRecord, RunRecord
from pgverdict.report.machine import to_json
from pgverdict.report.markdown import to_markdown
from pgverdict.report.model import make_report
from pgverdict.report.partitions import PartitionsReport, partitions_of, partitions_section

from . import samples


def a_partitioned_run(*, slower: float = 1.2, inside: float | None = 1.1) -> RunRecord:
    """Transactions take so many times as long with 16 partitions, their statements so many times in the server."""
    run = samples.a_run()
    without = run.cells[0]
    spec = dataclasses.replace(without.spec, parameters=(("partitions", 16),))
    rounds = tuple(
        dataclasses.replace(record, arms=tuple(_arm(arm, slower, inside) for arm in record.arms))
        for record in without.rounds
    )
    cells = (dataclasses.replace(without, spec=spec, rounds=rounds), without)
    campaign = dataclasses.replace(run.campaign, cells=tuple(cell.spec for cell in cells))
    return dataclasses.replace(run, cells=cells, campaign=campaign)


def _arm(arm: ArmRecord, slower: float, inside: float | None) -> ArmRecord:
    statements = tuple(
        dataclasses.replace(
            s,
            server_ms_mean=None if inside is None or s.server_ms_mean is None else s.server_ms_mean * inside,
            server_buffers_hit=(s.server_buffers_hit or 0) * 2,
        )
        for s in arm.statements
    )
    latency = dataclasses.replace(arm.latency, mean_ns=arm.latency.mean_ns * slower)
    return dataclasses.replace(arm, latency=latency, statements=statements)


def found(run: RunRecord) -> PartitionsReport:
    (report,) = partitions_of(run)
    return report


def test_the_penalty_is_split_into_what_is_inside_the_executor_and_what_is_not() -> None:
    first, second = found(a_partitioned_run()).penalties

    assert (first.label, second.label, first.partitions) == ("17.7", "18.1", 16)
    assert first.time.ratio == pytest.approx(1.2)
    whole, inside, outside, *_, hit, _read, _wal = first.parts
    # A quarter of the time is inside: a tenth more of it is an eighth of a fifth of the whole.
    assert whole.with_ == pytest.approx(1.2 * (whole.without or 0))
    difference = (whole.with_ or 0) - (whole.without or 0)
    assert ((inside.with_ or 0) - (inside.without or 0)) / difference == pytest.approx(0.1237, rel=0.02)
    assert ((outside.with_ or 0) - (outside.without or 0)) / difference == pytest.approx(0.8763, rel=0.02)
    assert (hit.without, hit.with_) == (4.0, 8.0)


def test_a_sentence_says_how_much_and_where() -> None:
    sentence = found(a_partitioned_run()).penalties[0].sentence

    assert sentence.startswith("16 partitions on 17.7: time of a transaction +20.00 %, between ")
    assert "inside the executor" in sentence


def asked(run: RunRecord, *, planning: bool = True) -> RunRecord:
    """A run whose first round in each cell was asked: 2 relations locked without partitions, 35 with them."""
    cells = []
    for cell in run.cells:
        many = bool(cell.spec.parameters)
        told = PreliminariesRecord(
            "select-only",
            transactions=40,
            plans=40 * many if planning else None,
            planning_us_mean=(3.0 if many else 0.0) if planning else None,
            relations_locked=35 if many else 2,
            relations_locked_fast_path=16 if many else 2,
        )
        first, *others = cell.rounds
        arms = tuple(dataclasses.replace(arm, preliminaries=(told,)) for arm in first.arms)
        rounds = (dataclasses.replace(first, arms=arms), *others)
        cells.append(dataclasses.replace(cell, rounds=rounds))
    return dataclasses.replace(run, cells=tuple(cells))


def test_what_is_outside_the_executor_is_told_apart_where_planning_was_asked() -> None:
    penalty = found(asked(a_partitioned_run())).penalties[0]

    parts = {part.name: part for part in penalty.parts}
    outside, planning = parts["outside it"], parts["of that planning, asked apart"]
    assert (planning.without, planning.with_) == (0.0, 3.0)
    rest = parts["of that neither"]
    assert rest.without == outside.without
    assert rest.with_ == pytest.approx((outside.with_ or 0) - 3.0)
    assert (parts["plans made"].without, parts["plans made"].with_) == (0.0, 1.0)
    assert "us inside the executor, +3 us planning, +" in penalty.sentence
    assert penalty.sentence.endswith(
        "us neither; 35 relations are locked in place of 2, 19 of them in the shared lock table in place of 0"
    )


def test_before_13_locks_are_told_without_planning() -> None:
    report = found(asked(a_partitioned_run(), planning=False))

    assert "us outside it; 35 relations are locked in place of 2" in report.penalties[0].sentence
    (outside, asked_apart, _) = partitions_section(report).notes
    assert "Neither" not in outside
    assert asked_apart.endswith("Releases before 13 do not tell planning apart")


def test_without_times_inside_the_server_the_penalty_is_told_and_not_split() -> None:
    sentence = found(a_partitioned_run(inside=None)).penalties[0].sentence

    assert sentence.endswith("where it is spent is not known, without times inside the server")


def test_what_begins_and_ends_a_transaction_needs_no_time_in_the_server() -> None:
    run = a_partitioned_run()
    cells = tuple(
        dataclasses.replace(
            cell,
            rounds=tuple(dataclasses.replace(r, arms=tuple(map(_in_blocks, r.arms))) for r in cell.rounds),
        )
        for cell in run.cells
    )

    first = found(dataclasses.replace(run, cells=cells)).penalties[0]

    assert first.parts == found(run).penalties[0].parts


def _in_blocks(arm: ArmRecord) -> ArmRecord:
    begin = dataclasses.replace(
        arm.statements[0], text="BEGIN", server_calls=None, server_ms_mean=None, server_buffers_hit=None
    )
    return dataclasses.replace(arm, statements=(begin, *arm.statements))


def test_a_difference_that_may_be_nothing_is_said_to_be_so() -> None:
    sentence = found(a_partitioned_run(slower=1.0)).penalties[0].sentence

    assert sentence.endswith("which may be nothing")


def test_cells_without_partitions_alone_have_no_penalty() -> None:
    assert partitions_of(samples.a_run()) == ()
    partitioned: CellRecord = a_partitioned_run().cells[0]
    assert partitions_of(dataclasses.replace(a_partitioned_run(), cells=(partitioned,))) == ()


def test_formats_show_the_parts_and_what_is_not_counted() -> None:
    run = a_partitioned_run()
    report = make_report(run, judge_run(run))

    text = to_markdown(report)
    assert "## What partitions cost: select-only, scale 10, 1 client" in text
    assert "Neither planning alone nor locks were counted" in text
    assert "| relations locked |" in to_markdown(make_report(asked(run), judge_run(run)))
    assert json.loads(to_json(report))["partitions"][0]["penalties"][0]["partitions"] == 16
