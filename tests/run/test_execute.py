"""The loop of a run, with rounds that are made up instead of measured; the store is a real one."""

import dataclasses
import itertools
import random
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pgverdict.conduct.bounds import Bounds
from pgverdict.conduct.cell import PreparedArm, PreparedCell
from pgverdict.conduct.placement import Placement
from pgverdict.errors import Incomplete, UserError, WorldError
from pgverdict.judge.cell import judge_run
from pgverdict.judge.verdict import Outcome, Verdict
from pgverdict.plan.pools import Pools
from pgverdict.plan.rounds import PAIRS_FRESH, RoundPlan
from pgverdict.records.round import RoundRecord, RoundState
from pgverdict.records.run import ArmFacts, CellRecord, RunRecord, RunState
from pgverdict.run import execute as under_test
from pgverdict.run.cells import LiveCell
from pgverdict.run.execute import FAILURES_IN_A_ROW, execute, go_on
from pgverdict.spec.arms import make_arms
from pgverdict.spec.campaign import Campaign, CellSpec
from pgverdict.spec.regime import Regime
from pgverdict.store.opening import open_store
from pgverdict.store.runs import Store
from pgverdict.workloads import catalogue
from pgverdict.workloads.regimes import primary_of
from tests.judge.made import round_of

SELECT = CellSpec("select-only", 10, 1)
UPDATE = CellSpec("simple-update", 10, 1)


ARMS = tuple(PreparedArm(name, (), (), (Path("a"), Path("b"))) for name in ("17", "18"))


POOLS = (Pools((0, 0), (2,)), Pools.apart(2, 3))


class Silence:
    """A listener that remembers which cell had which round."""

    def __init__(self) -> None:
        self.heard: list[tuple[str, RoundState]] = []
        self.noted: list[str] = []
        self.made: list[int] = []

    def note(self, text: str) -> None:
        self.noted.append(text)

    def step(self, text: str) -> None: ...

    def amount(self, done: int, total: int | None) -> None: ...

    def round_begins(self, cell: CellSpec, number: int, time_left_s: float) -> None: ...

    def stretch(self, cell: CellSpec, arm: str, done: int, total: int | None) -> None: ...

    def round_done(self, cell: CellSpec, record: RoundRecord, verdicts: Sequence[Sequence[Verdict]]) -> None:
        assert {len({verdict.metric for verdict in judged}) >= 6 for judged in verdicts} == {True}
        self.heard.append((cell.workload, record.state))


class Site:
    """Stands where a site is not used."""

    def launch_arm(self) -> None: ...


Rounds = Callable[[PreparedCell, RoundPlan], RoundRecord]


def _campaign(*cells: CellSpec, **more: Any) -> Campaign:
    return Campaign(arms=make_arms(("17", "18")), cells=cells, seed=1, **more)


def _prepared(spec: CellSpec) -> PreparedCell:
    return PreparedCell(spec, catalogue.workload(spec.workload), ARMS, Placement(1, (0,)), (), *POOLS)


class FakePreparation:
    """Prepares cells without a server. `broken` are keys of those that cannot be; `room` is for so many at a time."""

    def __init__(self, campaign: Campaign, broken: Collection[str] = (), room: int = 1000) -> None:
        self.campaign, self.broken, self.room = campaign, broken, room
        self.ground = SimpleNamespace(left_out=())
        self.made: list[int] = []
        self.here: list[int] = []

    def planned(self) -> tuple[CellRecord, ...]:
        return tuple(
            CellRecord(
                spec, primary_of(spec, cell.workload), cell.regime.value, (), cell.load_pools.of,
                cell.install_pools.of,
            )
            for spec in self.campaign.cells
            for cell in [_prepared(spec)]
        )  # fmt: skip

    def fits(self, _number: int) -> bool:
        return len(self.here) < self.room

    def cell(self, number: int) -> PreparedCell:
        spec = self.campaign.cells[number]
        if spec.key in self.broken:
            raise WorldError("the load failed")
        self.made.append(number)
        self.here = [*self.here, number][-self.room :]
        return _prepared(spec)

    def meet(self, _cells: Sequence[PreparedCell]) -> tuple[ArmFacts, ...]:
        return tuple(ArmFacts(a.name, a.role, a.server, f"{a.server}.0", (), ()) for a in self.campaign.arms)


