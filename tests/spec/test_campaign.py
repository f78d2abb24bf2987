"""Arms, their names and their settings."""

import pytest

from pgverdict.errors import UserError
from pgverdict.spec.arms import Role, find_arms, make_arms, name_arms
from pgverdict.spec.campaign import Campaign, CellSpec


def test_the_same_release_twice_gives_two_names() -> None:
    assert name_arms(("17", "17")) == ("17", "17#2")


def test_the_first_arm_is_the_baseline() -> None:
    assert [arm.role for arm in make_arms(("17", "18"))] == [Role.BASELINE, Role.CANDIDATE]


def test_a_setting_without_an_address_goes_to_all_arms() -> None:
    assert [arm.settings for arm in make_arms(("17", "18"), ((None, "jit", "off"),))] == [
        (("jit", "off"),)
    ] * 2


@pytest.mark.parametrize("address", ["candidate", "17#2"])
def test_a_setting_goes_to_a_role_or_to_a_named_arm(address: str) -> None:
    baseline, candidate = make_arms(("17", "17"), ((address, "jit", "off"),))

    assert baseline.settings == ()
    assert candidate.settings == (("jit", "off"),)


@pytest.mark.parametrize("turn", [1, -1], ids=["general first", "general last"])
def test_what_is_said_of_one_arm_goes_before_what_is_said_of_all(turn: int) -> None:
    arms = make_arms(("17", "18"), ((None, "jit", "off"), ("baseline", "jit", "on"))[::turn])

    assert [arm.settings for arm in arms] == [(("jit", "on"),), (("jit", "off"),)]


@pytest.mark.parametrize("first", [None, "candidate", "18"])
def test_a_setting_given_twice_for_the_same_arm_is_refused(first: str | None) -> None:
    second = None if first is None else "18"
    with pytest.raises(UserError, match=r"the setting jit is given twice for .*: off and on"):
        make_arms(("17", "18"), ((first, "jit", "off"), (second, "jit", "on")))


def test_an_unknown_arm_in_a_setting_is_refused_with_the_nearest_one() -> None:
    with pytest.raises(UserError, match="unknown arm in --set: candidat") as caught:
        make_arms(("17", "18"), (("candidat", "jit", "off"),))

    assert caught.value.hint == "did you mean candidate?"


def test_one_workload_twice_is_refused() -> None:
    cell = CellSpec("select-only", 10, 1)
    with pytest.raises(UserError, match="twice"):
        Campaign(arms=make_arms(("17", "18")), cells=(cell, cell))


def test_a_single_round_is_refused() -> None:
    with pytest.raises(UserError, match="too few rounds: 1"):
        Campaign(arms=make_arms(("17", "18")), cells=(CellSpec("select-only", 10, 1),), rounds=1)


def test_a_setting_of_the_candidate_goes_to_all_candidates() -> None:
    baseline, *candidates = make_arms(
        ("16", "17", "18"), (("candidate", "jit", "off"), ("18", "work_mem", "1MB"))
    )

    assert baseline.settings == ()
    assert [arm.settings for arm in candidates] == [
        (("jit", "off"),),
        (("jit", "off"), ("work_mem", "1MB")),
    ]


@pytest.mark.parametrize(("arms", "refused"), [(1, True), (2, False), (12, False), (13, True)])
def test_a_comparison_has_two_to_twelve_arms(arms: int, refused: bool) -> None:
    made, cells = make_arms(("17",) * arms), (CellSpec("select-only", 10, 1),)
    if refused:
        with pytest.raises(UserError, match=f"2 to 12 arms, not {arms}"):
            Campaign(arms=made, cells=cells)
    else:
        assert Campaign(arms=made, cells=cells).candidates == tuple(range(1, arms))


def test_any_metric_of_the_whole_cell_may_be_primary_and_changes_nothing_else() -> None:
    chosen = CellSpec("select-only", 10, 1, primary="latency_us_p99")

    assert chosen.key == CellSpec("select-only", 10, 1).key


@pytest.mark.parametrize(
    ("primary", "hint"),
    [
        ("latency_p99", "did you mean latency_us_p99?"),
        ("server_ms_mean", "did you mean server_cpu_us_per_txn?"),
    ],
    ids=["misspelt", "of a statement"],
)
def test_a_primary_that_no_whole_cell_has_is_refused_with_the_nearest_one(primary: str, hint: str) -> None:
    with pytest.raises(UserError, match=f"unknown primary metric: {primary}") as caught:
        CellSpec("select-only", 10, 1, primary=primary)

    assert caught.value.hint == hint


def test_arms_are_found_by_name_or_role_and_the_candidates_without() -> None:
    arms = make_arms(("17", "17", "18"))

    found = [find_arms(arms, address, where="--handicap") for address in (None, "17", "17#2", "baseline")]

    assert found == [(1, 2), (0,), (1,), (0,)]
    with pytest.raises(UserError, match="unknown arm in --handicap: candidat"):
        find_arms(arms, "candidat", where="--handicap")


def test_an_arm_may_be_given_a_name() -> None:
    arms = make_arms(
        ("17", "new=17", "patched=git:.@HEAD,patch=a.patch"),
        (("new", "jit", "off"), ("patched", "jit", "on")),
    )

    assert [(arm.name, arm.server) for arm in arms] == [
        ("17", "17"),
        ("new", "17"),
        ("patched", "git:.@HEAD,patch=a.patch"),
    ]
    assert [arm.settings for arm in arms] == [(), (("jit", "off"),), (("jit", "on"),)]


@pytest.mark.parametrize("servers", [("a=17", "a=18"), ("baseline=17", "18"), ("17", "candidate=18")])
def test_a_name_belongs_to_one_arm_and_is_no_role(servers: tuple[str, ...]) -> None:
    with pytest.raises(UserError, match="not a name of its own for an arm"):
        make_arms(servers)


def test_a_server_that_means_nothing_is_refused_before_anything_is_done() -> None:
    with pytest.raises(UserError, match="unknown kind of server: sorce"):
        make_arms(("17", "sorce:18"))
