"""What the cache folder holds is listed, and goes by the rule; what is not ours stays.

Among the end to end tests, which run one after the other: what removes keeps runs from measuring meanwhile.
"""

import json
import os
from pathlib import Path

import pytest

from pgverdict.cli.exits import run
from pgverdict.errors import UserError, WorldError
from pgverdict.run.holdings import Holdings, Kind, beyond, find_holdings, named, no_run_working, remove
from pgverdict.run.site import measuring_alone
from pgverdict.servers.account import server_account
from pgverdict.servers.home import Home
from pgverdict.servers.install import note_use, read_install
from pgverdict.servers.workspace import Workspace
from tests.homes import home_for_tests

DAY_S = 86_400
KB = 1024


@pytest.fixture
def home(monkeypatch: pytest.MonkeyPatch) -> Home:
    """A cache with a download, two installs, a build and two templates, in that order of use."""
    place = home_for_tests() / "of-holdings"
    monkeypatch.setenv("PGVERDICT_HOME", str(place))
    made = Home.find()
    made.ensure(server_account())
    for folder in (made.downloads, made.installs, made.templates):
        for path in folder.iterdir():
            remove_entry(path)
    _download(made, "postgres-17.11.0.jar", 1)
    _install(made, "17.11.0-1", "17.11.0", 2)
    _install(made, "17.11.0-2", "17.11.0", 3)
    _install(made, "build-0123456789abcdef-1", "source:18.1,with=llvm", 4)
    _template(made, "17.11-pgbench-s1-l1-0123456789", 5)
    _template(made, "17.11-pgbench-s1-l2-0123456789", 6)
    return made


def remove_entry(path: Path) -> None:
    if path.is_symlink() or path.is_file():
        path.unlink()
    else:
        for below in path.iterdir():
            remove_entry(below)
        path.rmdir()


def _used(path: Path, day: int) -> None:
    os.utime(path, (day * DAY_S, day * DAY_S))


def _download(home: Home, name: str, day: int) -> None:
    (home.downloads / name).write_bytes(b"x" * 4 * KB)
    (home.downloads / f"{name}.sha512").write_bytes(b"x" * 4 * KB)
    _used(home.downloads / name, day)


def _install(home: Home, name: str, package: str, day: int) -> None:
    root = home.installs / name
    (root / "bin").mkdir(parents=True)
    for program in ("postgres", "initdb", "psql"):
        (root / "bin" / program).write_bytes(b"x" * 4 * KB)
    facts = {"version": "17.11", "package": package, "copy": 1, "identity": "i", "bin": "bin"}
    build = {"compiler": "cc", "configure": "", "cflags": ""}
    (root / "install.json").write_text(json.dumps({**facts, "build": build}))
    _used(root, day)


def _template(home: Home, name: str, day: int) -> None:
    (home.templates / name / "data").mkdir(parents=True)
    (home.templates / name / "data" / "1").write_bytes(b"x" * 28 * KB)
    (home.templates / name / "template.json").write_text(json.dumps({"bytes": 1, "rows_sha256": []}))
    _used(home.templates / name, day)


def test_everything_is_listed_and_what_was_used_longest_ago_comes_first(home: Home) -> None:
    found = find_holdings(home)

    assert [(one.kind, one.name, one.used.day) for one in found.of] == [
        (Kind.DOWNLOAD, "postgres-17.11.0.jar", 2),
        (Kind.INSTALL, "17.11.0-1", 3),
        (Kind.INSTALL, "17.11.0-2", 4),
        (Kind.BUILD, "build-0123456789abcdef-1", 5),
        (Kind.TEMPLATE, "17.11-pgbench-s1-l1-0123456789", 6),
        (Kind.TEMPLATE, "17.11-pgbench-s1-l2-0123456789", 7),
    ]
    assert found.of[0].bytes >= 8 * KB
    assert found.of[-1].bytes >= 28 * KB
    assert found.of[3].about == "source:18.1,with=llvm"