def _measured(plan: RoundPlan, log_ratio: float) -> RoundRecord:
    placement = (("bound_duration_us", "50000"), ("discard_duration_us", "5000"))
    return dataclasses.replace(round_of(plan, log_ratio), placement=placement)


def _failed(plan: RoundPlan) -> RoundRecord:
    return RoundRecord(plan, RoundState.FAILED, "2026-11-21T12:00:00Z", 1.0, story="the server died")


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return open_store(tmp_path / "runs.sqlite")


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, store: Store) -> Callable[..., tuple[Any, Silence]]:
    """Execute a campaign whose rounds come from a function, on a clock that moves by each round's length."""

    def execute_with(
        campaign: Campaign,
        rounds: Rounds,
        *,
        broken: Collection[str] = (),
        room: int = 1000,
        going_on: RunRecord | None = None,
    ) -> tuple[Any, Silence]:
        clock = itertools.count()
        seconds = [0.0]

        def run_round(cell: PreparedCell, plan: RoundPlan, bounds: Bounds | None, *_: object) -> RoundRecord:
            del bounds
            record = rounds(cell, plan)
            seconds[0] += record.seconds
            return record

        preparation = FakePreparation(campaign, broken, room)
        monkeypatch.setattr(under_test, "Preparation", lambda *_: preparation)
        monkeypatch.setattr(under_test, "diagnose", lambda _site: ())
        monkeypatch.setattr(under_test, "run_round", run_round)
        monkeypatch.setattr(LiveCell, "at_hand", property(lambda cell: cell.number in preparation.here))
        monkeypatch.setattr(under_test, "monotonic", lambda: seconds[0] + next(clock) * 1e-9)
        listener = Silence()
        if going_on is not None:
            record = go_on(going_on, campaign.budget_s, Site(), store, listener)  # type: ignore[arg-type]
        else:
            record = execute(campaign, Site(), store, listener)  # type: ignore[arg-type]
        listener.made = preparation.made
        return record, listener

    return execute_with


def test_a_clear_difference_stops_the_run_long_before_the_budget(run: Any) -> None:
    noise = random.Random(1)
    record, _ = run(_campaign(SELECT), lambda _cell, plan: _measured(plan, 0.05 + noise.gauss(0, 0.005)))

    assert record.state is RunState.DONE
    assert 8 <= len(record.cells[0].measured) <= 12
    assert judge_run(record)[0][0][0].outcome is Outcome.SLOWER


def test_what_cannot_be_decided_ends_with_the_budget(run: Any) -> None:
    noise = random.Random(1)
    record, _ = run(
        _campaign(SELECT, budget_s=30.5), lambda _cell, plan: _measured(plan, noise.gauss(0, 0.2))
    )

    assert len(record.cells[0].measured) == 10  # rounds of 3 s
    assert judge_run(record)[0][0][0].outcome is Outcome.UNDECIDED


def test_a_decided_cell_leaves_the_budget_to_the_others(run: Any) -> None:
    noise = random.Random(1)

    def rounds(cell: PreparedCell, plan: RoundPlan) -> RoundRecord:
        wild = cell.spec == UPDATE
        return _measured(plan, noise.gauss(0, 0.2) if wild else 0.05 + noise.gauss(0, 0.001))

    record, _ = run(_campaign(SELECT, UPDATE, budget_s=120.5), rounds)

    decided, open_ = (len(cell.measured) for cell in record.cells)
    assert decided <= 12
    assert decided + open_ == 40


