"""How sure the verdicts of a run have to be when there are many."""

import dataclasses
import random
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgverdict.judge.cell import judge_run
from pgverdict.judge.family import Family, largest_count, level, settle
from pgverdict.judge.verdict import Outcome, Verdict
from pgverdict.records.run import CellRecord, RunRecord, RunState
from pgverdict.spec.campaign import CellSpec

from .made import a_campaign, rounds_of

ALPHA = 0.05


@dataclass(frozen=True)
class Made:
    """A member that makes its claims from these levels on."""

    different: float = 1.0
    same: float = 1.0

    def different_at(self, alpha: float) -> bool:
        return self.different <= alpha

    def same_at(self, alpha: float) -> bool:
        return self.same <= alpha


def settled(*members: Made) -> Family:
    return settle(ALPHA, members, size=len(members))


levels_of_claims = st.lists(st.sampled_from([0.0, *(ALPHA * k / 12 for k in range(1, 13)), 1.0]), max_size=12)


@given(levels_of_claims)
def test_as_many_are_counted_as_make_the_claim_at_the_level_that_follows(claims: list[float]) -> None:
    size = max(1, len(claims))
    k = settle(ALPHA, [Made(different=claim) for claim in claims], size=size).different

    def made_at(count: int) -> int:
        return sum(claim <= level(ALPHA, size, count) for claim in claims)

    assert k == max(count for count in range(size + 1) if count == 0 or made_at(count) >= count)
    assert k == 0 or made_at(k) == k


@given(levels_of_claims, st.randoms())
def test_the_order_of_cells_does_not_matter_and_neither_do_ties(
    claims: list[float], draw: random.Random
) -> None:
    members = [Made(different=claim, same=claim / 2) for claim in claims]
    shuffled = draw.sample(members, len(members))

    assert settle(ALPHA, members, size=12) == settle(ALPHA, shuffled, size=12)


@given(levels_of_claims, st.data())
def test_what_is_decided_stays_decided_when_others_become_surer(
    claims: list[float], data: st.DataObject
) -> None:
    members = [Made(different=claim) for claim in claims]
    before = settle(ALPHA, members, size=12)
    surer = [
        m if m.different_at(before.levels.different) else Made(different=data.draw(st.sampled_from(claims)))
        for m in members
    ]
    after = settle(ALPHA, surer, size=12)

    assert after.different >= before.different
    for one, same_one in zip(members, surer, strict=True):
        if one.different_at(before.levels.different):
            assert same_one.different_at(after.levels.different)


def test_one_member_alone_has_the_whole_alpha() -> None:
    assert settled(Made()).levels.different == settled(Made(different=0)).levels.same == ALPHA


def test_where_all_are_decided_alike_each_has_the_whole_alpha() -> None:
    assert settled(*[Made(different=ALPHA)] * 7).levels.different == ALPHA
    assert settled(*[Made(same=ALPHA)] * 7).levels.same == ALPHA


def test_a_difference_among_many_that_are_the_same_has_to_be_surer() -> None:
    members = [Made(different=ALPHA / 2), *[Made(same=0.0)] * 9]

    assert (settled(*members).different, settled(*members).same) == (0, 9)
    assert settled(*members).levels.different == pytest.approx(ALPHA / 10)
    assert settled(*members).levels.same == pytest.approx(ALPHA * 9 / 10)


def test_members_that_are_not_measured_yet_are_counted() -> None:
    assert settle(ALPHA, [Made(same=0.0)], size=10).levels.same == pytest.approx(ALPHA / 10)


def test_a_further_member_is_decided_at_the_next_level() -> None:
    rest = [Made(different=0.0), Made(different=0.0), Made(), Made()]
    wanted = settled(*rest, Made()).levels.next_different

    assert wanted == pytest.approx(ALPHA * 3 / 5)
    assert settled(*rest, Made(different=wanted)).different == 3
    assert settled(*rest, Made(different=wanted * 1.001)).different == 2


def test_many_campaigns_are_settled_at_once_like_each_alone() -> None:
    claims = np.random.default_rng(3).uniform(0, 2 * ALPHA, (300, 8)) ** 2 / ALPHA

    together = largest_count(ALPHA, 8, lambda at: (claims <= np.reshape(at, (-1, 1))).sum(axis=1))

    alone = [settled(*[Made(different=float(c)) for c in campaign]).different for campaign in claims]
    assert together.tolist() == alone
    assert len(set(alone)) > 3


