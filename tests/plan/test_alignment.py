"""Which defaults changed, and what aligning them gives to every arm. The builds are recorded, and were real."""

import json
from pathlib import Path

import pytest

from pgverdict.plan.alignment import align, changed_defaults, known_to_some
from pgverdict.plan.defaults import Default

RECORDED = Path(__file__).with_name("recorded")


def a_build(release: str) -> dict[str, Default]:
    """Some settings of a ready-made build, as its inspection told them."""
    told = json.loads((RECORDED / f"settings-{release}.json").read_text())
    return {name: Default(**{**one, "choices": tuple(one["choices"])}) for name, one in told.items()}


def changed(*releases: str) -> dict[str, tuple[str | None, ...]]:
    return {one.name: one.values for one in changed_defaults([a_build(release) for release in releases])}


def test_of_neighbouring_releases_the_defaults_that_changed_are_found() -> None:
    found = changed("15", "18")

    assert found["data_checksums"] == ("off", "on")
    assert found["effective_io_concurrency"] == ("1", "16")
    assert "wal_buffers" not in found  # -1 in both: worked out when a server starts


def test_units_and_types_that_changed_are_no_change_of_a_default() -> None:
    found = changed("9.6", "12")

    assert found["autovacuum_vacuum_cost_delay"] == ("20ms", "2ms")
    for name in ("max_wal_size", "min_wal_size", "shared_buffers", "search_path", "checkpoint_timeout"):
        assert name not in found


def test_what_matters_most_comes_first() -> None:
    names = list(changed("9.6", "18"))

    assert names[0] == "data_checksums"
    assert names.index("effective_io_concurrency") < names.index("log_checkpoints")


def test_where_files_lie_is_the_builds_own_matter() -> None:
    one = {"key_file": Default("key_file", "FILE:/opt/a/krb5.keytab", "string")}
    other = {"key_file": Default("key_file", "FILE:/opt/b/krb5.keytab", "string")}

    assert changed_defaults([one, other]) == ()


def test_what_no_user_can_set_is_not_compared() -> None:
    one, other = ({"v": Default("v", value, "integer", settable=False)} for value in ("9", "18"))

    assert changed_defaults([one, other]) == ()
    assert known_to_some([one, {}]) == ()


def test_a_setting_that_not_all_arms_know_has_nothing_to_be_aligned_with() -> None:
    builds = [a_build("15"), a_build("18")]

    assert "io_method" in known_to_some(builds)
    assert "io_method" not in align(builds, [(), ()])[1].settings


def test_every_arm_that_knows_a_setting_gets_the_baselines_default() -> None:
    baseline, candidate = align([a_build("9.6"), a_build("18")], [(), ()])

    assert candidate.settings["autovacuum_vacuum_cost_delay"] == "20ms"
    assert candidate.settings["checkpoint_completion_target"] == "0.5"
    assert candidate.settings["data_checksums"] == "off"
    assert candidate.settings.items() <= baseline.settings.items()


def test_the_baseline_may_be_the_newer_one() -> None:
    _, candidate = align([a_build("18"), a_build("9.6")], [(), ()])

    assert candidate.settings["autovacuum_vacuum_cost_delay"] == "2ms"
    assert candidate.settings["data_checksums"] == "on"


def test_what_was_chosen_otherwise_is_left_alone_on_that_arm() -> None:
    baseline, candidate = align([a_build("15"), a_build("18")], [(), ("effective_io_concurrency",)])

    assert "effective_io_concurrency" in baseline.settings
    assert "effective_io_concurrency" not in candidate.settings


def test_a_default_the_candidate_cannot_have_is_refused_with_the_reason() -> None:
    old = {"password_encryption": Default("password_encryption", "on", "bool")}
    new = {
        "password_encryption": Default(
            "password_encryption", "scram-sha-256", "enum", choices=("md5", "scram-sha-256")
        )
    }

    baseline, candidate = align([old, new], [(), ()])

    assert baseline.settings == {"password_encryption": "on"}
    assert candidate.settings == {}
    assert candidate.refused == {"password_encryption": "it cannot be on there"}


@pytest.mark.parametrize("release", ["9.6", "12", "15", "18"])
def test_nothing_is_aligned_between_equal_builds(release: str) -> None:
    assert [one.settings for one in align([a_build(release)] * 2, [(), ()])] == [{}, {}]


def test_candidates_are_aligned_with_the_baseline_and_not_with_each_other() -> None:
    builds = [a_build(release) for release in ("12", "15", "18")]
    for aligned in align(builds, [(), (), ()])[1:]:
        assert aligned.settings["checkpoint_completion_target"] == "0.5"
