"""What is said beside the verdicts."""

import dataclasses
import math

import pytest

from pgverdict.judge import shape
from pgverdict.judge.cell import judge_run
from pgverdict.judge.shape import Check
from pgverdict.judge.spread import Spread
from pgverdict.records.run import CellRecord
from pgverdict.report.model import make_report
from pgverdict.report.remarks import Remarked, remarks

from . import samples

NOTHING = Remarked("latency_us_p50", ("17.7", "18.1"), (1, 2, 4, 5), (0, 0), None, ())


def a_check(name: str, subject: str, **changes: object) -> Check:
    made = Check(name, subject, 1.021, 1.012, 1.03, 0.0001, found=True)
    return dataclasses.replace(made, **changes)  # type: ignore[arg-type]


def said(*checks: Check, spread: Spread | None = None) -> list[str]:
    return list(remarks(dataclasses.replace(NOTHING, checks=checks, spread=spread)))


def test_scatter_is_told_with_its_interval_and_what_it_is_not_for() -> None:
    assert said(spread=Spread(1.4, 0.9, 2.2, 0.99, 24, 0.01, 0.014)) == [
        "between rounds 18.1 scatters 1.40 times as much as 17.7, 99 % interval 0.90 to 2.20"
        " (for one look at the end of the run; it decides nothing)"
    ]


def test_an_interval_of_scatter_without_measure_is_cut() -> None:
    (sentence,) = said(spread=Spread(1.4, 1e-8, 1e9, 0.99, 24, 0.01, 0.014))

    assert "99 % interval less than 0.01 to more than 100" in sentence


@pytest.mark.parametrize(
    ("check", "sentence"),
    [
        (
            a_check(shape.DRIFT, shape.EFFECT),
            "the effect drifted: from the first round to the last it moved by +2.10 % (between +1.20 and +3.00);"
            " the interval is about an average of this run",
        ),
        (
            a_check(shape.DRIFT, shape.CANDIDATE_ARM),
            "typical latency of 18.1 drifted by +2.10 % (between +1.20 and +3.00) from the first round to the last",
        ),
        (
            a_check(shape.CORRELATION, shape.EFFECT, strength=0.42, low=0.1, high=0.74),
            "neighbouring rounds are alike (correlation 0.42, between 0.10 and 0.74): the intervals are surer of"
            " themselves than they should be",
        ),
        (
            a_check(shape.MODES, shape.EFFECT, strength=0.12, low=None, high=None),
            "rounds fall into two groups (dip 0.12): the effect is an average of two, and no single server start"
            " shows it",
        ),
        (
            a_check(shape.TREND, shape.EFFECT),
            "within a round the effect moves by +2.10 % (between +1.20 and +3.00): it depends on how long a round"
            " is",
        ),
        (
            a_check(shape.TREND, shape.BASELINE_ARM),
            "within a round the time of a transaction of 17.7 moves by +2.10 % (between +1.20 and +3.00):"
            " its warm-up was not over, or its data changes",
        ),
        (
            a_check(shape.OUTLIER, shape.EFFECT, strength=9.3, low=None, high=None, at=2),
            "round 4 lies 9 standard deviations from the others: rare events are part of this cell, and the interval"
            " knows little of them",
        ),
        (
            a_check(shape.CYCLES, shape.VACUUMS, strength=-1.5, low=None, high=None),
            "17.7 goes through more vacuums than 18.1 in the same time, by 1.5 in a round: part of the effect may be"
            " how often they come",
        ),
        (
            a_check(shape.STALLS, shape.EFFECT, strength=12.0, low=None, high=None),
            "stalls hit 14 rounds of 18.1 and 2 rounds of 17.7: more than chance makes of equal servers",
        ),
    ],
)  # fmt: skip
def test_every_finding_has_a_sentence(check: Check, sentence: str) -> None:
    cell = dataclasses.replace(
        NOTHING, checks=(check,), stalled=(2, 14) if check.name == shape.STALLS else (0, 0)
    )
    assert list(remarks(cell)) == [sentence]


def test_what_was_looked_for_and_not_found_is_not_told() -> None:
    assert said(a_check(shape.DRIFT, shape.EFFECT, found=False)) == []


def report_of_stalls(cell: CellRecord, *, arm: int, rounds: int) -> CellRecord:
    """The cell with a stall of 5 ms in one slice of the arm in the first rounds."""
    changed = []
    for number, record in enumerate(cell.rounds):
        slices = list(record.slices)
        if number < rounds:
            place = next(i for i, s in enumerate(slices) if s.arm == arm)
            slow = dataclasses.replace(slices[place].latency, max_ns=5e6)
            slices[place] = dataclasses.replace(slices[place], latency=slow)
        changed.append(dataclasses.replace(record, slices=tuple(slices)))
    return dataclasses.replace(cell, rounds=tuple(changed))


def test_a_stall_that_the_typical_latency_cannot_see_is_counted_and_compared() -> None:
    run = samples.a_run()
    stalled = report_of_stalls(run.cells[0], arm=1, rounds=12)
    run = dataclasses.replace(run, cells=(stalled, run.cells[1]))

    cell = make_report(run, judge_run(run)).cells[0]

    assert {c.name: c.values for c in cell.conditions}["hit by a stall, in all"] == (0.0, 12.0)
    assert (
        "stalls hit 12 rounds of 18.1 and 0 rounds of 17.7: more than chance makes of equal servers"
        in cell.notes
    )


def test_few_stalls_are_counted_and_no_finding() -> None:
    run = samples.a_run()
    stalled = report_of_stalls(run.cells[0], arm=1, rounds=3)
    run = dataclasses.replace(run, cells=(stalled, run.cells[1]))

    cell = make_report(run, judge_run(run)).cells[0]

    assert {c.name: c.values for c in cell.conditions}["hit by a stall, in all"] == (0.0, 3.0)
    chance = "no more than chance may make of equal servers"
    assert f"stalls hit 3 rounds of 18.1 and 0 rounds of 17.7: {chance}" in cell.notes


def test_every_result_of_a_cell_is_in_the_report_found_or_not() -> None:
    run = samples.a_run()
    for cell in make_report(run, judge_run(run)).cells:
        assert [check.name for check in cell.checks].count(shape.DRIFT) == 3
        assert {check.name for check in cell.checks} >= {
            shape.CORRELATION,
            shape.OUTLIER,
            shape.STALLS,
            shape.TREND,
        }
        assert all(0 <= check.p <= 1 and not math.isnan(check.strength) for check in cell.checks)
