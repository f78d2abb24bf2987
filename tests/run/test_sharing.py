"""Which arms share loads and installs. Installs are directories made up here; nothing is started."""

import dataclasses
from pathlib import Path

import pytest

from pgverdict.datasets.template import TemplateSpec
from pgverdict.errors import UserError
from pgverdict.run import sharing
from pgverdict.run.builds import require_what_is_needed
from pgverdict.run.sharing import ObtainedArm, Spec, load_pools, obtain_arms, share_out_making
from pgverdict.servers.home import Home
from pgverdict.servers.install import Build, Install
from pgverdict.spec.arms import make_arms
from pgverdict.spec.campaign import Campaign, CellSpec
from pgverdict.spec.parameters import Chosen
from pgverdict.workloads import catalogue
from tests.run.test_execute import Silence

DATASET = catalogue.workload("select-only").dataset
LOAD_BYTES = 100_000_000


def an_install(server: str, home: Home, *, copy: int = 1, **_: object) -> Install:
    """An install whose catalogs are those of its major release."""
    root = home.installs / f"{server}-{copy}"
    (root / "share").mkdir(parents=True, exist_ok=True)
    (root / "share" / "postgres.bki").write_text(f"catalogs of {server.split('.')[0]}")
    return Install(server, server, copy, f"package {server}", Build("", "", ""), root)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    monkeypatch.setattr(sharing, "obtain", an_install)
    return Home(tmp_path, tmp_path)


def campaign(
    *servers: str, settings: tuple[tuple[str, str, str], ...] = (), rounds: int | None = None
) -> Campaign:
    return Campaign(make_arms(servers, settings), (CellSpec("select-only", 1, 1),), rounds=rounds)


def obtained(home: Home, *servers: str, settings: tuple[tuple[str, str, str], ...] = ()) -> list[ObtainedArm]:
    return obtain_arms(campaign(*servers, settings=settings), home, Silence())[0]


def _template(spec: Spec) -> TemplateSpec:
    assert isinstance(spec, TemplateSpec)
    return spec


def test_arms_of_one_build_take_turns_on_the_same_three_installs(home: Home) -> None:
    arms, pools = obtain_arms(campaign("17.7", "17.7"), home, Silence())

    assert pools.of == (0, 0)
    assert [install.copy for install in arms[0].installs] == [1, 2, 3]
    assert arms[0].installs == arms[1].installs


def test_arms_of_different_builds_have_installs_of_their_own(home: Home) -> None:
    arms, pools = obtain_arms(campaign("17.7", "18.1", "17.7"), home, Silence())

    assert (pools.of, pools.sizes) == ((0, 1, 0), (2, 2))
    assert {install.version for install in arms[1].installs} == {"18.1"}


def test_a_release_that_appears_meanwhile_is_not_taken_for_a_copy(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    newest = iter(["17.7", "17.8", "17.9"])

    def obtain(server: str, home: Home, *, copy: int = 1, **_: object) -> Install:
        return an_install(next(newest) if server == "17" else server, home, copy=copy)

    monkeypatch.setattr(sharing, "obtain", obtain)

    for arm in obtain_arms(campaign("17", "18.1"), home, Silence())[0]:
        assert len({install.version for install in arm.installs}) == 1


def test_minor_releases_take_turns_on_loads_that_each_makes_a_part_of(home: Home) -> None:
    arms = obtained(home, "17.6", "17.7")
    pools = load_pools(arms, LOAD_BYTES, None)

    (making,) = share_out_making(pools, arms, DATASET, scale=1)

    assert pools.of == (0, 0)
    assert [maker.name for maker, _ in making] == ["17.6", "17.7"] * 4
    assert [spec.load for _, spec in making] == [1, 2, 3, 4, 5, 6, 7, 8]
    assert [maker.server for maker, _ in making] == [_template(spec).install.version for _, spec in making]


def test_majors_and_arms_with_other_settings_have_loads_of_their_own(home: Home) -> None:
    arms = obtained(home, "17.7", "18.1", "17.7", "17.7", settings=(("17.7#2", "jit", "off"),))
    pools = load_pools(arms, LOAD_BYTES, None)

    names = [
        _template(spec).name
        for making in share_out_making(pools, arms, DATASET, scale=1)
        for _, spec in making
    ]

    assert pools.of == (0, 1, 2, 0)
    assert len(set(names)) == len(names) == 3 * 8


def test_a_handicap_is_no_reason_to_load_apart(home: Home) -> None:
    one, other = obtained(home, "17.7", "17.7")
    slowed = dataclasses.replace(other, arm=dataclasses.replace(other.arm, handicap_ns=300))

    assert load_pools([one, slowed], LOAD_BYTES, None).of == (0, 0)


def test_no_more_is_made_than_the_rounds_will_use_and_every_arm_can_work(home: Home) -> None:
    planned = campaign("17.7", "17.7", "17.7", rounds=2)
    arms, installs = obtain_arms(planned, home, Silence())

    assert installs.sizes == (3,)
    assert load_pools(arms, LOAD_BYTES, planned.rounds).sizes == (3,)


@pytest.mark.parametrize(
    ("servers", "parameters", "complaint"),
    [
        (("17", "10"), (("partitions", 2),), "from release 11 on, and arm 10 is PostgreSQL 10$"),
        (("11", "12"), (("foreign_keys", True), ("partitions", 2)), "from release 12 on, and arm 11 is"),
        (("9.6.24", "18"), (("partitions", 2),), "select-only scale=1 clients=1 partitions=2 needs a primary key"),
        (("11", "18"), (("partitions", 2),), None),
        (("9.6.24", "18"), (("foreign_keys", True),), None),
    ],
)  # fmt: skip
def test_a_release_that_cannot_hold_the_data_is_refused_before_anything_is_loaded(
    home: Home, servers: tuple[str, ...], parameters: Chosen, complaint: str | None
) -> None:
    cell = CellSpec("select-only", 1, 1, parameters)
    cells = [(cell, catalogue.workload("select-only", parameters))]
    if complaint is None:
        require_what_is_needed(cells, obtained(home, *servers))
    else:
        with pytest.raises(UserError, match=complaint):
            require_what_is_needed(cells, obtained(home, *servers))
