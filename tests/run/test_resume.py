"""Which run goes on, and which does not."""

import dataclasses
from pathlib import Path
from typing import Any

import pytest

from pgverdict.errors import UserError
from pgverdict.records.run import RunState
from pgverdict.run.resume import campaign_to_prepare, find_run, seconds_so_far, what_differs
from pgverdict.spec.arms import Origin, make_arms
from pgverdict.spec.campaign import Campaign, CellSpec, Freeze, Written
from pgverdict.store.opening import open_store
from pgverdict.store.runs import Store
from tests.store import made

CELL = CellSpec("select-only", 10, 1)
FILE = Written("c.toml", "...")
WANTED = Campaign(
    make_arms(("17", "18"), ((None, "jit", "on"), (None, "io_method?", "sync"))), (CELL,), written=FILE
)

HERE = dict(made.a_run().host)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return open_store(tmp_path / "runs.sqlite")


def _keep(store: Store, run_id: str, started: str = "2026-11-21T10:00:00Z", **changes: Any) -> None:
    """A run of WANTED as it is kept: settings settled, an optional one left out where it was not known."""
    campaign = dataclasses.replace(WANTED, **changes)
    settled = [
        dataclasses.replace(
            arm,
            settings=tuple(sorted((*[pair for pair in arm.settings if known or pair[0] == "jit"],
                                   ("work_mem", "9MB")))),
            optional=(),
            origins=(("work_mem", Origin.TUNED.value),),
        )
        for arm, known in zip(campaign.arms, (False, True), strict=True)
    ]  # fmt: skip
    sample = made.a_run(run_id, started=started)
    store.begin_run(
        dataclasses.replace(
            sample,
            state=RunState.STOPPED,
            campaign=dataclasses.replace(campaign, arms=tuple(settled)),
            arms=tuple(
                dataclasses.replace(facts, name=arm.name, server=arm.server, version=version)
                for facts, arm, version in zip(sample.arms, settled, ("17.11", "18.6"), strict=True)
            ),
            cells=tuple(dataclasses.replace(sample.cells[0], spec=cell) for cell in campaign.cells),
        )
    )


def test_a_run_of_another_host_does_not_go_on_here(store: Store) -> None:
    """A team's store has them, and so has one that runs were imported into."""
    _keep(store, "2026-11-20-aaaa", "2026-11-20T10:00:00Z")
    _keep(store, "2026-11-21-bbbb")

    assert find_run(store, WANTED, None, {**HERE, "cores": "64"}) is None


def test_the_newest_run_of_a_campaign_is_found_whatever_else_is_in_the_store(store: Store) -> None:
    _keep(store, "2026-11-20-aaaa", "2026-11-20T10:00:00Z")
    _keep(store, "2026-11-21-bbbb", "2026-11-21T10:00:00Z", seed=99, budget_s=5.0)
    other = dataclasses.replace(CELL, clients=2)
    _keep(store, "2026-11-22-cccc", "2026-11-22T10:00:00Z", cells=(other,), written=Written("other.toml", ""))

    found = find_run(store, WANTED, None, HERE)

    assert found is not None
    assert found.id == "2026-11-21-bbbb"


def test_without_a_run_of_it_there_is_none_to_go_on_with(store: Store) -> None:
    assert find_run(store, WANTED, None, HERE) is None


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"cells": (dataclasses.replace(CELL, clients=2),)}, "the cell select-only scale=10 clients=2"),
        ({"arms": make_arms(("16", "18"), ((None, "jit", "on"),))}, "its arms are 16, 18"),
        ({"arms": make_arms(("17", "18"), ((None, "jit", "off"),))}, "the settings of arm 17"),
        ({"margin": 0.05}, "its margin"),
        ({"freeze": Freeze.SIGNAL}, "its freeze"),
        ({"memory_bytes": 1 << 30}, "its memory"),
        ({"cells": (dataclasses.replace(CELL, primary="tps"),)}, f"the primary metric of {CELL.key}"),
    ],
)  # fmt: skip
def test_a_file_that_was_changed_is_refused_with_what_differs(
    store: Store, changes: dict[str, Any], said: str
) -> None:
    _keep(store, "2026-11-21-bbbb", **changes)

    with pytest.raises(UserError) as caught:
        find_run(store, WANTED, None, HERE)

    assert caught.value.message == f"the file has changed since run 2026-11-21-bbbb: {said}"
    with pytest.raises(UserError, match="run 2026-11-21-bbbb is of another campaign"):
        find_run(store, WANTED, "2026-11-21", HERE)


def test_arms_that_could_not_be_had_do_not_make_another_campaign(store: Store) -> None:
    _keep(store, "2026-11-21-bbbb")
    run = dataclasses.replace(store.load_run(), left_out=(("source:19", "no compiler"),))
    wanted = dataclasses.replace(
        WANTED,
        arms=make_arms(("17", "18", "source:19"), ((None, "jit", "on"), (None, "io_method?", "sync"))),
    )

    assert what_differs(run, wanted) is None


def test_it_goes_on_with_the_very_builds_and_the_settings_that_were_given(store: Store) -> None:
    _keep(store, "2026-11-21-bbbb")

    campaign = campaign_to_prepare(store.load_run())

    assert [arm.server for arm in campaign.arms] == ["17.11", "18.6"]
    assert [arm.name for arm in campaign.arms] == ["17", "18"]
    assert [arm.settings for arm in campaign.arms] == [
        (("jit", "on"),),
        (("io_method", "sync"), ("jit", "on")),
    ]


def test_the_time_of_a_killed_session_is_that_of_its_rounds() -> None:
    run = made.a_run(rounds=(made.a_round(0), made.a_round(1)))

    assert seconds_so_far(run) == pytest.approx(2.85 + 2.95)
    assert seconds_so_far(dataclasses.replace(run, seconds=60.0)) == 60.0
