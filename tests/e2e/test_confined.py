"""Servers with less memory than their data, on cores of their own; and rounds that begin with nothing in memory."""

import os
from pathlib import Path

import pytest

from pgverdict.plan.rounds import PAIRS
from pgverdict.servers.cgroups import Cgroup, hierarchies
from pgverdict.spec.confinement import Limits, spell_cores
from tests.e2e import cli
from tests.servers.confining import why_unconfined

pytestmark = [pytest.mark.slow, pytest.mark.long]

CORES = sorted(os.sched_getaffinity(0))
SMALL = ("--scale", "4", "--set", "shared_buffers=16MB", "--rounds", "2")
"""Some 60 MB of data."""

MEMORY_BYTES = 64 << 20
BATCH_BYTES = 64 * 4096
LIMITS = Limits(MEMORY_BYTES, tuple(CORES[:1]))


def ours() -> set[Cgroup]:
    """All that carry our mark on this host."""
    return {group for tree in hierarchies() for group in tree.ours()}


@pytest.mark.skipif(len(CORES) < 2, reason="the engine needs a core of its own")
@pytest.mark.skipif(why_unconfined(LIMITS) is not None, reason=str(why_unconfined(LIMITS)))
def test_data_larger_than_the_memory_of_its_servers_is_read_again_and_again(home: Path, store: str) -> None:
    before = ours()
    limits = ("--memory", "64MB", "--cores", str(CORES[0]), "--engine-cores", str(CORES[1]))

    report = cli.report_of(
        "compare", "17", "17", *SMALL, *limits, "--freeze", "cgroup", "--store", store, home=home
    )

    assert report["campaign"]["memory_bytes"] == MEMORY_BYTES
    assert (report["campaign"]["cores"], report["campaign"]["engine_cores"]) == ([CORES[0]], [CORES[1]])
    assert " ".join(limits) in report["run"]["command"]
    assert any("confined to 64MB of memory and core" in note for note in report["run"]["notes"])
    (cell,) = report["cells"]
    assert (cell["rounds"], cell["failed_rounds"], cell["pairs"]) == (2, 0, 2 * PAIRS)
    assert (cell["placement"]["cpus"], cell["placement"]["engine_cpus"]) == (str(CORES[0]), str(CORES[1]))
    values = {condition["name"]: condition["values"] for condition in cell["conditions"]}
    for used in values["most memory used, page cache included"]:
        # The kernel looks after the limit when it has charged a batch of pages.
        assert 0.9 * MEMORY_BYTES < used <= MEMORY_BYTES + BATCH_BYTES
    for read in values["read from storage, per round"]:
        assert read > 0
    for seconds in values["warm-up until turnover"]:
        assert seconds >= 6
    assert any("larger than the memory of its server" in note for note in cell["notes"])
    assert ours() <= before
    assert not cli.servers_below(home)


def test_cold_rounds_read_everything_from_storage(home: Path, store: str) -> None:
    report = cli.report_of("compare", "17", "17", *SMALL, "--cache", "cold", "--store", store, home=home)

    (cell,) = report["cells"]
    assert (cell["rounds"], cell["pairs"], cell["primary"], cell["cache"]) == (2, 2, "tps", "cold")
    assert ", cold)" in cell["headline"]
    values = {condition["name"]: condition["values"] for condition in cell["conditions"]}
    assert values["transactions counted, per round"] == [1000, 1000]
    blocks, read = (
        values["blocks read from outside shared buffers, per round"],
        values["read from storage, per round"],
    )
    assert min(blocks) > 1000, "a heap page for most transactions, and leaves of the index"
    for fetched, from_storage in zip(blocks, read, strict=True):
        assert from_storage >= 0.5 * 8192 * fetched
    assert any(note.startswith("cold: every round began with nothing") for note in cell["notes"])
    assert "--cache cold" in report["run"]["command"]


@pytest.mark.skipif(why_unconfined() is not None, reason=str(why_unconfined()))
def test_a_killed_run_leaves_no_cgroup_after_the_next_start(home: Path, store: str) -> None:
    before = ours()
    run = ("compare", "17", "17", "--scale", "1", "--rounds", "2", "--memory", "512MB", "--store", store)
    process = cli.start(*run, home=home)
    try:
        cli.until(
            lambda: (cli.engines(home) and ours() - before) or process.poll() is not None,
            seconds=120, what="a round at work",
        )  # fmt: skip
        assert process.poll() is None, process.communicate()[1]
    finally:
        process.kill()
        process.communicate()

    report = cli.report_of(*run, home=home)

    assert report["cells"][0]["rounds"] == 2
    assert ours() <= before


@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        (("--memory", "2gb"), 2, "not an amount of memory: 2gb"),
        (("--cores", "8000"), 2, "no such cores here, or none that we may use: --cores 8000"),
        (("--engine-cores", "0"), 2, "servers must have theirs: --engine-cores 0"),
        (("--cores", spell_cores(CORES), "--engine-cores", spell_cores(CORES)), 2, "would share"),
        (("--cache", "cold", "--pairs", "3"), 2, "after which nothing is cold"),
        (("--memory", "1024TB"), 2, "MB of memory in all: --memory 1024TB"),
    ],
)
def test_what_cannot_be_is_refused_before_any_round(
    home: Path, store: str, options: tuple[str, ...], code: int, said: str
) -> None:
    done = cli.run("compare", "17", "17", *options, "--store", store, home=home)

    assert done.returncode == code
    assert said in done.stderr
    assert "hint: " in done.stderr
