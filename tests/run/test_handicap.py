"""A handicap that is a share of the latency is turned into nanoseconds by one round, and kept as these."""

import dataclasses
from pathlib import Path
from typing import Any

import pytest

from pgverdict.conduct.cell import PreparedArm, PreparedCell
from pgverdict.conduct.placement import Placement
from pgverdict.errors import WorldError
from pgverdict.plan.pools import Pools
from pgverdict.plan.rounds import RoundPlan
from pgverdict.records.round import RoundRecord, RoundState
from pgverdict.run import handicap as under_test
from pgverdict.run.handicap import carry_handicaps, settle_handicaps
from pgverdict.spec.arms import make_arms
from pgverdict.spec.campaign import Campaign
from pgverdict.workloads import catalogue
from tests.judge.made import SPEC, round_of
from tests.run.test_execute import Silence


class _Site:
    def launch_arm(self) -> None: ...


CAMPAIGN = Campaign(make_arms(("17", "17")), (SPEC,), seed=1)
ARMS = tuple(PreparedArm(arm.name, (), (), (Path("a"), Path("b"))) for arm in CAMPAIGN.arms)
POOLS = Pools.apart(2, 2)
CELL = PreparedCell(
    SPEC, catalogue.workload("select-only"), ARMS, Placement(1, (0,)), (), POOLS, Pools.apart(2, 1)
)


@pytest.fixture
def carried(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int | None, ...]]:
    """The handicaps of the arms in each round that was run: 20 us a transaction, two messages each."""
    seen: list[tuple[int | None, ...]] = []

    def run_round(cell: PreparedCell, plan: RoundPlan, _bounds: object, _launch: object) -> RoundRecord:
        seen.append(tuple(arm.handicap_ns for arm in cell.arms))
        made = round_of(plan, 0.0)
        arms = tuple(dataclasses.replace(arm, handicap_messages=2 * 200) for arm in made.arms)
        return dataclasses.replace(made, arms=arms)

    monkeypatch.setattr(under_test, "run_round", run_round)
    return seen


def _settle(campaign: Campaign, shares: dict[int, float]) -> tuple[Campaign, PreparedCell]:
    site: Any = _Site()
    settled = settle_handicaps(campaign, CELL, shares, site, Silence())
    return settled, carry_handicaps(CELL, settled)


def test_nothing_is_carried_where_no_arm_has_a_handicap(carried: list[Any]) -> None:
    assert _settle(CAMPAIGN, {}) == (CAMPAIGN, CELL)
    assert carried == []


def test_where_one_arm_has_a_handicap_the_other_carries_the_library_too(carried: list[Any]) -> None:
    arms = (CAMPAIGN.arms[0], dataclasses.replace(CAMPAIGN.arms[1], handicap_ns=400))
    campaign = dataclasses.replace(CAMPAIGN, arms=arms)

    settled, prepared = _settle(campaign, {})

    assert settled == campaign
    assert [arm.handicap_ns for arm in prepared.arms] == [0, 400]
    assert carried == []


def test_a_share_becomes_nanoseconds_per_message(carried: list[Any]) -> None:
    settled, prepared = _settle(CAMPAIGN, {1: 0.02})

    assert carried == [(0, 0)], "measured with the library and without a delay"
    assert [arm.handicap_ns for arm in settled.arms] == [0, 200], "2 % of 20 us, over two messages"
    assert [arm.handicap_ns for arm in prepared.arms] == [0, 200]


def test_a_share_that_cannot_be_measured_ends_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_cell: PreparedCell, plan: RoundPlan, *_: object) -> RoundRecord:
        return RoundRecord(plan, RoundState.FAILED, "2026-11-21T12:00:00Z", 1.0, story="the server died")

    monkeypatch.setattr(under_test, "run_round", fail)

    with pytest.raises(WorldError, match="what share of the latency a handicap is: the server died"):
        _settle(CAMPAIGN, {1: 0.02})


def test_arms_that_are_asked_for_alike_have_one_typical_latency(monkeypatch: pytest.MonkeyPatch) -> None:
    """Their starts differ by chance, and shares of 1 and 2 % should not differ by it."""

    def run_round(_cell: PreparedCell, plan: RoundPlan, *_: object) -> RoundRecord:
        made = round_of(plan, 0.1)
        arms = tuple(dataclasses.replace(arm, handicap_messages=200) for arm in made.arms)
        return dataclasses.replace(made, arms=arms)

    monkeypatch.setattr(under_test, "run_round", run_round)

    settled, _ = _settle(CAMPAIGN, {0: 0.02, 1: 0.02})

    assert [arm.handicap_ns for arm in settled.arms] == [421, 421], "2 % of 20 and 22.1 us, halfway"
