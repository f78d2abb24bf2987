"""Installs: whole or not there, and readable by those who run them."""

import dataclasses
import hashlib
import io
import os
import stat
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

import pgverdict
from pgverdict.errors import WorldError
from pgverdict.servers import maven
from pgverdict.servers.account import Account
from pgverdict.servers.home import Home
from pgverdict.servers.install import Install, list_installed, obtain_published

from .repository import Repository


@pytest.fixture
def mirror(repository: Repository, monkeypatch: pytest.MonkeyPatch) -> Repository:
    repository.publish("9.6.24", "17.7.0")
    monkeypatch.setenv(maven.VARIABLE, repository.address)
    return repository


def test_an_install_knows_itself(own_home: Home, mirror: Repository) -> None:
    install = obtain_published("9.6", own_home)

    assert (install.version, install.major, install.package, install.copy) == ("9.6.24", (9, 6), "9.6.24", 1)
    assert install.identity == mirror.digest("9.6.24").read_text()
    assert install.postgres.is_file()


@pytest.mark.usefixtures("mirror")
def test_copies_of_a_build_are_apart_and_have_one_identity(own_home: Home) -> None:
    first, second = obtain_published("17", own_home), obtain_published("17", own_home, copy=2)

    assert first.identity == second.identity
    assert first.root != second.root
    assert not first.postgres.samefile(second.postgres)
    assert len(str(first.root)) == len(str(second.root))


@pytest.mark.usefixtures("mirror")
def test_installs_are_listed_by_age_of_the_release(own_home: Home) -> None:
    obtain_published("17", own_home, copy=2)
    obtain_published("17", own_home)
    obtain_published("9.6", own_home)

    assert [(install.version, install.copy) for install in list_installed(own_home)] == [
        ("9.6.24", 1),
        ("17.7", 1),
        ("17.7", 2),
    ]


@pytest.mark.usefixtures("mirror")
def test_an_install_is_made_once(own_home: Home) -> None:
    before = obtain_published("17", own_home).root.stat()

    assert obtain_published("17.7", own_home).root.stat().st_ino == before.st_ino


@pytest.mark.usefixtures("mirror")
def test_two_who_want_the_same_install_at_once_both_get_it(own_home: Home) -> None:
    program = (
        "import sys; from pathlib import Path; from pgverdict.servers.home import Home; "
        "from pgverdict.servers.install import obtain_published; "
        "print(obtain_published('17', Home(Path(sys.argv[1]), Path(sys.argv[2]))).root)"
    )
    command = [sys.executable, "-c", program, str(own_home.cache), str(own_home.data)]
    environment = {**os.environ, "PYTHONPATH": str(Path(pgverdict.__file__).parents[1])}
    both = [subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) for _ in range(2)]

    said = [process.communicate()[0] for process in both]

    assert said == [f"{own_home.installs / '17.7.0-1'}\n"] * 2
    assert [path.name for path in own_home.installs.iterdir()] == ["17.7.0-1"]


@pytest.mark.usefixtures("mirror")
def test_everybody_may_read_an_install_whatever_the_umask(own_home: Home) -> None:
    umask = os.umask(0o077)
    try:
        install = obtain_published("17", own_home)
    finally:
        os.umask(umask)

    modes = {path: stat.S_IMODE(path.stat().st_mode) for path in (install.root, *install.root.rglob("*"))}
    assert set(modes.values()) == {0o755, 0o644}
    assert modes[install.postgres] == 0o755