def test_a_run_that_ends_before_its_budget_is_decided_in_every_cell_when_judged_again(run: Any) -> None:
    """A cell may stop at a level it has because others are decided; all of them together still agree at the end."""
    noise = random.Random(3)
    cells = [CellSpec("select-only", 10, clients) for clients in range(1, 6)]

    record, _ = run(
        _campaign(*cells, budget_s=3000), lambda _cell, plan: _measured(plan, noise.gauss(0.001, 0.006))
    )

    primaries = [judged[0][0] for judged in judge_run(record)]
    assert Outcome.UNDECIDED not in {verdict.outcome for verdict in primaries}
    assert {verdict.rounds for verdict in primaries} != {primaries[0].rounds}
    assert max(verdict.alpha for verdict in primaries) > 0.0061


def test_a_fixed_number_of_rounds_is_neither_cut_short_nor_exceeded(run: Any) -> None:
    record, _ = run(_campaign(SELECT, rounds=11), lambda _cell, plan: _measured(plan, 0.5))

    assert len(record.cells[0].measured) == 11


def test_a_failed_round_is_kept_and_repeated_under_the_same_plan(run: Any) -> None:
    seen: list[RoundPlan] = []

    def rounds(_cell: PreparedCell, plan: RoundPlan) -> RoundRecord:
        seen.append(plan)
        return _failed(plan) if len(seen) == 2 else _measured(plan, 0.0)

    record, _ = run(_campaign(SELECT, rounds=3), rounds)

    assert [r.state.value for r in record.cells[0].rounds] == ["measured", "failed", "measured", "measured"]
    assert seen[1] == seen[2]


def test_a_cell_that_keeps_failing_is_given_up_and_the_others_go_on(run: Any, store: Store) -> None:
    def rounds(cell: PreparedCell, plan: RoundPlan) -> RoundRecord:
        return _failed(plan) if cell.spec == SELECT else _measured(plan, 0.0)

    with pytest.raises(WorldError, match="gave up on select-only") as caught:
        run(_campaign(SELECT, UPDATE, rounds=9), rounds)

    assert "the server died" in caught.value.message
    kept = store.load_run()
    assert [len(cell.rounds) for cell in kept.cells] == [FAILURES_IN_A_ROW, 9]
    assert kept.state is RunState.DONE


def test_an_interrupt_leaves_the_rounds_so_far_in_a_stopped_run(run: Any, store: Store) -> None:
    count = itertools.count()

    def rounds(_cell: PreparedCell, plan: RoundPlan) -> RoundRecord:
        if next(count) == 3:
            raise KeyboardInterrupt
        return _measured(plan, 0.0)

    with pytest.raises(KeyboardInterrupt):
        run(_campaign(SELECT, rounds=9), rounds)

    kept = store.load_run()
    assert kept.state is RunState.STOPPED
    assert len(kept.cells[0].measured) == 3


def test_every_round_of_a_cell_has_the_bounds_the_first_one_chose(
    monkeypatch: pytest.MonkeyPatch, store: Store
) -> None:
    given: list[Bounds | None] = []

    def run_round(_cell: PreparedCell, plan: RoundPlan, bounds: Bounds | None, *_: object) -> RoundRecord:
        given.append(bounds)
        return _measured(plan, 0.0)

    monkeypatch.setattr(under_test, "Preparation", lambda campaign, *_: FakePreparation(campaign))
    monkeypatch.setattr(under_test, "diagnose", lambda _site: ())
    monkeypatch.setattr(LiveCell, "at_hand", property(lambda cell: cell.prepared is not None))
    monkeypatch.setattr(under_test, "run_round", run_round)
    execute(_campaign(SELECT, rounds=3), Site(), store, Silence())  # type: ignore[arg-type]

    chosen = Bounds((("duration_us", 50000),), (("duration_us", 5000),))
    assert given == [None, chosen, chosen]