QUIET = [0.001, -0.002, 0.0005, 0.0015, -0.001, 0.002, -0.0015, -0.0005, 0.001, -0.001, 0.002, -0.002]


def a_run(
    effects: list[float], *, rounds: int | None = None, order: list[int] | None = None, scatter: float = 1
) -> RunRecord:
    specs = tuple(CellSpec("select-only", 10, clients) for clients in range(1, len(effects) + 1))
    cells = [
        CellRecord(spec, "latency_us_p50", "read-only", rounds_of([effect + scatter * n for n in QUIET]))
        for spec, effect in zip(specs, effects, strict=True)
    ]
    cells = [cells[i] for i in order or range(len(cells))]
    campaign = a_campaign(cells=[cell.spec for cell in cells], rounds=rounds)
    return RunRecord("r1", RunState.DONE, "2026-11-21T12:00:00Z", 60.0, campaign, (), (), tuple(cells))


def primaries(run: RunRecord) -> dict[str, Verdict]:
    return {cell.spec.key: judged[0][0] for cell, judged in zip(run.cells, judge_run(run), strict=True)}


@pytest.mark.parametrize("rounds", [None, len(QUIET)])
def test_a_stored_run_is_judged_alike_in_whatever_order_its_cells_are(rounds: int | None) -> None:
    effects = [0.0, 0.0, 0.002, 0.02, -0.03, 0.006, 0.0]
    first = primaries(a_run(effects, rounds=rounds))

    for order in ([6, 5, 4, 3, 2, 1, 0], [3, 0, 6, 1, 5, 2, 4]):
        again = primaries(a_run(effects, rounds=rounds, order=order))
        assert {key: repr(again[key]) for key in first} == {key: repr(one) for key, one in first.items()}


def test_every_primary_is_shown_at_the_level_its_verdict_was_found_at() -> None:
    verdicts = list(primaries(a_run([0.0, 0.0, 0.0, 0.03])).values())

    assert [v.outcome for v in verdicts] == [Outcome.SAME] * 3 + [Outcome.SLOWER]
    assert [v.alpha for v in verdicts] == [pytest.approx(0.0075)] * 3 + [pytest.approx(0.0025)]


def test_a_cell_that_gets_no_more_rounds_is_decided_later_because_others_are() -> None:
    """SAME by a share of alpha that one verdict more gives it: nothing about itself has changed."""
    alone = a_run([0.001, 0.05, 0.05], scatter=3.3)  # SAME at two thirds of alpha, not at one third
    joined = a_run([0.001, 0.0, 0.05], scatter=3.3)

    before, after = (primaries(run)["select-only scale=10 clients=1"] for run in (alone, joined))

    assert (before.outcome, after.outcome) == (Outcome.UNDECIDED, Outcome.SAME)
    assert (before.effect, before.rounds) == (after.effect, after.rounds)
    assert before.more_rounds is not None


def test_an_undecided_primary_is_shown_at_a_level_that_is_no_verdict() -> None:
    for effect in (0.003, 0.004, 0.0045, 0.005, 0.0055, 0.006):
        for verdict in primaries(a_run([effect, 0.0, 0.0, 0.0, 0.03])).values():
            inside = verdict.low >= 1 / 1.01 and verdict.high <= 1.01
            excluded = verdict.low > 1 or verdict.high < 1
            assert (verdict.outcome is Outcome.UNDECIDED) == (not inside and not excluded)


def test_fixed_rounds_that_are_not_reached_claim_nothing() -> None:
    run = a_run([0.05] * 3, rounds=len(QUIET))
    short = dataclasses.replace(run.cells[0], rounds=run.cells[0].rounds[:-1])

    verdicts = list(primaries(dataclasses.replace(run, cells=(short, *run.cells[1:]))).values())

    assert [v.outcome for v in verdicts] == [Outcome.UNDECIDED, Outcome.SLOWER, Outcome.SLOWER]
    assert verdicts[1].alpha == pytest.approx(0.01 * 2 / 3)