@pytest.mark.usefixtures("mirror")
def test_a_build_that_does_not_run_here_is_not_installed(
    own_home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pgverdict.servers.install._open_to_servers", make_unrunnable)

    with pytest.raises(WorldError, match=r"does not run on this machine: .*not found"):
        obtain_published("17", own_home)

    assert list_installed(own_home) == []
    assert [path.name for path in own_home.installs.iterdir()] == []


def make_unrunnable(root: Path) -> None:
    root.chmod(0o755)
    (root / "bin").chmod(0o755)
    (root / "bin" / "postgres").write_text("#!/bin/sh\nlibmissing.so.1\n")
    (root / "bin" / "postgres").chmod(0o755)


def test_an_old_python_unpacks_with_a_sieve_of_our_own(
    own_home: Home, scratch: Path, mirror: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(tarfile, "data_filter", raising=False)
    assert obtain_published("9.6", own_home).version == "9.6.24"

    for name, target in (
        ("../evil", ""),
        ("/tmp/evil", ""),
        ("evil", "/etc/passwd"),
        ("bin/evil", "../../evil"),
    ):
        publish_archive(mirror, "17.7.0", name, target)
        with pytest.raises(WorldError, match=f"will not unpack {name}"):
            obtain_published("17", own_home)
        for path in own_home.downloads.glob("*17.7.0*"):
            path.unlink()
    assert list(scratch.rglob("evil")) == []
    assert not Path("/tmp/evil").exists()
    assert [install.version for install in list_installed(own_home)] == ["9.6.24"]


def test_an_archive_cannot_write_outside(own_home: Home, scratch: Path, mirror: Repository) -> None:
    publish_archive(mirror, "17.7.0", "../evil", "")

    with pytest.raises(WorldError, match="cannot unpack"):
        obtain_published("17", own_home)

    assert list(scratch.rglob("evil")) == []


def publish_archive(mirror: Repository, package: str, name: str, target: str) -> None:
    """A package whose archive has one entry: a file, or with a target a symbolic link."""
    entry = tarfile.TarInfo(name)
    if target:
        entry.type, entry.linkname = tarfile.SYMTYPE, target
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w:xz") as tar:
        tar.addfile(entry, io.BytesIO())
    publish_jar(mirror, package, "postgres-linux-x86_64.txz", archive.getvalue())


def publish_jar(mirror: Repository, package: str, name: str, content: bytes) -> None:
    jar = io.BytesIO()
    with zipfile.ZipFile(jar, "w") as file:
        file.writestr(name, content)
    mirror.jar(package).write_bytes(jar.getvalue())
    mirror.digest(package).write_text(hashlib.sha512(jar.getvalue()).hexdigest())


def test_a_package_without_a_server_is_refused(own_home: Home, mirror: Repository) -> None:
    publish_jar(mirror, "17.7.0", "README", b"nothing here")

    with pytest.raises(WorldError, match=r"not a package of PostgreSQL: .* holds \['README'\]"):
        obtain_published("17", own_home)


def test_a_real_build_tells_how_it_was_made(any_install: Install) -> None:
    build = any_install.build

    assert build.compiler.startswith("gcc (")
    assert "--with-openssl" in build.configure
    assert "-O2" in build.cflags if any_install.major == (9, 6) else "-Os" in build.cflags


def test_majors_are_told_apart(obtained: Callable[[str], Install]) -> None:
    assert [obtained(spelling).major for spelling in ("9.6", "17", "18")] == [(9, 6), (17,), (18,)]


def test_an_account_that_cannot_reach_the_home_is_told_where_it_stops(
    scratch: Path, account: Account
) -> None:
    if account.is_self:
        pytest.skip("servers run as ourselves")
    closed = scratch / "closed"
    closed.mkdir(mode=0o700)

    with pytest.raises(WorldError, match=f"the user {account.name}, who cannot pass through {closed}"):
        Home(closed / "cache", closed / "data").ensure(account)


@pytest.mark.usefixtures("mirror")
@pytest.mark.parametrize("content", ["", "{", "[]", '{"version": "17.7"}', None])
def test_a_damaged_install_is_made_again(own_home: Home, content: str | None) -> None:
    facts = obtain_published("17", own_home).root / "install.json"
    if content is None:
        facts.unlink()
    else:
        facts.write_text(content)
    assert list_installed(own_home) == []

    assert obtain_published("17", own_home).version == "17.7"

    assert [path.name for path in own_home.installs.iterdir()] == ["17.7.0-1"]


def test_data_directories_of_one_build_are_interchangeable_and_of_two_majors_are_not(
    obtained: Callable[[str], Install],
) -> None:
    first, copy = obtained("17"), obtained("17")

    assert first.data_format == copy.data_format
    assert len({obtained(server).data_format for server in ("9.6", "17", "18")}) == 3


@pytest.mark.parametrize(
    ("changed", "alike"),
    [("bin/postgres", True), ("share/postgres.bki", False), ("share/extension/pg_prewarm.control", False)],
)
def test_what_a_new_cluster_gets_makes_the_format_of_its_data(
    own_home: Home, mirror: Repository, changed: str, alike: bool
) -> None:
    del mirror
    one, other = obtain_published("17", own_home), obtain_published("17", own_home, copy=2)
    for install in (one, other):
        for name in ("share/postgres.bki", "share/extension/pg_prewarm.control"):
            path = install.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("as released")
    (other.root / changed).write_text("changed")

    assert (one.data_format == other.data_format) is alike


@pytest.mark.parametrize(
    ("configure", "alike"),
    [
        ("'--with-icu' 'CFLAGS=-O3'", True),
        ("'--with-icu' '--with-blocksize=16'", False),
        ("'--with-icu' '--with-wal-blocksize=16'", False),
        ("'--with-icu' '--disable-float8-byval'", False),
    ],
)
def test_choices_at_building_that_change_pages_change_the_format_of_data(
    own_home: Home, mirror: Repository, configure: str, alike: bool
) -> None:
    del mirror
    one = obtain_published("17", own_home)
    (one.root / "share").mkdir()
    (one.root / "share" / "postgres.bki").write_text("as released")
    plain, other = (
        dataclasses.replace(one, build=dataclasses.replace(one.build, configure=said))
        for said in ("'--with-icu'", configure)
    )

    assert (plain.data_format == other.data_format) is alike


def test_an_install_that_does_not_show_its_catalogs_shares_data_with_nobody(
    own_home: Home, mirror: Repository
) -> None:
    del mirror
    old, new = obtain_published("9.6", own_home), obtain_published("17", own_home)

    assert old.data_format != new.data_format
