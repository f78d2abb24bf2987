"""Releases that somebody installed: found in the layouts that systems have, and run from a copy."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from pgverdict.errors import UserError
from pgverdict.servers.account import Account
from pgverdict.servers.cluster import create_cluster
from pgverdict.servers.found import find_installed, obtain_installed
from pgverdict.servers.home import Home
from pgverdict.servers.install import Install
from pgverdict.servers.server import Server
from pgverdict.spec.spelling import Installed

LAYOUTS = {
    "Debian": ("usr/lib/postgresql/17/bin", "usr/lib/postgresql/17/lib", "usr/share/postgresql/17"),
    "PGDG": ("usr/pgsql-17/bin", "usr/pgsql-17/lib", "usr/pgsql-17/share"),
    "Fedora": ("usr/bin", "usr/lib64/pgsql", "usr/share/pgsql"),
    "Homebrew": (
        "opt/homebrew/opt/postgresql@17/bin",
        "opt/homebrew/opt/postgresql@17/lib/postgresql",
        "opt/homebrew/opt/postgresql@17/share/postgresql",
    ),
}


@pytest.fixture
def lay_out(install: Install, scratch: Path) -> Callable[[str], Path]:
    """A root with the files of a real build where a system has them."""

    def lay(name: str) -> Path:
        root = scratch / name
        programs, libraries, shared = (root / part for part in LAYOUTS[name])
        made = next(path.parent for path in install.root.glob("share/**/postgres.bki"))
        shutil.copytree(install.root / "bin", programs)
        shutil.copytree(next(path.parent for path in install.root.glob("lib/**/dict_snowball.so")), libraries)
        # A ready-made build has libraries of its own, and looks for them beside its programs.
        for library in install.root.glob("lib/*.so*"):
            beside = programs.parent / "lib"
            beside.mkdir(parents=True, exist_ok=True)
            shutil.copy2(library, beside / library.name)
        shutil.copytree(made, shared)
        return root

    return lay


@pytest.mark.parametrize("name", LAYOUTS)
def test_a_release_is_found_where_systems_have_it(
    lay_out: Callable[[str], Path], name: str, install: Install
) -> None:
    root = lay_out(name)
    [found] = find_installed(root)

    assert found.version == install.version
    assert (
        tuple(str(path.relative_to(root)) for path in (found.programs, found.libraries, found.shared))
        == LAYOUTS[name]
    )


def test_an_installed_release_runs_from_a_copy(
    lay_out: Callable[[str], Path], own_home: Home, account: Account, scratch: Path, sockets: Path
) -> None:
    root = lay_out("Homebrew")
    first, second = (obtain_installed(Installed("17"), own_home, copy=copy, root=root) for copy in (1, 2))
    assert first.identity == second.identity
    assert first.package == str(root / "opt/homebrew/opt/postgresql@17")
    shutil.rmtree(root)

    assert _shared_files(second, scratch, sockets, account).is_relative_to(second.root)


def test_what_is_installed_on_this_host_runs_from_a_copy(
    own_home: Home, account: Account, scratch: Path, sockets: Path
) -> None:
    found = find_installed()
    if not found:
        pytest.skip("NOT TESTED: an installed release, for there is none")
    install = obtain_installed(Installed(found[0].version), own_home)

    assert install.version == found[0].version
    assert _shared_files(install, scratch, sockets, account).is_relative_to(install.root)


def _shared_files(install: Install, scratch: Path, sockets: Path, account: Account) -> Path:
    """Where a running server of the install looks for its files."""
    data = scratch / "data"
    create_cluster(install, data, account)
    with Server(install, data, sockets, {}, account) as server, server.connect() as connection:
        row = connection.execute("SELECT setting FROM pg_config WHERE name = 'SHAREDIR'").fetchone()
    assert row is not None
    return Path(str(row[0]))


def test_an_upgrade_is_another_install(lay_out: Callable[[str], Path], own_home: Home) -> None:
    root = lay_out("Debian")
    before = obtain_installed(Installed("17"), own_home, root=root)
    with (root / LAYOUTS["Debian"][0] / "postgres").open("ab") as file:
        file.write(b"\0")
    assert obtain_installed(Installed("17"), own_home, root=root).identity != before.identity


def test_a_folder_can_be_named_by_what_is_in_it_or_above(
    lay_out: Callable[[str], Path], own_home: Home
) -> None:
    folder = lay_out("PGDG") / "usr/pgsql-17"
    by_folder, by_programs = (
        obtain_installed(Installed(str(path)), own_home) for path in (folder, folder / "bin")
    )
    assert by_folder == by_programs


def test_a_copy_is_found_by_where_the_release_is_now(
    lay_out: Callable[[str], Path], own_home: Home, scratch: Path
) -> None:
    folder = lay_out("PGDG") / "usr/pgsql-17"
    first = obtain_installed(Installed(str(folder)), own_home)
    moved = scratch / "moved"
    folder.parent.rename(moved)

    found = obtain_installed(Installed(str(moved / "pgsql-17")), own_home)
    assert (found.root, found.package) == (first.root, str(moved / "pgsql-17"))
    assert obtain_installed(Installed(found.package), own_home, copy=2).identity == first.identity


def test_what_is_not_installed_is_told_with_what_is(
    lay_out: Callable[[str], Path], own_home: Home, scratch: Path, install: Install
) -> None:
    root = lay_out("Debian")
    with pytest.raises(UserError, match="PostgreSQL 12 is not installed on this host") as caught:
        obtain_installed(Installed("12"), own_home, root=root)
    assert f"installed: {install.version} in " in (caught.value.hint or "")
    with pytest.raises(UserError, match="PostgreSQL is not installed in"):
        obtain_installed(Installed(str(scratch)), own_home)
    with pytest.raises(UserError) as nothing:
        obtain_installed(Installed("17"), own_home, root=scratch / "empty")
    assert "no release is" in (nothing.value.hint or "")