def test_what_was_used_longest_ago_goes_until_the_rest_fits(home: Home) -> None:
    found = find_holdings(home)
    first, second, third, *_ = found.of
    without_two = found.bytes - first.bytes - second.bytes

    assert beyond(found, found.bytes) == ()
    assert beyond(found, without_two) == (first, second)
    assert beyond(found, without_two - 1) == (first, second, third)
    assert beyond(found, 0) == found.of


def test_an_install_that_is_worked_with_is_the_last_to_go(home: Home) -> None:
    install = read_install(home.installs / "17.11.0-1")
    assert install is not None
    note_use(install, home)

    assert find_holdings(home).of[-1].name == "17.11.0-1"


def test_what_is_removed_is_gone_and_nothing_else(home: Home) -> None:
    found = find_holdings(home)
    for one in named(
        found, ["17.11.0-2", "17.11-pgbench-s1-l1-0123456789", "postgres-17.11.0.jar", "17.11.0-2"]
    ):
        remove(home, one)

    assert [one.name for one in find_holdings(home).of] == [
        "17.11.0-1", "build-0123456789abcdef-1", "17.11-pgbench-s1-l2-0123456789",
    ]  # fmt: skip
    assert not list(home.downloads.iterdir())


def test_what_pgverdict_did_not_make_is_neither_listed_nor_removed(home: Home, tmp_path: Path) -> None:
    strange = home.templates / "mine"
    strange.mkdir()
    (strange / "thesis.txt").write_text("years of work")
    (home.installs / "18.6.0-1").symlink_to(home.installs / "17.11.0-1")
    (home.downloads / "another.jar").write_text("not checked against anything")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "template.json").write_text('{"bytes": 1}')
    (home.templates / "linked").symlink_to(tmp_path / "elsewhere")

    with no_run_working(home):
        for one in find_holdings(home).of:
            remove(home, one)
    assert find_holdings(home).of == ()
    assert (strange / "thesis.txt").read_text() == "years of work"
    assert (home.installs / "18.6.0-1").is_symlink()
    assert (home.downloads / "another.jar").exists()
    assert (tmp_path / "elsewhere" / "template.json").exists()


def test_a_folder_that_cannot_be_made_so_small_is_left_as_it_is(
    home: Home, capsys: pytest.CaptureFixture[str]
) -> None:
    (home.cache / "film").write_bytes(b"x" * 64 * KB)
    try:
        assert run(["cache", "--keep", "8kB"]) == 1
    finally:
        (home.cache / "film").unlink()
    assert "hint: nothing was removed" in capsys.readouterr().err
    assert len(find_holdings(home).of) == 6


def test_a_name_that_is_not_there_offers_the_nearest(home: Home) -> None:
    with pytest.raises(UserError, match=r"unknown holding of the cache: 17\.11\.0-3") as caught:
        named(find_holdings(home), ["17.11.0-3"])
    assert caught.value.hint is not None
    assert "17.11.0-" in caught.value.hint


def test_nothing_goes_while_a_run_measures(home: Home) -> None:
    with measuring_alone(), pytest.raises(WorldError, match="another run is measuring"), no_run_working(home):
        pass
    with Workspace.create(home, server_account(), "busy"):
        with pytest.raises(WorldError, match=r"a run works with what .* holds: busy"), no_run_working(home):
            pass
        assert run(["cache", "--remove", "17.11.0-1"]) == 1
    assert (home.installs / "17.11.0-1").is_dir()


def test_the_command_lists_and_removes(home: Home, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["cache"]) == 0
    listed = capsys.readouterr().out.splitlines()
    assert listed[1].split()[:2] == ["install", "17.11.0-1"]
    assert listed[-1].startswith(f"{home.cache} takes ")

    assert run(["cache", "--remove", "17.11.0-1", "--keep", "1GB"]) == 0
    said = capsys.readouterr().out
    assert said.startswith("removed the install 17.11.0-1: ")
    assert "last used 1970-01-03 00:00" in said
    assert len(find_holdings(home).of) == 5


def test_a_folder_that_is_not_there_holds_nothing(tmp_path: Path) -> None:
    nothing = Home(tmp_path / "cache", tmp_path / "data")

    assert find_holdings(nothing) == Holdings((), 0)