def test_the_primary_that_was_chosen_decides_and_is_recorded(run: Any) -> None:
    noise = random.Random(1)
    chosen = dataclasses.replace(SELECT, primary="latency_us_mean")
    record, _ = run(_campaign(chosen, UPDATE), lambda _cell, plan: _measured(plan, noise.gauss(0.05, 0.005)))

    assert [cell.primary for cell in record.cells] == ["latency_us_mean", "latency_us_p50"]
    assert [verdicts[0].metric for (verdicts,) in judge_run(record)] == ["latency_us_mean", "latency_us_p50"]


def test_in_the_steady_regime_arms_work_one_after_the_other_and_fresh_cells_go_on_as_ever(run: Any) -> None:
    steady = dataclasses.replace(UPDATE, regime=Regime.STEADY)
    pairs: dict[str, set[int]] = {"steady": set(), "fresh": set()}

    def rounds(cell: PreparedCell, plan: RoundPlan) -> RoundRecord:
        pairs[cell.regime.value].add(len(plan.pairs))
        return _measured(plan, 0.0)

    record, _ = run(_campaign(steady, UPDATE, rounds=3), rounds)

    assert [cell.regime for cell in record.cells] == ["steady", "fresh"]
    assert pairs == {"steady": {1}, "fresh": {PAIRS_FRESH}}


CELLS = tuple(CellSpec("select-only", scale, 1) for scale in (1, 2, 3))


def _equal(_cell: PreparedCell, plan: RoundPlan) -> RoundRecord:
    return _measured(plan, 0.0)


def test_a_cell_that_cannot_be_prepared_does_not_stop_the_others_and_is_told(run: Any, store: Store) -> None:
    with pytest.raises(WorldError, match=f"could not prepare {CELLS[1].key}: the load failed"):
        run(_campaign(*CELLS, rounds=3), _equal, broken=[CELLS[1].key])

    kept = store.load_run()
    assert kept.state is RunState.DONE
    assert [(len(cell.measured), cell.trouble) for cell in kept.cells] == [
        (3, None), (0, "the load failed"), (3, None),
    ]  # fmt: skip


def test_where_no_cell_can_be_prepared_the_first_error_ends_the_run_and_nothing_is_kept(
    run: Any, store: Store
) -> None:
    with pytest.raises(WorldError, match=r"^the load failed$"):
        run(_campaign(*CELLS), _equal, broken=[cell.key for cell in CELLS])

    assert store.list_runs() == []


def test_with_room_for_one_cell_at_a_time_each_gets_its_minimum_in_one_visit(run: Any) -> None:
    noise = random.Random(2)
    record, listener = run(
        _campaign(*CELLS, budget_s=90.5), lambda _c, plan: _measured(plan, noise.gauss(0, 0.2)), room=1
    )

    assert sum(len(cell.measured) for cell in record.cells) == 30
    assert min(len(cell.measured) for cell in record.cells) >= 8
    assert listener.made[:3] == [0, 1, 2]
    assert len(listener.made) <= 5, "cells are not prepared anew for every round"


def test_a_budget_that_holds_the_minimum_of_every_cell_gives_it_to_every_cell(run: Any) -> None:
    noise = random.Random(2)
    slow = {CELLS[0].key: 9.0, CELLS[1].key: 1.0, CELLS[2].key: 1.0}

    def rounds(cell: PreparedCell, plan: RoundPlan) -> RoundRecord:
        return dataclasses.replace(_measured(plan, noise.gauss(0, 0.2)), seconds=slow[cell.spec.key])

    record, _ = run(_campaign(*CELLS, budget_s=88.9), rounds)

    assert [len(cell.measured) for cell in record.cells] == [8, 8, 8]


