"""The command that measures a run again."""

import dataclasses

import pytest

from pgverdict.report.command import compare_command
from pgverdict.spec.campaign import Arm, Campaign, CellSpec, Freeze, Pinning, Role
from pgverdict.spec.quantities import duration_s
from pgverdict.spec.regime import Regime

from .samples import CAMPAIGN, READ_ONLY, a_run

BEGIN = "pgverdict compare 17.7 18.1 --workload select-only --workload simple-update"


def check(campaign: Campaign, command: str) -> None:
    assert compare_command(dataclasses.replace(a_run(), campaign=campaign)) == command


def test_releases_are_exact_and_settings_addressed() -> None:
    check(
        CAMPAIGN,
        f"{BEGIN} --scale 10 --clients 1"
        " --set shared_buffers=512MB --set candidate:io_method=sync --budget 5m --seed 20261121",
    )


def test_what_is_not_the_default_is_there() -> None:
    campaign = dataclasses.replace(
        CAMPAIGN,
        margin=0.005,
        confidence=0.999,
        rounds=40,
        budget_s=5430.0,
        freeze=Freeze.CGROUP,
        placement=Pinning.FREE,
    )
    check(
        campaign,
        f"{BEGIN} --scale 10 --clients 1"
        " --set shared_buffers=512MB --set candidate:io_method=sync"
        " --margin 0.5% --confidence 99.9% --rounds 40 --freeze cgroup --placement free --budget 5430s --seed 20261121",
    )


def test_settings_are_quoted_for_the_shell() -> None:
    arms = tuple(
        Arm(str(17 + n), role, str(17 + n), (("search_path", "a b'; rm"),)) for n, role in enumerate(Role)
    )
    campaign = dataclasses.replace(CAMPAIGN, arms=arms, budget_s=3600.0)
    check(
        campaign,
        f"{BEGIN} --scale 10 --clients 1"
        """ --set 'search_path=a b'"'"'; rm' --budget 1h --seed 20261121""",
    )


def test_a_campaign_of_one_workload_names_it_alone() -> None:
    check(
        dataclasses.replace(CAMPAIGN, cells=(READ_ONLY,)),
        "pgverdict compare 17.7 18.1 --workload select-only --scale 10 --clients 1"
        " --set shared_buffers=512MB --set candidate:io_method=sync --budget 5m --seed 20261121",
    )


def test_a_chosen_primary_is_named() -> None:
    cell = dataclasses.replace(READ_ONLY, primary="latency_us_p99")
    check(
        dataclasses.replace(CAMPAIGN, cells=(cell,)),
        "pgverdict compare 17.7 18.1 --workload select-only --scale 10 --clients 1 --primary latency_us_p99"
        " --set shared_buffers=512MB --set candidate:io_method=sync --budget 5m --seed 20261121",
    )


@pytest.mark.parametrize("seconds", [0.5, 90.25, 300.0, 5430.0, 7200.0, 1234567.0])
def test_the_budget_is_the_very_one(seconds: float) -> None:
    command = compare_command(
        dataclasses.replace(a_run(), campaign=dataclasses.replace(CAMPAIGN, budget_s=seconds))
    )
    assert duration_s(command.split()[command.split().index("--budget") + 1]) == seconds


@pytest.mark.parametrize(
    ("spec", "complaint"),
    [
        (CellSpec("simple-update", 20, 1), "several shapes"),
        (CellSpec("select-only", 10, 1, partitions=4), "partitions"),
    ],
)
def test_no_command_is_made_that_would_measure_something_else(spec: CellSpec, complaint: str) -> None:
    cells = (READ_ONLY, spec) if not spec.partitions else (spec,)
    campaign = dataclasses.replace(CAMPAIGN, cells=cells)
    with pytest.raises(AssertionError, match=complaint):
        compare_command(dataclasses.replace(a_run(), campaign=campaign))


def test_a_handicap_is_part_of_the_command() -> None:
    baseline, candidate = CAMPAIGN.arms
    arms = (baseline, dataclasses.replace(candidate, handicap_ns=400))
    command = compare_command(dataclasses.replace(a_run(), campaign=dataclasses.replace(CAMPAIGN, arms=arms)))

    assert "--handicap 18.1:400" in command


def test_the_regimes_are_named_where_one_was_chosen() -> None:
    run = a_run()
    steady = dataclasses.replace(
        run.cells[1], spec=dataclasses.replace(run.cells[1].spec, regime=Regime.STEADY), regime="steady"
    )
    cells = (steady, run.cells[1])
    campaign = dataclasses.replace(CAMPAIGN, cells=tuple(cell.spec for cell in cells))

    command = compare_command(dataclasses.replace(run, campaign=campaign, cells=cells))

    assert " --workload simple-update --regime steady --regime fresh --scale 10 " in command
