"""Cgroups on a tree made of files, which stands still where a kernel would answer."""

from pathlib import Path

import pytest

from pgverdict.errors import WorldError
from pgverdict.servers import cgroups
from pgverdict.servers.cgroups import Cgroup, hierarchies, made_for, make_cgroup, obstacle, thaw_around
from pgverdict.servers.freeze import Means, choose_means
from pgverdict.servers.marked import mark
from pgverdict.spec.campaign import Freeze

from .fake_cgroups import FakeHost, fake_host


@pytest.fixture
def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeHost:
    return fake_host(tmp_path, monkeypatch)


def test_a_host_without_cgroups_offers_signals_only(host: FakeHost) -> None:
    with pytest.raises(WorldError) as caught:
        choose_means(Freeze.CGROUP, host.proc)

    assert caught.value.message == (
        "cannot freeze servers by cgroup: no cgroup v2 is mounted; no freezer of cgroup v1 is mounted"
    )
    assert "--freeze signal" in str(caught.value.hint)
    assert choose_means(Freeze.SIGNAL, host.proc) is Means.SIGNAL
    assert choose_means(Freeze.OFF, host.proc) is None


def test_version_2_is_taken_where_both_are(host: FakeHost) -> None:
    homes = [host.mount(1), host.mount(2)]

    assert choose_means(Freeze.CGROUP, host.proc) is Means.CGROUP_V2
    assert [path.name for home in homes for path in home.iterdir()] == ["cgroup.procs"] * 2, (
        "trials are removed"
    )


def test_version_1_serves_where_version_2_cannot_freeze(host: FakeHost) -> None:
    host.mount(1)
    home = host.mount(2)
    del host.answers[2]["cgroup.freeze"]

    assert obstacle(2, host.proc) == f"cgroups in {home} have no cgroup.freeze"
    assert choose_means(Freeze.CGROUP, host.proc) is Means.CGROUP_V1


def test_a_cgroup_that_may_not_be_made_is_named_with_the_reason(host: FakeHost) -> None:
    home = host.mount(2, inside="/user.slice/session")
    (home / "cgroup.procs").unlink()
    home.parent.joinpath("session").rmdir()

    assert obstacle(2, host.proc) == f"cannot make a cgroup in {home}: No such file or directory"


def test_mounts_of_a_part_of_the_tree_are_understood(host: FakeHost) -> None:
    home = host.mount(2, root="/docker/a", inside="/docker/a/b")
    host.process(7, "0::/docker/a/b/c (deleted)")
    host.process(8, "0::/elsewhere")
    (tree,) = hierarchies(host.proc)

    assert tree.cgroup_of(7, host.proc) == Cgroup(home / "c", 2)
    assert tree.cgroup_of(8, host.proc) is None
    assert tree.cgroup_of(9, host.proc) is None


def test_a_cgroup_is_found_again_from_the_marked_directory_it_was_made_for(
    host: FakeHost, tmp_path: Path
) -> None:
    host.mount(1, inside="/deep/down")
    run, other = tmp_path / "run", tmp_path / "other"
    for directory in (run, other):
        (directory / "slots").mkdir(parents=True)
        mark_empty(directory)
    mine = {make_cgroup(1, run / "slots" / name, host.proc) for name in "ab"}
    make_cgroup(1, other / "slots" / "a", host.proc)

    assert len(mine) == 2
    assert made_for(run, host.proc) == mine


def mark_empty(directory: Path) -> None:
    (directory / "slots").rename(directory.with_suffix(".slots"))
    mark(directory)
    directory.with_suffix(".slots").rename(directory / "slots")


def test_only_cgroups_of_ours_are_thawed(host: FakeHost) -> None:
    home = host.mount(1)
    for pid, name in ((7, f"{cgroups.MARK}x"), (8, "others")):
        (home / name).mkdir()
        (home / name / "freezer.state").write_text("FROZEN")
        host.process(pid, f"6:freezer:/{name}")

    assert thaw_around([7, 8, 9], host.proc) == {Cgroup(home / f"{cgroups.MARK}x", 1)}

    assert (home / "others" / "freezer.state").read_text() == "FROZEN"
    assert (home / f"{cgroups.MARK}x" / "freezer.state").read_text() == "THAWED"


def test_freezing_waits_for_the_kernels_word_and_gives_up(
    host: FakeHost, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    host.mount(2)
    group = make_cgroup(2, tmp_path / "data", host.proc)
    monkeypatch.setattr(cgroups, "_ANSWER_S", 0.0)

    with pytest.raises(WorldError, match="did not freeze within"):
        group.freeze()
    (group.path / "cgroup.events").write_text("populated 1\nfrozen 1\n")
    group.freeze()

    assert (group.path / "cgroup.freeze").read_text() == "1"


def test_a_cgroup_that_is_gone_counts_as_thawed_and_removed(host: FakeHost, tmp_path: Path) -> None:
    host.mount(2)
    group = make_cgroup(2, tmp_path / "data", host.proc)
    group.remove()

    group.thaw()
    with pytest.raises(WorldError, match=r"cannot write 1 to cgroup\.freeze of the cgroup"):
        group.freeze()


def test_a_cgroup_with_processes_is_not_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "inside").touch()
    monkeypatch.setattr(cgroups, "_REMOVE_S", 0.0)

    with pytest.raises(WorldError, match=f"cannot remove the cgroup {tmp_path}"):
        Cgroup(tmp_path, 2).remove()
