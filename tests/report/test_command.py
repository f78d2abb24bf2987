"""The command that measures a run again."""

import dataclasses

import pytest

from pgverdict.report.command import compare_command
from pgverdict.spec.arms import Arm, Role
from pgverdict.spec.cache import Cache
from pgverdict.spec.campaign import Campaign, CellSpec, Defaults, EventLoop, Freeze, Pinning
from pgverdict.spec.own import OwnDump, OwnScript, OwnText, OwnWork
from pgverdict.spec.quantities import duration_s
from pgverdict.spec.regime import Regime
from pgverdict.spec.tuning import Disk, Tuning, Use

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
        event_loop=EventLoop.IO_URING,
    )
    check(
        campaign,
        f"{BEGIN} --scale 10 --clients 1"
        " --set shared_buffers=512MB --set candidate:io_method=sync"
        " --margin 0.5% --confidence 99.9% --rounds 40 --freeze cgroup --placement free"
        " --event-loop io_uring --budget 5430s --seed 20261121",
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


def test_what_follows_from_an_option_is_told_by_the_option() -> None:
    baseline, candidate = CAMPAIGN.arms
    aligned = (("effective_io_concurrency", "1"), ("work_mem", "4MB"))
    arms = (
        dataclasses.replace(baseline, data_directory="/mnt/slow disk"),
        dataclasses.replace(
            candidate,
            settings=tuple(sorted((*candidate.settings, *aligned))),
            origins=(("work_mem", "tuned"), ("effective_io_concurrency", "aligned")),
            wal_directory="/mnt/wal",
        ),
    )
    check(
        dataclasses.replace(
            CAMPAIGN,
            arms=arms,
            defaults=Defaults.ALIGNED,
            tuning=Tuning(Use.OLTP, (4 << 30) + 1024, 2, Disk.SSD),
            debug_builds=True,
        ),
        f"{BEGIN} --scale 10 --clients 1 --as aligned"
        " --tune oltp --tune-memory 4194305kB --tune-cores 2 --tune-disk ssd"
        " --set shared_buffers=512MB --set candidate:io_method=sync"
        " --data-directory '17.7:/mnt/slow disk' --wal-directory 18.1:/mnt/wal --allow-debug-builds"
        " --budget 5m --seed 20261121",
    )


def test_what_servers_are_confined_to_is_part_of_the_command() -> None:
    campaign = dataclasses.replace(
        CAMPAIGN, memory_bytes=1536 << 20, cores=(0, 1, 2, 4), engine_cores=(3,), budget_s=60.0
    )
    check(
        campaign,
        f"{BEGIN} --scale 10 --clients 1"
        " --set shared_buffers=512MB --set candidate:io_method=sync"
        " --memory 1536MB --cores 0-2,4 --engine-cores 3 --budget 1m --seed 20261121",
    )


def test_a_cold_campaign_is_cold_again() -> None:
    cells = tuple(dataclasses.replace(cell, cache=Cache.COLD) for cell in CAMPAIGN.cells)
    command = compare_command(
        dataclasses.replace(a_run(), campaign=dataclasses.replace(CAMPAIGN, cells=cells))
    )

    assert " --scale 10 --clients 1 --cache cold --set " in command


@pytest.mark.parametrize("seconds", [0.5, 90.25, 300.0, 5430.0, 7200.0, 1234567.0])
def test_the_budget_is_the_very_one(seconds: float) -> None:
    command = compare_command(
        dataclasses.replace(a_run(), campaign=dataclasses.replace(CAMPAIGN, budget_s=seconds))
    )
    assert duration_s(command.split()[command.split().index("--budget") + 1]) == seconds


def test_parameters_are_part_of_the_command() -> None:
    cells = tuple(
        dataclasses.replace(cell, parameters=(("partition_method", "hash"), ("unlogged", True)))
        for cell in CAMPAIGN.cells
    )
    command = compare_command(
        dataclasses.replace(a_run(), campaign=dataclasses.replace(CAMPAIGN, cells=cells))
    )

    assert " --parameter partition_method=hash --parameter unlogged=on --scale 10 " in command


def test_own_work_is_named_by_its_files() -> None:
    own = OwnWork(
        (
            OwnScript("/work/a b.sql", "SELECT 1;"),
            OwnScript("/work/d@e", "SELECT 3;"),
            OwnScript("/work/c.sql", "SELECT 2;", 3),
        ),
        OwnText("/work/schema.sql", ""),
        OwnText("/work/load.sql", ""),
        OwnDump("/work/dump", "00", 1),
        read_only=True,
        long=True,
        allow=("shell",),
    )
    cells = (dataclasses.replace(READ_ONLY, workload=own.name, own=own),)
    command = compare_command(
        dataclasses.replace(a_run(), campaign=dataclasses.replace(CAMPAIGN, cells=cells))
    )

    assert command.startswith(
        "pgverdict compare 17.7 18.1 --script '/work/a b.sql' --script /work/d@e@1 --script /work/c.sql@3"
        " --schema /work/schema.sql --load /work/load.sql --dump /work/dump --read-only --long"
        " --allow shell --scale 10 "
    )


@pytest.mark.parametrize(
    ("spec", "complaint"),
    [
        (CellSpec("simple-update", 20, 1), "several shapes"),
        (CellSpec("simple-update", 10, 1, (("fillfactor", 80),)), "two values"),
    ],
)
def test_no_command_is_made_that_would_measure_something_else(spec: CellSpec, complaint: str) -> None:
    campaign = dataclasses.replace(
        CAMPAIGN, cells=(dataclasses.replace(READ_ONLY, parameters=(("fillfactor", 90),)), spec)
    )
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


def test_a_build_is_named_by_its_commit_and_an_arm_by_its_name() -> None:
    run = a_run()
    baseline, candidate = run.arms
    exact = "git:/src/pg@0123abc,patch=mine.patch"
    built = dataclasses.replace(
        candidate,
        name="mine",
        server="git:/src/pg@HEAD,patch=mine.patch",
        build=(*candidate.build, ("built_from", exact)),
    )
    arms = (run.campaign.arms[0], dataclasses.replace(run.campaign.arms[1], name="mine", server=built.server))
    campaign = dataclasses.replace(run.campaign, arms=arms)
    command = compare_command(dataclasses.replace(run, arms=(baseline, built), campaign=campaign))

    assert command.startswith(f"pgverdict compare 17.7 mine={exact} ")
    assert "--set candidate:io_method=sync" in command
