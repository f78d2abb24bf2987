"""Sources of PostgreSQL: known by their content, and refused if they are none."""

import hashlib
import subprocess
import tarfile
from pathlib import Path

import pytest

from pgverdict.errors import UserError, WorldError
from pgverdict.servers.home import Home
from pgverdict.servers.source import VARIABLE, find_source, unpack_source, version_of
from pgverdict.spec.spelling import Commit, Source

MESON = "project('postgresql',\n  ['c'],\n  version: '18.1',\n)\n"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    folder = tmp_path / "postgres"
    (folder / "src").mkdir(parents=True)
    (folder / "meson.build").write_text(MESON)
    (folder / "src" / "main.c").write_text("int main(void) { return 0; }\n")
    return folder


def _git(place: Path, *words: str) -> str:
    command = ["git", "-C", str(place), "-c", "user.name=t", "-c", "user.email=t@t", *words]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def repository(tree: Path) -> Path:
    _git(tree, "init", "--quiet", "--initial-branch=master")
    _git(tree, "add", ".")
    _git(tree, "commit", "--quiet", "--message=one")
    return tree


def test_a_tree_is_known_by_its_content(tree: Path, own_home: Home, scratch: Path) -> None:
    first = find_source(Source(str(tree)), own_home)
    (tree / ".git").mkdir()
    assert find_source(Source(str(tree)), own_home) == first
    (tree / "src" / "main.c").write_text("int main(void) { return 1; }\n")
    assert find_source(Source(str(tree)), own_home).identity != first.identity

    unpack_source(first, scratch / "copy")
    assert version_of(scratch / "copy") == "18.1"


def test_a_revision_is_its_commit_whatever_it_is_called(
    repository: Path, own_home: Home, scratch: Path
) -> None:
    commit = _git(repository, "rev-parse", "HEAD")
    found = find_source(Commit(str(repository), "master"), own_home)
    assert found.identity == f"commit {commit}"
    assert found.exact == f"git:{repository}@{commit}"
    assert find_source(Commit(str(repository), commit[:9]), own_home) == found

    # What is not committed is not in it.
    (repository / "src" / "main.c").write_text("broken")
    unpack_source(found, scratch / "copy")
    assert "return 0" in (scratch / "copy" / "src" / "main.c").read_text()


def test_a_repository_behind_an_address_is_cloned_and_kept_up_to_date(
    repository: Path, own_home: Home
) -> None:
    address = f"file://{repository}"
    first = find_source(Commit(address, "master"), own_home)
    _git(repository, "commit", "--quiet", "--allow-empty", "--message=two")
    second = find_source(Commit(address, "master"), own_home)

    assert first.identity != second.identity
    assert first.repository == second.repository


@pytest.mark.parametrize("revision", ["no-such-branch", "--help", "HEAD~5"])
def test_a_revision_that_is_not_there_is_told(repository: Path, own_home: Home, revision: str) -> None:
    with pytest.raises(UserError, match=f"no revision {revision} in {repository}"):
        find_source(Commit(str(repository), revision), own_home)


def test_what_is_no_source_is_refused(tmp_path: Path, own_home: Home, scratch: Path) -> None:
    with pytest.raises(UserError, match="no source of PostgreSQL is there"):
        find_source(Source(str(tmp_path / "nothing")), own_home)
    with pytest.raises(UserError, match="not a source of PostgreSQL"):
        find_source(Source(str(tmp_path)), own_home)
    with pytest.raises(UserError, match="not a repository of git"):
        find_source(Commit(str(tmp_path), "HEAD"), own_home)
    with pytest.raises(UserError, match="no repository is there"):
        find_source(Commit(str(tmp_path / "nothing"), "HEAD"), own_home)
    (tmp_path / "notes.txt").write_text("no tarball")
    with pytest.raises(UserError, match="cannot unpack"):
        unpack_source(find_source(Source(str(tmp_path / "notes.txt")), own_home), scratch / "into")


def test_a_tree_that_was_configured_is_refused(tree: Path, own_home: Home) -> None:
    (tree / "config.status").write_text("")
    with pytest.raises(UserError, match="has been configured already") as caught:
        find_source(Source(str(tree)), own_home)
    assert "make distclean" in (caught.value.hint or "")


@pytest.fixture
def mirror(tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A place that publishes 18.1 as the project does."""
    place = tmp_path / "mirror" / "v18.1"
    place.mkdir(parents=True)
    tarball = place / "postgresql-18.1.tar.bz2"
    with tarfile.open(tarball, "w:bz2") as tar:
        tar.add(tree, "postgresql-18.1")
    digest = hashlib.sha256(tarball.read_bytes()).hexdigest()
    (place / f"{tarball.name}.sha256").write_text(f"{digest}  {tarball.name}\n")
    monkeypatch.setenv(VARIABLE, (tmp_path / "mirror").as_uri())
    return place


def test_the_tarball_of_a_release_is_downloaded_once_and_checked(
    mirror: Path, own_home: Home, scratch: Path
) -> None:
    seen: list[tuple[int, int | None]] = []
    found = find_source(Source("18.1"), own_home, lambda done, total: seen.append((done, total)))
    assert found.exact == "source:18.1"
    assert seen[-1][0] == (mirror / "postgresql-18.1.tar.bz2").stat().st_size
    for path in mirror.iterdir():
        path.unlink()
    assert find_source(Source("18.1"), own_home) == found
    unpack_source(found, scratch / "copy")
    assert version_of(scratch / "copy") == "18.1"


def test_a_release_that_is_still_tested_is_a_release_too(mirror: Path, own_home: Home) -> None:
    name, place = "postgresql-19beta2.tar.bz2", mirror.parent / "v19beta2"
    place.mkdir()
    for suffix in ("", ".sha256"):
        (place / f"{name}{suffix}").write_bytes((mirror / f"postgresql-18.1.tar.bz2{suffix}").read_bytes())

    assert find_source(Source("19beta2"), own_home).exact == "source:19beta2"
    assert (own_home.downloads / name).exists()


@pytest.mark.usefixtures("mirror")
def test_a_tarball_with_a_wrong_digest_is_deleted(mirror: Path, own_home: Home) -> None:
    (mirror / "postgresql-18.1.tar.bz2.sha256").write_text("0" * 64)
    with pytest.raises(WorldError, match=r"the digest of postgresql-18\.1\.tar\.bz2 is wrong"):
        find_source(Source("18.1"), own_home)
    assert not list(own_home.downloads.glob("*.bz2*"))


@pytest.mark.usefixtures("mirror")
def test_a_release_that_is_not_published_is_told(own_home: Home) -> None:
    with pytest.raises(WorldError, match=r"cannot download .*v18\.7") as caught:
        find_source(Source("18.7"), own_home)
    assert VARIABLE in (caught.value.hint or "")
