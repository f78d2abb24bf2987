"""The loop of a calibration, with rounds that are made up instead of measured; the store is a real one."""

import dataclasses
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from pgverdict.conduct.cell import PreparedArm, PreparedCell
from pgverdict.conduct.placement import Placement
from pgverdict.errors import WorldError
from pgverdict.judge.verdict import Verdict
from pgverdict.plan.pools import Pools
from pgverdict.plan.rounds import RoundPlan
from pgverdict.records.round import RoundRecord, RoundState
from pgverdict.records.run import ArmFacts, CellRecord, Purpose, RunRecord, RunState
from pgverdict.run import calibrate as under_test
from pgverdict.run import handicap
from pgverdict.run.calibrate import ARMS, SHORT_EVERY, calibrate_host
from pgverdict.spec.arms import make_arms
from pgverdict.spec.campaign import Campaign, CellSpec
from pgverdict.store.opening import open_store
from pgverdict.store.runs import Store
from pgverdict.workloads import catalogue
from tests.judge.made import SPEC, a_round, a_slice, an_arm, latency
from tests.run.test_execute import Silence, Site


class _Quiet(Silence):
    """There is nothing to judge before the end."""

    def round_done(self, cell: CellSpec, record: RoundRecord, verdicts: Sequence[Sequence[Verdict]]) -> None:
        assert not verdicts
        self.heard.append((cell.workload, record.state))


CAMPAIGN = Campaign(make_arms(("17",) * ARMS), (SPEC,), budget_s=100.0, seed=3)
POOLS = Pools((0,) * ARMS, (8,))


def _cell() -> PreparedCell:
    arms = tuple(PreparedArm(arm.name, (), (), ()) for arm in CAMPAIGN.arms)
    slots = tuple(Path(str(number)) for number in range(ARMS))
    workload = catalogue.workload("select-only")
    return PreparedCell(SPEC, workload, arms, Placement(1, (0,)), slots, POOLS, POOLS)


class FakePreparation:
    """The one cell of a calibration, without a server."""

    campaign = CAMPAIGN

    def cell(self, _number: int) -> PreparedCell:
        return _cell()

    def planned(self) -> tuple[CellRecord, ...]:
        return (CellRecord(SPEC, "latency_us_p50", "read-only", (), POOLS.of, POOLS.of),)

    def meet(self, _cells: Sequence[PreparedCell]) -> tuple[ArmFacts, ...]:
        return tuple(ArmFacts(arm.name, arm.role, arm.server, "17.11", (), ()) for arm in CAMPAIGN.arms)


def _measured(cell: PreparedCell, plan: RoundPlan) -> RoundRecord:
    arms = range(len(cell.arms))
    records = [
        dataclasses.replace(an_arm(arm, latency(20.0)), handicap_messages=200, handicap_spun_ns=0)
        for arm in arms
    ]
    slices = [a_slice(pair, arm, 20.0) for pair in (0, 1) for arm in arms]
    placement = (("bound_duration_us", "50000"), ("discard_duration_us", "5000"))
    made = a_round(plan, slices=slices, arms=records)
    return dataclasses.replace(made, seconds=float(len(cell.arms)), placement=placement)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return open_store(tmp_path / "runs.sqlite")


Rounds = Callable[[PreparedCell, RoundPlan], RoundRecord]
Seen = list[tuple[tuple[int | None, ...], RoundPlan]]


@pytest.fixture
def calibrate(monkeypatch: pytest.MonkeyPatch, store: Store) -> Callable[[Rounds], tuple[RunRecord, Seen]]:
    """Calibrate with rounds that come from a function, on a clock that moves by each round's length."""

    def with_rounds(rounds: Rounds) -> tuple[RunRecord, Seen]:
        seconds, seen = [0.0], []

        def run_round(cell: PreparedCell, plan: RoundPlan, *_: object) -> RoundRecord:
            record = rounds(cell, plan)
            seconds[0] += record.seconds
            seen.append((tuple(arm.handicap_ns for arm in cell.arms), plan))
            return record

        monkeypatch.setattr(under_test, "Preparation", lambda *_: FakePreparation())
        monkeypatch.setattr(under_test, "diagnose", lambda _site: ())
        monkeypatch.setattr(under_test, "run_round", run_round)
        monkeypatch.setattr(under_test, "monotonic", lambda: seconds[0])
        monkeypatch.setattr(handicap, "run_round", lambda cell, plan, *_: _measured(cell, plan))
        site: Any = Site()
        return calibrate_host(CAMPAIGN, site, store, _Quiet()), seen

    return with_rounds


def test_all_arms_are_in_every_round_but_each_eighth_which_has_two(calibrate: Any) -> None:
    run, seen = calibrate(_measured)

    arms = [len(record.arms) for record in run.cells[0].rounds]
    assert arms[: SHORT_EVERY + 2] == [2, 5, 5, 5, 5, 5, 5, 5, 2, 5]
    assert [len(plan.start_order) for _, plan in seen] == arms
    assert run.purpose is Purpose.CALIBRATE
    assert run.state is RunState.DONE


def test_each_kind_of_round_follows_a_plan_of_its_own(calibrate: Any) -> None:
    run, _ = calibrate(_measured)

    for arms in (2, 5):
        ordinals = [r.plan.ordinal for r in run.cells[0].rounds if len(r.arms) == arms]
        assert ordinals == list(range(len(ordinals)))


def test_the_arms_are_slowed_down_by_one_two_and_five_percent_of_the_latency(calibrate: Any) -> None:
    run, seen = calibrate(_measured)

    handicaps = [0, 0, 200, 400, 1000]
    assert [arm.handicap_ns for arm in run.campaign.arms] == handicaps
    assert {ns for ns, _ in seen} == {(0, 0), tuple(handicaps)}


def test_the_arms_have_no_layout_in_common(calibrate: Any) -> None:
    shared: set[tuple[bool, bool]] = set()

    def look(cell: PreparedCell, plan: RoundPlan) -> RoundRecord:
        shared.add((cell.shares_layouts, cell.has_layouts))
        return _measured(cell, plan)

    calibrate(look)

    assert shared == {(False, False)}
    # The same cell, of a comparison.
    assert _cell().has_layouts


def test_no_round_is_begun_that_would_not_fit_the_time(calibrate: Any) -> None:
    run, _ = calibrate(_measured)

    spent = sum(record.seconds for record in run.cells[0].rounds)
    assert CAMPAIGN.budget_s - 5 <= spent <= CAMPAIGN.budget_s


def test_rounds_that_keep_failing_end_it_and_are_kept(calibrate: Any, store: Store) -> None:
    def failed(_cell: PreparedCell, plan: RoundPlan) -> RoundRecord:
        return RoundRecord(plan, RoundState.FAILED, "2026-11-21T12:00:00Z", 1.0, story="the server died")

    with pytest.raises(WorldError, match="3 failed rounds in a row; the last one: the server died"):
        calibrate(failed)

    run = store.load_run(None)
    assert run.state is RunState.STOPPED
    assert [record.plan.ordinal for record in run.cells[0].rounds] == [0, 0, 0]


def test_a_failed_round_is_repeated_under_its_plan(calibrate: Any) -> None:
    failures = iter([False, True] + [False] * 1000)

    def sometimes(cell: PreparedCell, plan: RoundPlan) -> RoundRecord:
        if next(failures):
            return RoundRecord(plan, RoundState.FAILED, "2026-11-21T12:00:00Z", 1.0, story="one died")
        return _measured(cell, plan)

    run, _ = calibrate(sometimes)

    assert run.cells[0].rounds[1].plan == run.cells[0].rounds[2].plan
