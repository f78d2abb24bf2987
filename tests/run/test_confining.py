"""What a campaign may confine its servers to, on this host and with these arms."""

import os

import pytest

from pgverdict.errors import UserError
from pgverdict.observe.host import memory_bytes
from pgverdict.run.confining import confiner_for, require_memory
from pgverdict.spec.arms import make_arms
from pgverdict.spec.campaign import Campaign, CellSpec


def campaign(
    memory_bytes: int | None = None,
    cores: tuple[int, ...] | None = None,
    engine_cores: tuple[int, ...] | None = None,
) -> Campaign:
    return Campaign(
        make_arms(("17", "18")),
        (CellSpec("select-only", 1, 1),),
        memory_bytes=memory_bytes,
        cores=cores,
        engine_cores=engine_cores,
    )


def test_a_campaign_without_limits_needs_no_cgroups() -> None:
    assert confiner_for(campaign()) is None


def test_more_memory_than_the_host_has_is_refused() -> None:
    too_much = 2 * memory_bytes("MemTotal")

    with pytest.raises(
        UserError, match=f"this host has [0-9]+MB of memory in all: --memory {too_much // 1024}kB"
    ):
        confiner_for(campaign(memory_bytes=too_much))


def test_cores_of_servers_and_of_the_engine_must_be_there() -> None:
    core = min(os.sched_getaffinity(0))

    with pytest.raises(UserError, match="--cores 8000"):
        confiner_for(campaign(cores=(8000,)))
    with pytest.raises(UserError, match="--engine-cores 8000"):
        confiner_for(campaign(cores=(core,), engine_cores=(8000,)))


def test_shared_buffers_that_do_not_fit_are_refused_before_they_are_filled() -> None:
    require_memory(campaign(), "18", 1 << 40)
    require_memory(campaign(memory_bytes=256 << 20), "18", 128 << 20)

    with pytest.raises(
        UserError, match=r"arm 18 has shared buffers of 128MB, .* into --memory 128MB"
    ) as caught:
        require_memory(campaign(memory_bytes=128 << 20), "18", 128 << 20)
    assert "--set shared_buffers=32MB" in (caught.value.hint or "")
