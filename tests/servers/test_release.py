"""Which release a spelling means."""

import os
import time
from pathlib import Path

import pytest

from pgverdict.errors import UserError, WorldError
from pgverdict.servers import maven
from pgverdict.servers.home import Home
from pgverdict.servers.release import (
    LIST_AGE_S_MAX,
    Release,
    choose,
    find_release,
    known_releases,
)

from .repository import Repository, nobody_listens

PACKAGES = (
    "9.6.10", "9.6.24", "10.5.0", "10.5.0-1", "10.9.0", "10.10.0", "10.23.0", "11.22.0", "11.22.1", "13.1.0",
    "13.1.0-1", "17.2.0", "17.9.0", "17.10.0", "18.0.0", "18.1.0",
)  # fmt: skip


def check(spelling: str, package: str) -> None:
    assert choose(spelling, [Release(name) for name in PACKAGES]).package == package


def test_a_major_means_its_newest_minor() -> None:
    check("17", "17.10.0")
    check("18", "18.1.0")
    check("10", "10.23.0")


def test_before_10_a_major_has_two_numbers() -> None:
    check("9.6", "9.6.24")
    check("9.6.10", "9.6.10")


def test_a_minor_means_that_one() -> None:
    check("17.2", "17.2.0")
    check("10.10", "10.10.0")


def test_of_several_packagings_the_latest_is_taken() -> None:
    check("10.5", "10.5.0-1")
    check("13.1", "13.1.0-1")
    check("11.22", "11.22.1")


def test_a_packaging_can_be_named() -> None:
    check("13.1.0", "13.1.0")
    check("13.1.0-1", "13.1.0-1")


def test_releases_are_ordered_by_number() -> None:
    shuffled = sorted(Release(name) for name in sorted(PACKAGES))

    assert [release.package for release in shuffled] == list(PACKAGES)


def test_versions_are_spelled_as_the_server_does() -> None:
    spelled = {package: Release(package).version for package in PACKAGES}

    assert spelled["9.6.24"] == "9.6.24"
    assert spelled["13.1.0-1"] == "13.1"
    assert spelled["17.10.0"] == "17.10"


def test_a_beta_is_not_a_release() -> None:
    assert Release.parse("19.0.0-beta1") is None


def check_unknown(spelling: str, *hints: str) -> None:
    with pytest.raises(UserError) as caught:
        choose(spelling, [Release(name) for name in PACKAGES])
    assert spelling in caught.value.message
    for hint in hints:
        assert hint in (caught.value.hint or "")


def test_an_unknown_minor_names_the_nearest_ones() -> None:
    check_unknown("17.5", "nearest: 17.2, 17.9, 17.10;")
    check_unknown("17.99", "17.10")
    check_unknown("9.6.11", "9.6.10", "9.6.24")


def test_an_unknown_major_names_the_majors() -> None:
    check_unknown("16", "majors with builds: 9.6, 10, 11, 13, 17, 18")
    check_unknown("9", "9.6")


def test_what_is_no_release_is_told_so() -> None:
    check_unknown("seventeen", "`17`")
    check_unknown("17.", "`17`")
    check_unknown("", "`17`")


def test_the_list_of_a_mirror_is_kept_and_believed_for_a_while(
    own_home: Home, repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(maven.VARIABLE, repository.address)
    repository.list("17.1.0")
    assert [release.version for release in known_releases(own_home)] == ["17.1"]

    repository.list("17.1.0", "17.2.0")

    assert find_release("17", own_home).version == "17.1"
    assert known_releases(own_home, refresh=True)[-1].version == "17.2"
    repository.list("17.1.0", "17.2.0", "17.3.0")
    make_old(own_home)
    assert find_release("17", own_home).version == "17.3"


def make_old(home: Home) -> None:
    then = time.time() - LIST_AGE_S_MAX - 1
    for path in home.downloads.glob("releases-*.json"):
        os.utime(path, (then, then))


def test_without_a_network_an_earlier_list_serves(own_home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    address = nobody_listens()
    monkeypatch.setenv(maven.VARIABLE, address)
    with pytest.raises(
        WorldError, match=r"cannot get the list of releases from http://127.* Connection refused"
    ):
        known_releases(own_home)

    played = Repository(own_home.cache / "played")
    played.list("17.1.0")
    monkeypatch.setenv(maven.VARIABLE, played.address)
    known_releases(own_home)
    (written,) = own_home.downloads.glob("releases-*.json")
    monkeypatch.setenv(maven.VARIABLE, address)
    written.rename(
        written.with_name(
            f"releases-http-{address.removeprefix('http://').translate(DASHES)}-{maven.artifact()}.json"
        )
    )
    make_old(own_home)

    assert find_release("17", own_home).version == "17.1"


DASHES = str.maketrans(":.", "--")


def test_a_damaged_list_is_fetched_again(
    own_home: Home, repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(maven.VARIABLE, repository.address)
    repository.list("17.1.0")
    known_releases(own_home)
    (path,) = own_home.downloads.glob("releases-*.json")
    path.write_text('{"packages": [')

    assert find_release("17", own_home).version == "17.1"


def test_a_page_that_is_no_list_is_refused(
    own_home: Home, repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(maven.VARIABLE, repository.address)
    (repository.project / "maven-metadata.xml").write_text("<html><body>Please log in<br></body></html>")

    with pytest.raises(WorldError, match="cannot get the list of releases"):
        known_releases(own_home)


def test_the_password_of_a_mirror_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(maven.VARIABLE, "https://me:secret@mirror.example/maven2")

    assert maven.source() == "https://mirror.example/maven2"


def test_the_address_of_maven_central_is_jgos_business() -> None:
    sources = Path(maven.__file__).parent.glob("*.py")

    assert [
        path.name for path in sources if "maven.org" in path.read_text() or "apache.org" in path.read_text()
    ] == []
