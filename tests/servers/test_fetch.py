"""Downloads: nothing is believed, nothing is half there."""

import pytest

from pgverdict.errors import WorldError
from pgverdict.servers import maven
from pgverdict.servers.fetch import fetch
from pgverdict.servers.home import Home
from pgverdict.servers.install import list_installed, obtain_published
from pgverdict.servers.release import Release

from .repository import Repository, nobody_listens, serve

PACKAGE = "17.7.0"


@pytest.fixture
def mirror(repository: Repository, monkeypatch: pytest.MonkeyPatch) -> Repository:
    repository.publish(PACKAGE)
    monkeypatch.setenv(maven.VARIABLE, repository.address)
    return repository


def left_behind(home: Home) -> list[str]:
    return sorted(path.name for path in home.downloads.iterdir() if not path.name.startswith("releases-"))


def test_a_package_comes_with_its_digest(own_home: Home, mirror: Repository) -> None:
    jar = fetch(Release(PACKAGE), own_home)

    assert jar.path.read_bytes() == mirror.jar(PACKAGE).read_bytes()
    assert jar.sha512 == mirror.digest(PACKAGE).read_text()
    assert left_behind(own_home) == [jar.path.name, f"{jar.path.name}.sha512"]


def test_a_wrong_digest_deletes_the_file_and_names_both(own_home: Home, mirror: Repository) -> None:
    right = mirror.digest(PACKAGE).read_text()
    mirror.digest(PACKAGE).write_text("a" * 128)

    with pytest.raises(WorldError) as caught:
        obtain_published("17.7", own_home)

    assert "a" * 128 in caught.value.message
    assert right in caught.value.message
    assert left_behind(own_home) == []
    assert list_installed(own_home) == []


def test_a_file_that_rotted_here_is_noticed_and_fetched_again(own_home: Home, mirror: Repository) -> None:
    jar = fetch(Release(PACKAGE), own_home)
    jar.path.write_bytes(jar.path.read_bytes()[:-1] + b"!")

    with pytest.raises(WorldError, match="digest"):
        obtain_published("17.7", own_home)

    assert fetch(Release(PACKAGE), own_home).sha512 == mirror.digest(PACKAGE).read_text()


def test_a_digest_may_be_followed_by_the_name_of_the_file(own_home: Home, mirror: Repository) -> None:
    digest = mirror.digest(PACKAGE).read_text()
    mirror.digest(PACKAGE).write_text(f"{digest.upper()}  {mirror.jar(PACKAGE).name}\n")

    assert fetch(Release(PACKAGE), own_home).sha512 == digest


def test_what_is_no_digest_is_refused(own_home: Home, mirror: Repository) -> None:
    mirror.digest(PACKAGE).write_text("<html>")

    with pytest.raises(WorldError, match="not a SHA-512"):
        fetch(Release(PACKAGE), own_home)


def test_without_a_published_digest_nothing_is_run(own_home: Home, mirror: Repository) -> None:
    mirror.digest(PACKAGE).unlink()

    with pytest.raises(WorldError, match="no SHA-512 is published"):
        obtain_published("17", own_home)
    assert left_behind(own_home) == []


def test_a_listed_package_may_be_missing(own_home: Home, mirror: Repository) -> None:
    mirror.jar(PACKAGE).unlink()

    with pytest.raises(WorldError, match=r"PostgreSQL 17\.7 .* is not at"):
        obtain_published("17", own_home)


def test_a_download_reports_its_progress(
    own_home: Home, repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository.publish(PACKAGE)
    size = repository.jar(PACKAGE).stat().st_size
    seen: list[tuple[int, int | None]] = []
    with serve(repository) as address:
        monkeypatch.setenv(maven.VARIABLE, address)
        install = obtain_published("17", own_home, progress=lambda done, total: seen.append((done, total)))

    assert seen[-1] == (size, size)
    assert install.version == "17.7"


def test_a_download_that_breaks_off_leaves_nothing(
    own_home: Home, repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository.publish(PACKAGE)
    with serve(repository, cut_jars=True) as address:
        monkeypatch.setenv(maven.VARIABLE, address)
        with pytest.raises(WorldError, match=r"cannot get .*17\.7\.0\.jar from http://127") as caught:
            obtain_published("17", own_home)

    assert maven.VARIABLE in (caught.value.hint or "")
    assert [name for name in left_behind(own_home) if not name.endswith(".sha512")] == []


def test_no_network_says_what_was_tried(own_home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    address = nobody_listens()
    monkeypatch.setenv(maven.VARIABLE, address)

    with pytest.raises(WorldError) as caught:
        obtain_published("17", own_home)

    assert caught.value.message == f"cannot get the list of releases from {address}: Connection refused"
    assert maven.VARIABLE in (caught.value.hint or "")


@pytest.mark.usefixtures("mirror")
def test_what_was_obtained_once_needs_no_network(own_home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    first = obtain_published("17", own_home)
    monkeypatch.setenv(maven.VARIABLE, nobody_listens())

    assert obtain_published("17.7", own_home) == first
    assert obtain_published("17", own_home) == first
    assert obtain_published("17.7", own_home, copy=2).identity == first.identity


def test_without_a_network_a_release_that_is_here_is_offered(
    own_home: Home, repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository.publish(PACKAGE, "17.8.0")
    with serve(repository) as address:
        monkeypatch.setenv(maven.VARIABLE, address)
        obtain_published("17.7", own_home)

    with pytest.raises(WorldError) as caught:
        obtain_published("17", own_home)  # known to be 17.8 by the list, but not here

    assert "17.8.0" in caught.value.message
    assert caught.value.hint == "17.7 is here and needs no network: write `17.7`"


def test_what_was_asked_for_exactly_is_not_offered_again(own_home: Home, mirror: Repository) -> None:
    obtain_published("17.7", own_home)
    for path in own_home.downloads.glob("*.jar*"):
        path.unlink()
    mirror.digest(PACKAGE).write_text("<html>")

    with pytest.raises(WorldError, match="not a SHA-512") as caught:
        obtain_published("17.7", own_home, copy=2)

    assert caught.value.hint == "it is deleted; try again"


@pytest.mark.parametrize("address", ["banana", "file:///nonexistent"])
def test_a_wrong_mirror_is_named_as_the_trouble(
    own_home: Home, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(maven.VARIABLE, address)

    with pytest.raises(WorldError, match=maven.VARIABLE) as caught:
        obtain_published("17", own_home)

    assert "unset it for Maven Central" in (caught.value.hint or "")


def test_a_mirror_that_does_not_answer_is_named_as_the_trouble(
    own_home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(maven.VARIABLE, nobody_listens())

    with pytest.raises(WorldError) as caught:
        obtain_published("17", own_home)

    assert (caught.value.hint or "").startswith(f"{maven.VARIABLE} names this repository")


def test_the_words_for_a_build_name_the_mirror(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(maven.VARIABLE, "https://me:secret@mirror.example/maven2")

    assert maven.source_words() == "ready-made binaries from https://mirror.example/maven2"
