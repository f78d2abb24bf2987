"""Amounts of memory and lists of cores, as people write them and as we write them back."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgverdict.errors import UserError
from pgverdict.spec.arms import make_arms
from pgverdict.spec.cache import Cache
from pgverdict.spec.campaign import Campaign, CellSpec
from pgverdict.spec.confinement import (
    CORE_MAX,
    MEMORY_BYTES_MAX,
    MEMORY_BYTES_MIN,
    Limits,
    core_numbers,
    memory_limit_bytes,
    spell_cores,
    spell_size,
)
from pgverdict.spec.regime import Regime

core_sets = st.sets(st.integers(0, CORE_MAX), min_size=1, max_size=40)


@pytest.mark.parametrize(
    ("text", "count"),
    [("512MB", 512 << 20), ("2GB", 2 << 30), ("1TB", 1 << 40), (" 65536kB ", 64 << 20), ("1.5 GB", 3 << 29)],
)
def test_memory_is_read_as_postgresql_reads_it(text: str, count: int) -> None:
    assert memory_limit_bytes(text) == count


@pytest.mark.parametrize("text", ["", "2", "2gb", "2Gb", "2GiB", "-1GB", "GB", "1e3MB", "1,5GB", "٢GB"])
def test_what_is_no_amount_of_memory_is_refused_by_name(text: str) -> None:
    with pytest.raises(UserError, match="not an amount of memory: ") as caught:
        memory_limit_bytes(text)
    assert caught.value.hint == "write 512MB or 2GB"


@pytest.mark.parametrize("text", ["31MB", "0GB", "1025TB"])
def test_an_amount_no_server_can_have_is_refused(text: str) -> None:
    with pytest.raises(UserError, match=f"between 32MB and 1024TB of memory, not to {text}"):
        memory_limit_bytes(text)


@given(st.integers(MEMORY_BYTES_MIN // 1024, MEMORY_BYTES_MAX // 1024))
def test_memory_that_is_written_is_read_back(kilobytes: int) -> None:
    assert memory_limit_bytes(spell_size(kilobytes * 1024)) == kilobytes * 1024


@given(core_sets)
def test_cores_that_are_written_are_read_back(cores: set[int]) -> None:
    spelt = spell_cores(sorted(cores))

    assert core_numbers(spelt) == tuple(sorted(cores))
    assert spelt.count(",") < len(cores)


@given(core_sets, st.randoms())
def test_the_order_of_a_list_of_cores_means_nothing(cores: set[int], shuffler: random.Random) -> None:
    parts = [str(core) for core in cores]
    shuffler.shuffle(parts)

    assert core_numbers(" , ".join(parts)) == tuple(sorted(cores))


@pytest.mark.parametrize("text", ["", ",", "0-", "-1", "0--1", "a", "0;1", "0-1-2", "٣", "1.0"])
def test_what_is_no_list_of_cores_is_refused_by_name(text: str) -> None:
    with pytest.raises(UserError, match="not a list of cores: "):
        core_numbers(text)


@pytest.mark.parametrize("text", ["3-1", f"0-{CORE_MAX + 1}", "99999"])
def test_a_range_that_no_host_has_is_refused(text: str) -> None:
    with pytest.raises(UserError, match="not a range of cores: "):
        core_numbers(text)


def test_a_core_named_twice_is_refused() -> None:
    with pytest.raises(UserError, match="a core is named twice: 0-3,2"):
        core_numbers("0-3,2")


def campaign(cores: tuple[int, ...] | None, engine_cores: tuple[int, ...] | None) -> Campaign:
    arms, cells = make_arms(("17", "18")), (CellSpec("select-only", 1, 1),)
    return Campaign(arms, cells, cores=cores, engine_cores=engine_cores)


def test_a_campaign_knows_what_its_servers_are_confined_to() -> None:
    assert campaign((0, 1), None).limits == Limits(None, (0, 1))
    assert campaign((0, 1), (2,)).limits.any
    assert not campaign(None, None).limits.any


def test_the_engine_has_cores_of_its_own_only_beside_those_of_the_servers() -> None:
    with pytest.raises(UserError, match="servers must have theirs: --engine-cores 1"):
        campaign(None, (1,))


def test_the_engine_and_the_servers_share_no_core_where_each_has_its_own() -> None:
    with pytest.raises(UserError, match="would share 1-2"):
        campaign((0, 1, 2), (1, 2, 3))


def test_a_cold_cell_is_another_cell_than_a_warm_one() -> None:
    assert CellSpec("select-only", 1, 1, cache=Cache.COLD).key == "select-only scale=1 clients=1 cache=cold"
    assert CellSpec("select-only", 1, 1).key == "select-only scale=1 clients=1"


def test_a_cold_round_has_no_pairs_to_choose() -> None:
    with pytest.raises(UserError, match="one slice of each arm, after which nothing is cold: --pairs 12"):
        CellSpec("select-only", 1, 1, pairs=12, cache=Cache.COLD)


def test_a_steady_round_cannot_be_cold() -> None:
    with pytest.raises(UserError, match="too long to stay cold: simple-update"):
        CellSpec("simple-update", 1, 1, regime=Regime.STEADY, cache=Cache.COLD)
