"""Rounds that were disturbed: which are, and what the verdict would be without them."""

import dataclasses
from collections.abc import Sequence

import pytest

from pgverdict.judge.cell import judge_run
from pgverdict.judge.disturbance import (
    LIMITS,
    Disturbance,
    Source,
    amounts,
    disturbances,
    judge_undisturbed,
)
from pgverdict.judge.verdict import Outcome
from pgverdict.records.host import Surroundings
from pgverdict.records.round import RoundRecord, RoundState
from pgverdict.records.run import RunRecord, RunState

from .made import SPEC, a_campaign, a_cell, rounds_of

MS = 1_000_000

QUIET = Surroundings(100 * MS, 0, 0, 0, 0)

EFFECTS = [0.0001, -0.0003, 0.0004, -0.0001, 0.0002, -0.0004, 0.0003, -0.0002, 0.0005, -0.0005] * 2


def _round(
    surroundings: Surroundings | None = QUIET,
    *,
    cpus: str = "0",
    cores_busy_ns: int = 20 * MS,
    steal_ns: int = 0,
) -> RoundRecord:
    """Four slices of 20 ms, all of a core's time used by server and engine unless said otherwise."""
    (made,) = rounds_of([0.0])
    return dataclasses.replace(
        made,
        slices=tuple(
            dataclasses.replace(
                one, begun_at_ns=0, ended_at_ns=20 * MS, server_cpu_ns=15 * MS, engine_cpu_ns=5 * MS,
                cores_busy_ns=cores_busy_ns, steal_ns=steal_ns,
            )
            for one in made.slices
        ),
        placement=(("cpus", cpus),) if cpus else (),
        surroundings=surroundings,
    )  # fmt: skip


def test_a_quiet_round_is_not_disturbed() -> None:
    assert amounts(_round(), "read-only") == dict.fromkeys(Source, 0)
    assert disturbances(_round(), "read-only") == ()


def test_shares_are_of_the_time_of_all_cores_of_the_placement() -> None:
    stolen = _round(cpus="0,1", steal_ns=10 * MS)

    assert amounts(stolen, "read-only")[Source.STEAL] == pytest.approx(0.25)


def test_others_are_what_is_left_of_busy_cores_and_not_ours() -> None:
    ours = dataclasses.replace(QUIET, own_cpu_ns=8 * MS)

    busy = _round(ours, cores_busy_ns=30 * MS)

    assert amounts(busy, "read-only")[Source.OTHERS] == pytest.approx((4 * 10 - 8) / 80)


def test_more_of_ours_than_was_busy_is_nobody_elses() -> None:
    assert amounts(_round(cores_busy_ns=10 * MS), "read-only")[Source.OTHERS] == 0


def test_waits_for_disks_tell_only_of_work_that_does_not_write() -> None:
    waited = _round(dataclasses.replace(QUIET, io_stalled_ns=50 * MS))

    assert disturbances(waited, "read-only") == (Disturbance(Source.IO, 0.5),)
    assert disturbances(waited, "fresh") == disturbances(waited, "steady") == ()


def test_a_core_that_was_too_warm_once_is_told() -> None:
    assert disturbances(_round(dataclasses.replace(QUIET, throttles=1)), "fresh") == (
        Disturbance(Source.HEAT, 1),
    )


def test_waits_for_memory_are_told_in_every_regime() -> None:
    waited = _round(dataclasses.replace(QUIET, memory_stalled_ns=2 * MS))

    assert disturbances(waited, "steady") == (Disturbance(Source.MEMORY, 0.02),)


def test_what_was_not_counted_does_not_disturb() -> None:
    silent = Surroundings(100 * MS, 0, None, None, None)

    assert set(amounts(_round(silent), "read-only")) == {Source.STEAL, Source.OTHERS}
    assert amounts(_round(None, cpus=""), "read-only") == {}


def test_rounds_from_before_anybody_looked_tell_of_steal_alone() -> None:
    assert set(amounts(_round(None), "read-only")) == {Source.STEAL}


def test_a_limit_that_is_met_is_kept() -> None:
    for source, limit in LIMITS.items():
        assert limit < 1, source
    exactly = _round(steal_ns=1 * MS)  # a twentieth
    assert disturbances(exactly, "read-only") == ()


def test_a_failed_round_is_not_disturbed_as_well() -> None:
    failed = dataclasses.replace(_round(steal_ns=20 * MS), state=RoundState.FAILED)

    assert disturbances(failed, "read-only") == ()


def _run(effects: Sequence[float], disturbed: Sequence[int], rounds: int | None = None) -> RunRecord:
    made = rounds_of(effects)
    loud = _round(steal_ns=20 * MS)
    cell = a_cell(
        [
            dataclasses.replace(
                r,
                slices=tuple(
                    dataclasses.replace(
                        s, begun_at_ns=0, ended_at_ns=20 * MS, steal_ns=20 * MS * (n in disturbed)
                    )
                    for s in r.slices
                ),
                placement=loud.placement,
            )
            for n, r in enumerate(made)
        ]
    )
    campaign = a_campaign(rounds=rounds)
    return RunRecord("r", RunState.DONE, "2026-11-21T12:00:00Z", 60.0, campaign, (), (), (cell,))


def test_without_the_disturbed_rounds_the_verdict_is_that_of_the_others() -> None:
    # Two rounds far out make an interval of twenty wide; the other eighteen agree.
    run = _run([0.3, -0.25, *EFFECTS[2:]], disturbed=(0, 1))

    assert judge_run(run)[0][0][0].outcome is Outcome.UNDECIDED or judge_run(run)[0][0][0].pulled_in
    without = judge_undisturbed(run)[0][0]
    assert (without.outcome, without.rounds) == (Outcome.SAME, 18)


def test_rounds_that_are_not_disturbed_give_the_very_same_verdict() -> None:
    run = _run(EFFECTS, disturbed=())

    assert judge_undisturbed(run)[0][0] == judge_run(run)[0][0][0]


def test_a_fixed_number_of_rounds_is_the_number_that_is_left() -> None:
    run = _run(EFFECTS, disturbed=(3,), rounds=len(EFFECTS))

    without = judge_undisturbed(run)[0][0]

    assert (without.outcome, without.rounds) == (Outcome.SAME, len(EFFECTS) - 1)


def test_nothing_is_left_of_a_run_that_was_disturbed_throughout() -> None:
    without = judge_undisturbed(_run(EFFECTS, disturbed=range(len(EFFECTS)), rounds=len(EFFECTS)))[0][0]

    assert (without.outcome, without.rounds) == (Outcome.UNDECIDED, 0)


def test_no_round_is_taken_out_of_the_verdict_itself() -> None:
    run = _run(EFFECTS, disturbed=(0, 1, 2))

    assert judge_run(run)[0][0][0].rounds == len(EFFECTS)
    assert run.cells[0].spec == SPEC