@pytest.mark.parametrize("ended_by", [KeyboardInterrupt, "a kill"], ids=["interrupt", "kill"])
def test_a_run_goes_on_under_the_same_plan_and_ends_with_the_rounds_of_one_that_was_never_stopped(
    run: Any, store: Store, ended_by: object
) -> None:
    campaign = _campaign(*CELLS, rounds=4)
    whole, _ = run(campaign, _equal)
    count = itertools.count()

    def until_stopped(cell: PreparedCell, plan: RoundPlan) -> RoundRecord:
        if next(count) == 5:
            raise KeyboardInterrupt
        return _equal(cell, plan)

    with pytest.raises(KeyboardInterrupt):
        run(campaign, until_stopped)
    stopped = next(summary for summary in store.list_runs() if summary.state is RunState.STOPPED).id
    if ended_by == "a kill":  # which says nothing of its end
        store.finish_run(stopped, RunState.RUNNING, 0.0)
        dict_of_host = dict(store.load_run(stopped).host)
        assert store.stop_orphans(dict_of_host["name"]) == [stopped]

    record, _ = run(campaign, _equal, going_on=store.load_run(stopped))

    assert (record.id, record.state) == (stopped, RunState.DONE)
    assert [[r.plan for r in cell.rounds] for cell in record.cells] == [
        [r.plan for r in cell.rounds] for cell in whole.cells
    ]


def test_a_cell_in_trouble_is_tried_again_when_the_run_goes_on(run: Any, store: Store) -> None:
    campaign = _campaign(*CELLS, rounds=2)
    with pytest.raises(WorldError, match="could not prepare"):
        run(campaign, _equal, broken=[CELLS[2].key])

    record, _ = run(campaign, _equal, going_on=store.load_run())

    assert [(len(cell.measured), cell.trouble) for cell in record.cells] == [(2, None)] * 3


def test_a_run_goes_on_with_a_larger_budget_and_counts_what_it_spent(run: Any) -> None:
    noise = random.Random(2)

    def rounds(_cell: PreparedCell, plan: RoundPlan) -> RoundRecord:
        return _measured(plan, noise.gauss(0, 0.2))

    first, _ = run(_campaign(SELECT, budget_s=30.5), rounds)
    same, listener = run(_campaign(SELECT, budget_s=30.5), rounds, going_on=first)
    more, _ = run(_campaign(SELECT, budget_s=60.5), rounds, going_on=first)

    assert same == first
    assert "nothing left to do" in listener.noted[0]
    assert [len(one.cells[0].measured) for one in (first, more)] == [10, 20]
    assert more.campaign.budget_s == 60.5
    assert more.seconds == pytest.approx(60.0, abs=0.1)


def test_a_run_does_not_go_on_where_an_arm_has_become_another(run: Any, store: Store) -> None:
    run(_campaign(SELECT, budget_s=30.5), lambda _cell, plan: _measured(plan, (-1) ** plan.ordinal * 0.1))
    kept = store.load_run()
    older = dataclasses.replace(kept.arms[1], version="18.9")
    changed = dataclasses.replace(kept, arms=(kept.arms[0], older))

    with pytest.raises(WorldError, match=r"arm 18 had version 18\.9, and is 18\.0 now"):
        run(_campaign(SELECT, budget_s=60.0), _equal, going_on=changed)


def test_a_run_does_not_go_on_on_another_host(run: Any, store: Store) -> None:
    run(_campaign(SELECT, rounds=2), _equal)
    moved = dataclasses.replace(store.load_run(), host=(("name", "elsewhere"),))

    with pytest.raises(WorldError, match="was begun on another host: its name was elsewhere"):
        run(_campaign(SELECT, rounds=2), _equal, going_on=moved)


def test_a_cell_whose_settings_a_server_refuses_does_not_stop_the_others(run: Any, store: Store) -> None:
    def rounds(cell: PreparedCell, plan: RoundPlan) -> RoundRecord:
        if cell.spec == CELLS[0]:
            raise UserError("the server refuses the setting work_mem = lots")
        return _equal(cell, plan)

    with pytest.raises(Incomplete, match=r"could not prepare .* work_mem = lots"):
        run(_campaign(*CELLS, rounds=3), rounds)

    assert [len(cell.measured) for cell in store.load_run().cells] == [0, 3, 3]
