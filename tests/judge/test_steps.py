"""What is told of the steps of a chain."""

import math
from dataclasses import replace

import pytest

from pgverdict.judge.steps import keeps_rate, missed_rate
from pgverdict.judge.values import Question, questions, values
from pgverdict.records.round import RoundRecord, StepRecord
from pgverdict.records.run import CellRecord
from pgverdict.spec.campaign import CellSpec
from tests.store import made

SPEC = CellSpec("insert-benchmark", 1, 2)

STEP = StepRecord(
    "l.i0", "rows inserted", 30_000, 30_000, None, 0, 2_000_000_000, made.LATENCY, 900_000_000, 600, 0, 3_000_000, 9, 1
)  # fmt: skip


def a_chain(*by_arm: tuple[StepRecord, ...], ordinal: int = 0) -> RoundRecord:
    record = made.a_round(ordinal)
    arms = tuple(
        replace(arm, kinds=(), statements=(), steps=steps)
        for arm, steps in zip(record.arms, by_arm, strict=True)
    )
    return replace(record, arms=arms)


def a_cell(*rounds: RoundRecord) -> CellRecord:
    return CellRecord(SPEC, "step_rate_geomean", "chain", rounds, (0, 0), (0, 0))


def took(step: StepRecord, seconds: float) -> StepRecord:
    return replace(step, ended_at_ns=step.begun_at_ns + round(seconds * 1e9))


WAIT = replace(STEP, name="wait", counts=None, operations=0, rows=0, latency=None)
QUERIES = replace(STEP, name="qr100", counts="queries", operations=8000, rows=200, rows_per_second=100)


def test_a_step_has_a_throughput_and_what_it_used_per_row() -> None:
    record = a_chain((STEP,), (took(STEP, 2.5),))
    rate, cpu, switches = (
        values(record, Question(metric, "l.i0"), clients=2)
        for metric in ("step_rate", "step_cpu_us", "step_switches")
    )
    assert rate is not None
    assert (rate.baseline, rate.candidate) == (15_000, 12_000)
    assert rate.log_ratio == pytest.approx(math.log(0.8))
    assert cpu is not None
    assert cpu.baseline == 30
    assert switches is not None
    assert switches.baseline == 0.02


def test_the_mean_of_the_steps_weighs_every_step_alike() -> None:
    record = a_chain((STEP, WAIT, QUERIES), (took(STEP, 4), WAIT, took(QUERIES, 4)))
    found = values(record, Question("step_rate_geomean"), clients=2)
    assert found is not None
    assert found.baseline == pytest.approx(math.sqrt(15_000 * 4000))
    assert found.log_ratio == pytest.approx(math.log(0.5))


def test_a_mean_without_one_of_its_steps_is_no_mean() -> None:
    record = a_chain((STEP, QUERIES), (STEP, replace(QUERIES, operations=0)))
    assert values(record, Question("step_rate_geomean"), clients=2) is None
    assert values(record, Question("step_rate", "l.i0"), clients=2) is not None


def test_a_chain_is_asked_about_its_steps_and_nothing_that_mixes_them() -> None:
    asked = questions(a_cell(a_chain((STEP, WAIT), (STEP, WAIT))))
    assert asked[0] == Question("step_rate_geomean")
    assert {one.subject for one in asked[1:]} == {"l.i0"}
    # Nothing was read from storage: there is no ratio of nothing.
    assert Question("step_read_bytes", "l.i0") not in asked
    assert Question("step_written_bytes", "l.i0") in asked


def test_other_cells_are_not_asked_about_steps() -> None:
    cell = replace(a_cell(a_chain((), ())), primary="tps", regime="fresh")
    assert not {one.metric for one in questions(cell)} & {"step_rate", "step_rate_geomean"}


def test_a_step_that_took_more_than_a_twentieth_longer_than_its_rate_wants_has_failed_its_sla() -> None:
    on_time, late = took(QUERIES, 2 / 0.95 - 1e-6), took(QUERIES, 2 / 0.95 + 1e-6)
    assert (keeps_rate(STEP), keeps_rate(on_time), keeps_rate(late)) == (True, True, False)
    cell = a_cell(
        a_chain((STEP, QUERIES), (STEP, late)),
        a_chain((STEP, on_time), (STEP, late), ordinal=1),
        a_chain((STEP, late), (STEP, on_time), ordinal=2),
    )
    assert missed_rate(cell) == {(0, "qr100"): 1, (1, "qr100"): 2}
