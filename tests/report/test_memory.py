"""What is said of memory and cores, in notes that every format shows."""

import dataclasses
import io
from collections.abc import Callable

import pytest
from rich.console import Console

from pgverdict.judge.cell import judge_run
from pgverdict.records.round import ArmRecord
from pgverdict.records.run import CellRecord, RunRecord
from pgverdict.report.formats import FORMATS
from pgverdict.report.memory import cache_notes, confinement_notes, huge_page_notes
from pgverdict.report.model import make_report
from pgverdict.report.terminal import print_report
from pgverdict.spec.cache import Cache

from . import samples

ARMS = {0: "17.7", 1: "18.1"}


def with_arms(cell: CellRecord, change: Callable[[ArmRecord], ArmRecord]) -> CellRecord:
    rounds = tuple(dataclasses.replace(r, arms=tuple(map(change, r.arms))) for r in cell.rounds)
    return dataclasses.replace(cell, rounds=rounds)


def cold_run() -> RunRecord:
    """Both arms read from storage, the candidate half as much again."""
    run = samples.a_run()
    cells = tuple(
        dataclasses.replace(
            with_arms(
                cell, lambda arm: dataclasses.replace(arm, storage_read_bytes=(2 + arm.arm) * 4_000_000)
            ),
            spec=dataclasses.replace(cell.spec, cache=Cache.COLD),
        )
        for cell in run.cells
    )
    campaign = dataclasses.replace(
        run.campaign,
        cells=tuple(cell.spec for cell in cells),
        memory_bytes=2 << 30,
        cores=(0, 1),
        engine_cores=(2,),
    )
    return dataclasses.replace(run, cells=cells, campaign=campaign)


def test_a_run_that_nothing_was_confined_in_says_nothing() -> None:
    assert confinement_notes(samples.CAMPAIGN) == ()


def test_what_servers_were_confined_to_is_told() -> None:
    confined, own = confinement_notes(cold_run().campaign)

    assert confined == (
        "every server was confined to 2GB of memory and cores 0-1, page cache included and without swap"
    )
    assert own.startswith("the load engine had core 2 for itself: ")


def test_a_cold_cell_tells_what_each_arm_read() -> None:
    run = cold_run()

    (note,) = cache_notes(run.cells[0], ARMS)

    assert note.startswith("cold: every round began with nothing of its data in memory, and ended after ")
    assert note.endswith("17.7 read 8.0 MB and 18.1 read 12 MB from storage per round")


def test_a_cell_larger_than_its_memory_tells_how_long_it_was_warmed() -> None:
    cell = with_arms(
        samples.a_run().cells[0], lambda arm: dataclasses.replace(arm, turnover_s=7.0 + 5 * arm.arm)
    )

    (note,) = cache_notes(cell, ARMS)

    assert "until its reads from storage fell no further, for 7.0 s to 12 s; " in note


def test_a_warm_cell_that_read_all_the_same_says_so_and_one_that_did_not_says_nothing() -> None:
    cell = samples.a_run().cells[0]
    read = with_arms(cell, lambda arm: dataclasses.replace(arm, storage_read_bytes=8192))

    assert cache_notes(cell, ARMS) == ()
    assert cache_notes(read, ARMS) == ("storage was read while slices ran: the data was not all in memory",)
    assert cache_notes(dataclasses.replace(cell, rounds=()), ARMS) == ()


def test_what_confined_servers_used_is_among_the_conditions() -> None:
    run = samples.a_run()
    cells = tuple(
        with_arms(
            cell, lambda arm: dataclasses.replace(arm, memory_bytes_max=(1 + arm.arm) << 20, turnover_s=9.5)
        )
        for cell in run.cells
    )
    run = dataclasses.replace(run, cells=cells)

    conditions = {c.name: c for c in make_report(run, judge_run(run)).cells[0].conditions}

    used = conditions["most memory used, page cache included"]
    assert (used.unit, used.values) == ("bytes", (1 << 20, 2 << 20))
    assert conditions["warm-up until turnover"].values == (9.5, 9.5)


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_says_cold_and_what_servers_were_confined_to(name: str) -> None:
    run = cold_run()
    text = FORMATS[name](make_report(run, judge_run(run)))

    assert "cold" in text
    assert "2GB" in text
    assert "for itself" in text


def test_the_terminal_says_it_too() -> None:
    run, out = cold_run(), io.StringIO()

    print_report(make_report(run, judge_run(run)), Console(file=out, width=300))

    assert "select-only, scale 10, 1 client, cold" in out.getvalue()
    assert "confined to 2GB of memory and cores 0-1" in out.getvalue()


@pytest.mark.parametrize(
    ("had", "said"),
    [
        ((None, None), ()),
        ((False, False), ()),
        ((True, True), ("shared memory was in huge pages",)),
    ],
)
def test_huge_pages_are_told_where_there_were_some(
    had: tuple[bool | None, ...], said: tuple[str, ...]
) -> None:
    cell = with_arms(samples.a_run().cells[0], lambda arm: dataclasses.replace(arm, huge_pages=had[arm.arm]))

    assert huge_page_notes(cell, ARMS) == said


def test_rounds_in_which_only_one_arm_has_huge_pages_are_not_of_one_kind() -> None:
    cell = with_arms(samples.a_run().cells[0], lambda arm: dataclasses.replace(arm, huge_pages=arm.arm == 1))

    (note,) = huge_page_notes(cell, ARMS)

    rounds = len(cell.measured)
    assert note.startswith(
        f"shared memory was in huge pages for 17.7 in 0 of {rounds} rounds and 18.1 in {rounds} of {rounds} rounds: "
    )
