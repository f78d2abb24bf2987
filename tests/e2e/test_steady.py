"""One steady round on real servers, from ageing to the record: without the loop around it, to keep it short."""

from dataclasses import replace
from pathlib import Path

import pytest

from pgverdict.conduct import steady
from pgverdict.conduct.collect import bounds_of
from pgverdict.conduct.round import run_round
from pgverdict.conduct.stretch import CHECKPOINTS_FIRST, VACUUMS_FIRST, stretch_slices
from pgverdict.errors import UserError
from pgverdict.records.round import RoundState
from pgverdict.run import room
from pgverdict.run.prepare import Preparation
from pgverdict.run.site import Site
from pgverdict.servers.account import server_account
from pgverdict.servers.home import Home
from pgverdict.servers.workspace import Workspace
from pgverdict.spec.arms import make_arms
from pgverdict.spec.campaign import Campaign, CellSpec
from pgverdict.spec.regime import Regime
from tests.e2e import cli
from tests.run.test_execute import Silence

pytestmark = pytest.mark.slow

HANDICAPS_NS = (0, 10_000)

CELL = CellSpec("simple-update", 1, 1, regime=Regime.STEADY)

# Checkpoints come by the amount of WAL, since they cannot be had more often than every 30 s by time.
QUICK = (
    "max_wal_size=32MB", "autovacuum_naptime=1s", "autovacuum_vacuum_scale_factor=0.02", "synchronous_commit=off",
    "checkpoint_completion_target=0.5",
)  # fmt: skip


def campaign(*settings: str, budget_s: float = 3600.0) -> Campaign:
    given = tuple((None, *text.split("=")) for text in settings)
    return Campaign(make_arms(("17", "17"), given), (CELL,), budget_s=budget_s, rounds=2)  # type: ignore[arg-type]


def test_a_steady_round_takes_each_arm_alone_through_checkpoints_and_vacuums(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(room, "LOADS_AGED", 1)
    monkeypatch.setattr(steady, "RAMP_US", 1_000_000)
    account, place = server_account(), Home.find({"PGVERDICT_HOME": str(home)})
    place.ensure(account)
    with Workspace.create(place, account) as workspace:
        site = Site(place, account, workspace)
        cell = Preparation(campaign(*QUICK), site, Silence()).cell(0)
        assert [arm.loads for arm in cell.arms] == [cell.arms[0].loads] * 2  # aged once, drawn by both
        arms = tuple(replace(arm, handicap_ns=ns) for arm, ns in zip(cell.arms, HANDICAPS_NS, strict=True))
        cell = replace(cell, arms=arms)
        plan = cell.arrange(seed=1, ordinal=0)

        record = run_round(cell, plan, None, site.launch_arm)

        assert record.state is RoundState.MEASURED, record.story
        slices = stretch_slices(bounds_of(record))
        first, second = plan.start_order
        assert [s.arm for s in record.slices] == [first] * slices + [second] * slices
        assert [s.pair for s in record.slices] == [*range(slices), *range(slices)]
        assert all(s.server_cpu_ns for s in record.slices)
        assert record.surroundings is not None
        assert record.surroundings.watched_ns > sum(s.ended_at_ns - s.begun_at_ns for s in record.slices)
        for arm in record.arms:
            assert arm.transactions == sum(s.transactions for s in record.slices if s.arm == arm.arm)
            assert arm.wal_bytes is not None
            assert arm.wal_bytes > 0
            assert arm.handicap_messages is not None
            assert arm.handicap_spun_ns is not None
            assert arm.handicap_spun_ns >= HANDICAPS_NS[arm.arm] * arm.handicap_messages
            hot = [table.name for table in arm.tables if table.hot]
            assert hot == ["pgbench_accounts"]
        covered = record.arms[first]
        assert covered.checkpoints is not None
        assert covered.checkpoints >= CHECKPOINTS_FIRST
        assert [table.vacuums >= VACUUMS_FIRST for table in covered.tables if table.hot] == [True]
        assert not list(workspace.path.glob("slots/*/data"))  # copies go with their arm

        with pytest.raises(UserError, match="the budget is shorter than one round") as caught:
            Preparation(campaign(*QUICK, budget_s=5.0), site, Silence()).cell(0)
        assert "--budget" in (caught.value.hint or "")
    assert not cli.servers_below(home)


def test_a_workload_that_changes_nothing_refuses_the_steady_regime(home: Path) -> None:
    done = cli.run("compare", "17", "17", "--regime", "steady", home=home)

    assert done.returncode == 2
    assert "the workload select-only changes no data" in done.stderr


def test_servers_of_steady_rounds_are_never_frozen(home: Path) -> None:
    steady = ("--workload", "simple-update", "--regime", "fresh", "--regime", "steady")
    done = cli.run("compare", "17", "17", *steady, "--freeze", "signal", home=home)

    assert done.returncode == 2
    assert "servers cannot be frozen in the steady regime: simple-update" in done.stderr
