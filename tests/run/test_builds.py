"""What the arms' builds are asked for, and which settings the arms get. The builds are recorded."""

import dataclasses

import pytest

from pgverdict.errors import UserError
from pgverdict.run.builds import SettledArm, require_optimised, settle_settings
from pgverdict.servers.inspection import Inspection
from pgverdict.spec.arms import make_arms
from pgverdict.spec.campaign import Campaign, CellSpec, Defaults
from pgverdict.spec.tuning import Disk, Tuning, Use
from tests.plan.test_alignment import a_build

Given = tuple[tuple[str | None, str, str], ...]


def builds(*releases: str) -> list[Inspection]:
    return [Inspection((("optimisation", "-O2"),), a_build(release)) for release in releases]


def settle(*releases: str, given: Given = (), **more: object) -> tuple[SettledArm, ...]:
    campaign = Campaign(make_arms(releases, given), (CellSpec("select-only", 1, 1),), **more)  # type: ignore[arg-type]
    return settle_settings(campaign, builds(*releases), data_bytes=10**8)


def test_as_shipped_no_arm_gets_what_nobody_gave_it() -> None:
    baseline, candidate = settle("15", "18", given=((None, "work_mem", "8MB"),))

    assert baseline.arm.settings == candidate.arm.settings == (("work_mem", "8MB"),)
    assert baseline.arm.origins == ()
    assert dict(baseline.defaults)["effective_io_concurrency"] == "1"
    assert dict(candidate.defaults)["effective_io_concurrency"] == "16"
    assert "io_method" not in dict(baseline.defaults)
    assert dict(candidate.defaults)["io_method"] == "worker"


def test_as_aligned_all_arms_get_the_baselines_defaults_and_what_was_given_wins() -> None:
    baseline, candidate = settle(
        "15", "18", given=(("candidate", "effective_io_concurrency", "7"),), defaults=Defaults.ALIGNED
    )

    assert (
        dict(baseline.arm.settings)["data_checksums"]
        == dict(candidate.arm.settings)["data_checksums"]
        == "off"
    )
    assert dict(baseline.arm.settings)["effective_io_concurrency"] == "1"
    assert dict(candidate.arm.settings)["effective_io_concurrency"] == "7"
    assert ("data_checksums", "aligned") in candidate.arm.origins
    assert "effective_io_concurrency" not in dict(candidate.arm.origins)


def test_what_is_given_wins_over_what_is_tuned_and_that_over_what_is_aligned() -> None:
    _, candidate = settle(
        "15",
        "18",
        given=((None, "shared_buffers", "1GB"),),
        defaults=Defaults.ALIGNED,
        tuning=Tuning(Use.OLTP, 16 << 30, 2, Disk.SSD),
    )
    settings, origins = dict(candidate.arm.settings), dict(candidate.arm.origins)

    assert settings["shared_buffers"] == "1GB"
    assert "shared_buffers" not in origins
    assert (settings["effective_io_concurrency"], origins["effective_io_concurrency"]) == ("200", "tuned")
    assert origins["data_checksums"] == "aligned"


def test_an_optional_setting_is_left_out_on_arms_that_do_not_know_it_and_they_say_so() -> None:
    baseline, candidate = settle("9.6", "18", given=((None, "jit?", "off"),))

    assert baseline.arm.settings == ()
    assert baseline.notes == ("the setting jit=off was left out: this release does not know it",)
    assert candidate.arm.settings == (("jit", "off"),)
    assert candidate.notes == ()
    assert candidate.arm.optional == ()


@pytest.mark.parametrize(
    ("name", "complaint", "hint"),
    [
        ("io_methd?", "no arm knows the optional setting: io_methd", "did you mean io_method?"),
        ("xyzzy?", "no arm knows the optional setting: xyzzy", "leave it out"),
        (
            "auto_explain.log_timing?",
            "a setting of a library cannot be optional",
            "only the running server knows it",
        ),
    ],
)
def test_an_optional_setting_that_no_arm_knows_is_a_slip_of_the_pen(
    name: str, complaint: str, hint: str
) -> None:
    with pytest.raises(UserError, match=complaint) as caught:
        settle("15", "18", given=((None, name, "1"),))

    assert caught.value.hint is not None
    assert hint in caught.value.hint


def test_a_setting_that_is_not_optional_is_left_to_the_server_to_refuse() -> None:
    baseline, _ = settle("9.6", "18", given=((None, "jit", "off"),))

    assert baseline.arm.settings == (("jit", "off"),)


@pytest.mark.parametrize(
    ("chosen", "bytes_"), [("4GB", 4 << 30), ("2048", 2 << 30), ("off", 1 << 30), (None, 1 << 30)]
)
def test_the_room_for_wal_is_what_it_may_grow_to(chosen: str | None, bytes_: int) -> None:
    given: Given = ((None, "max_wal_size", chosen),) if chosen else ()

    assert [arm.wal_bytes for arm in settle("15", "18", given=given)] == [bytes_] * 2


@pytest.mark.parametrize(("fact", "value"), [("assertions", "on"), ("optimisation", "-O0")])
def test_a_build_for_finding_errors_is_refused_unless_such_builds_are_allowed(fact: str, value: str) -> None:
    campaign = Campaign(make_arms(("15", "18")), (CellSpec("select-only", 1, 1),))
    good, bad = builds("15", "18")
    bad = dataclasses.replace(bad, facts=((fact, value),))

    with pytest.raises(UserError, match="the build of arm 18 is one for finding errors") as caught:
        require_optimised(campaign, [good, bad])

    assert caught.value.hint == "--allow-debug-builds measures it all the same"
    require_optimised(dataclasses.replace(campaign, debug_builds=True), [good, bad])
