"""Where things are kept, and that nothing else is ever deleted."""

import errno
import os
import shutil
from pathlib import Path

import pytest

from pgverdict.errors import WorldError
from pgverdict.servers.account import Account
from pgverdict.servers.home import Home
from pgverdict.servers.marked import MARKER, mark, remove_tree
from pgverdict.servers.space import require_space
from pgverdict.servers.workspace import Workspace, sweep


def test_one_variable_moves_everything() -> None:
    home = Home.find({"PGVERDICT_HOME": "/srv/bench", "XDG_CACHE_HOME": "/elsewhere"})

    assert (home.cache, home.data) == (Path("/srv/bench/cache"), Path("/srv/bench/data"))


def test_root_keeps_things_where_servers_can_reach_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)

    home = Home.find({"HOME": "/root", "XDG_CACHE_HOME": "/root/.cache"})

    assert (home.cache, home.data) == (Path("/var/cache/pgverdict"), Path("/var/lib/pgverdict"))


def test_users_keep_things_where_the_xdg_rules_say(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)

    plain = Home.find({"HOME": "/home/ada"})
    moved = Home.find({"HOME": "/home/ada", "XDG_CACHE_HOME": "/fast", "XDG_DATA_HOME": "not/absolute"})

    assert (plain.cache, plain.data) == (
        Path("/home/ada/.cache/pgverdict"),
        Path("/home/ada/.local/share/pgverdict"),
    )
    assert (moved.cache, moved.data) == (
        Path("/fast/pgverdict"),
        Path("/home/ada/.local/share/pgverdict"),
    )


def test_a_home_is_made_and_marked(scratch: Path, account: Account) -> None:
    home = Home(scratch / "new" / "cache", scratch / "new" / "data")

    home.ensure(account)
    home.ensure(account)

    assert (home.cache / MARKER).is_file()
    assert (home.data / MARKER).is_file()
    assert all(folder.is_dir() for folder in (home.downloads, home.installs, home.templates, home.runs))


def test_a_directory_of_somebody_elses_is_not_taken_over(scratch: Path, account: Account) -> None:
    (scratch / "cache").mkdir()
    (scratch / "cache" / "thesis.tex").touch()

    with pytest.raises(WorldError, match="did not make and that is not empty"):
        Home(scratch / "cache", scratch / "data").ensure(account)


def test_a_place_that_cannot_be_written_is_named(account: Account) -> None:
    with pytest.raises(WorldError, match="/proc/nowhere") as caught:
        Home(Path("/proc/nowhere/cache"), Path("/proc/nowhere/data")).ensure(account)

    assert "PGVERDICT_HOME" in (caught.value.hint or "")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A tree that is not ours, with something in it."""
    (tmp_path / "tree" / "deep").mkdir(parents=True)
    (tmp_path / "tree" / "deep" / "file").write_text("x" * 10_000)
    return tmp_path / "tree"


def test_only_marked_trees_are_deleted(tree: Path) -> None:
    with pytest.raises(WorldError, match="not marked"):
        remove_tree(tree)

    assert (tree / "deep" / "file").exists()


def test_a_marked_tree_is_deleted_and_measured(tmp_path: Path) -> None:
    ours = tmp_path / "ours"
    ours.mkdir()
    mark(ours)
    (ours / "file").write_bytes(b"x" * 100_000)

    assert remove_tree(ours) >= 100_000
    assert not ours.exists()
    assert remove_tree(ours) == 0


def test_a_part_of_a_marked_tree_is_deleted(tree: Path) -> None:
    (tree / MARKER).touch()

    remove_tree(tree / "deep")

    assert sorted(path.name for path in tree.iterdir()) == [MARKER]


def test_the_way_out_of_a_marked_tree_is_no_way_in(tree: Path, tmp_path: Path) -> None:
    ours = tmp_path / "ours"
    ours.mkdir()
    mark(ours)

    with pytest.raises(WorldError, match="not marked"):
        remove_tree(ours / ".." / "tree")

    assert tree.exists()


def test_links_are_not_followed(tree: Path, tmp_path: Path) -> None:
    ours = tmp_path / "ours"
    ours.mkdir()
    mark(ours)
    (ours / "link").symlink_to(tree)

    with pytest.raises(WorldError, match="symbolic link"):
        remove_tree(ours / "link")
    with pytest.raises(WorldError, match="symbolic link"):
        remove_tree(ours / "link" / "deep")
    remove_tree(ours)

    assert (tree / "deep" / "file").exists()


def test_a_marker_that_is_a_link_marks_nothing(tree: Path) -> None:
    (tree / MARKER).symlink_to("/etc/passwd")

    with pytest.raises(WorldError, match="not marked"):
        remove_tree(tree)


def test_a_marker_of_another_user_marks_nothing(tree: Path, account: Account) -> None:
    if account.is_self:
        pytest.skip("only root can make a file for somebody else")
    (tree / MARKER).touch()
    account.give(tree / MARKER)

    with pytest.raises(WorldError, match="not marked"):
        remove_tree(tree)


def test_room_is_asked_for_beforehand(tmp_path: Path) -> None:
    require_space(tmp_path / "not" / "there" / "yet", 1, "a test")

    with pytest.raises(WorldError, match=r"not enough room for a copy in .*: needs 9000000 TB, free are \d"):
        require_space(tmp_path, 9 * 10**18, "a copy")


def test_a_home_behind_a_link_is_used_where_it_really_is(
    scratch: Path, account: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    (scratch / "big").mkdir()
    (scratch / "link").symlink_to(scratch / "big")

    home = Home.find({"PGVERDICT_HOME": str(scratch / "link")})
    home.ensure(account)
    with Workspace.create(home, account) as workspace:
        assert workspace.path.is_relative_to(scratch / "big" / "cache")
    assert sweep(home) == []

    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert Home.find({"HOME": str(scratch), "XDG_CACHE_HOME": str(scratch / "link")}).cache == (
        scratch / "big" / "pgverdict"
    )


def test_a_home_below_a_closed_directory_is_named(account: Account, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: Path) -> bool:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))

    monkeypatch.setattr(Path, "exists", refuse)

    with pytest.raises(WorldError, match="cannot make /closed/home/cache: Permission denied"):
        Home(Path("/closed/home/cache"), Path("/closed/home/data")).ensure(account)


def test_the_marker_is_deleted_last(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """So that what is left of a deletion that was killed is still known as ours."""
    ours = tmp_path / "ours"
    (ours / "deep").mkdir(parents=True)
    (ours / MARKER).touch()
    unlinked: list[str] = []
    rmtree = shutil.rmtree

    def note(path: Path) -> None:
        unlinked.append(path.name)
        assert (ours / MARKER).exists()
        rmtree(path)

    monkeypatch.setattr(shutil, "rmtree", note)
    remove_tree(ours)

    assert unlinked == ["deep", "ours"]


def test_what_cannot_be_deleted_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mark(tmp_path)
    (tmp_path / "stuck").mkdir()

    def refuse(path: Path) -> None:
        raise OSError(errno.EBUSY, os.strerror(errno.EBUSY), str(path))

    monkeypatch.setattr(shutil, "rmtree", refuse)

    with pytest.raises(WorldError, match=r"cannot delete .*stuck: Device or resource busy"):
        remove_tree(tmp_path / "stuck")
