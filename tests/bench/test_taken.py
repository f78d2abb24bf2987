"""From a run as the store gives it to what is kept of it."""

import dataclasses
import math

import pytest

from bench.verdicts.figures import judged
from bench.verdicts.lines import line
from bench.verdicts.recorded import from_lines, to_lines
from bench.verdicts.taken import take
from pgverdict.judge.cell import judge_run
from pgverdict.records.round import RoundState
from pgverdict.records.run import RunRecord, RunState
from pgverdict.spec.arms import make_arms
from pgverdict.spec.campaign import Campaign
from tests.judge.made import SPEC, a_cell, rounds_of
from tests.store.made import a_run

from .made import normal

PLACEMENT = (("threads", "1"), ("engine_version", "0.1.0"))


def _run(*, handicap_ns: int = 400) -> RunRecord:
    """Sixteen rounds of a candidate that is 2 % slower, and one that failed."""
    measured = [
        dataclasses.replace(
            r,
            placement=PLACEMENT,
            arms=tuple(
                dataclasses.replace(
                    arm,
                    handicap_messages=200,
                    handicap_spun_ns=arm.arm * 200 * handicap_ns,
                )
                for arm in r.arms
            ),
        )
        for r in rounds_of(list(map(float, 0.02 + normal(16, 0.004))))
    ]
    failed = dataclasses.replace(
        measured[3], state=RoundState.FAILED, slices=(), arms=(), placement=(), story="the server died"
    )
    baseline, candidate = make_arms(("17", "17"))
    run = a_run()
    return dataclasses.replace(
        run,
        state=RunState.DONE,
        seconds=47.5,
        campaign=Campaign(
            (baseline, dataclasses.replace(candidate, handicap_ns=handicap_ns)), (SPEC,), seed=7
        ),
        arms=tuple(
            dataclasses.replace(found, name=arm.name, server="17", version="17.7")
            for found, arm in zip(run.arms, (baseline, candidate), strict=True)
        ),
        cells=(a_cell([*measured[:3], failed, *measured[3:]]),),
    )


def test_what_is_kept_is_judged_as_the_run_was() -> None:
    run = _run()
    kept = from_lines(to_lines(take(line("typical-2"), run, revision="a test")))
    verdict = judge_run(run)[0][0][0]

    (cell,) = kept.cells
    assert judged(kept) == (cell.outcome,) == (verdict.outcome.value,) == ("SLOWER",)
    assert (cell.alpha, cell.low, cell.high) == (verdict.alpha, verdict.low, verdict.high)
    assert (kept.seconds, kept.seed, kept.handicap_ns, kept.engine) == (47.5, 7, 400, "0.1.0")
    assert "--handicap" in kept.command


def test_a_failed_round_is_kept_with_its_story_and_counts_for_nothing() -> None:
    kept = take(line("typical-2"), _run(), revision="a test")

    assert len(kept.rounds) == 17
    assert len(kept.measured()) == 16
    assert (kept.rounds[3].state, kept.rounds[3].story, dict(kept.rounds[3].values)) == (
        "failed",
        "the server died",
        {},
    )


def test_what_was_spun_is_told_per_transaction_of_each_arm() -> None:
    kept = take(line("typical-2"), _run(), revision="a test")

    # 200 messages in two slices of 100 transactions: one each.
    spun_us = kept.rounds[0].spun_us
    assert spun_us is not None
    assert spun_us == pytest.approx((0.0, 0.4))
    assert kept.rounds[0].messages == 1.0


def test_slices_are_kept_for_a_series_only() -> None:
    run = _run()

    assert take(line("typical-2"), run, revision="a test").rounds[0].slices == ()
    kept = take(line("recovery-2"), run, revision="a test").rounds[0]
    assert [(s.pair, s.arm) for s in kept.slices] == [(0, 0), (0, 1), (1, 0), (1, 1)]
    ratio = math.log(kept.slices[1].p50_us / kept.slices[0].p50_us)
    assert ratio == pytest.approx(kept.values["latency_us_p50"][2])


def test_which_load_and_install_each_arm_had_is_kept() -> None:
    run = _run()
    kept = from_lines(to_lines(take(line("typical-2"), run, revision="a test")))

    plans = [r.plan for r in run.cells[0].rounds]
    assert [r.plan for r in kept.rounds] == [dataclasses.replace(plan, pairs=()) for plan in plans]
    assert (kept.cells[0].load_pools, kept.cells[0].install_pools) == (
        run.cells[0].load_pools, run.cells[0].install_pools,
    )  # fmt: skip


def test_the_name_of_the_host_is_not_kept() -> None:
    run = dataclasses.replace(_run(), host=(("name", "a desk"), ("cores", "2")))

    assert take(line("typical-2"), run, revision="a test").host == {"cores": "2"}
