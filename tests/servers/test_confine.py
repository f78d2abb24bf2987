"""How a host confines servers, on cgroups made of files: version 2 as well as 1, which few hosts have both of."""

import errno
from pathlib import Path

import pytest

from pgverdict.errors import WorldError
from pgverdict.servers import cgroups
from pgverdict.servers.cgroups import Cgroup, made_for
from pgverdict.servers.confine import Confiner, find_confiner
from pgverdict.spec.confinement import Limits

from .fake_cgroups import FakeHost, fake_host

BOTH = Limits(memory_bytes=256 << 20, cores=(0, 1))


@pytest.fixture
def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeHost:
    return fake_host(tmp_path, monkeypatch)


def found(host: FakeHost, limits: Limits = BOTH) -> Confiner:
    confiner = find_confiner(limits, host.proc)
    assert confiner is not None
    return confiner


def said(group: Cgroup, *names: str) -> list[str]:
    return [(group.path / name).read_text() for name in names]


def mount_unified(host: FakeHost, *, inside: str = "/a/b", handed_down: str = "") -> list[Path]:
    """Version 2 with us two levels deep; the cgroups from ours to the root."""
    home = host.mount(2, inside=inside)
    around = [home, *list(home.parents)[:2]]
    for place in around:
        (place / "cgroup.procs").touch()
        (place / "cgroup.controllers").write_text("cpuset cpu memory\n")
        (place / "cgroup.subtree_control").write_text(handed_down)
    return around


def test_where_nothing_is_limited_nobody_confines(host: FakeHost) -> None:
    assert find_confiner(Limits(), host.proc) is None


def test_a_host_without_cgroups_says_so_before_anything_is_measured(host: FakeHost) -> None:
    with pytest.raises(WorldError) as caught:
        find_confiner(BOTH, host.proc)

    assert caught.value.message == (
        "cannot confine servers (--memory 256MB --cores 0-1): no cgroups with the controller memory and cpuset are"
        " mounted"
    )
    assert "leave out --memory 256MB --cores 0-1" in str(caught.value.hint)


def test_version_1_has_a_cgroup_in_the_tree_of_each_controller(host: FakeHost, tmp_path: Path) -> None:
    homes = [host.mount(1, controller=name, inside="/us") for name in ("memory", "cpuset")]
    (homes[1] / "cpuset.mems").write_text("0-1\n")
    confiner = found(host)

    confines = confiner.make(tmp_path / "data")

    memory, cores = (next(home.glob(f"{cgroups.MARK}*")) for home in homes)
    assert (
        said(Cgroup(memory, 1), "memory.limit_in_bytes", "memory.memsw.limit_in_bytes") == ["268435456"] * 2
    )
    assert said(Cgroup(cores, 1), "cpuset.mems", "cpuset.cpus") == ["0-1", "0-1"]
    assert confiner.cgroup(tmp_path / "data", 1) is None, "a freezer of version 1 is another tree"
    assert made_for(tmp_path / "data", host.proc) == {Cgroup(memory, 1), Cgroup(cores, 1)}
    assert (confines.memory_bytes_max(), confines.killed()) == (4096, 0)
    confines.remove()
    assert made_for(tmp_path / "data", host.proc) == set()


def test_without_accounts_of_swap_version_1_is_told_not_to_swap(host: FakeHost, tmp_path: Path) -> None:
    host.mount(1, controller="memory")
    del host.answers["memory"]["memory.memsw.limit_in_bytes"]
    found(host, Limits(memory_bytes=256 << 20)).make(tmp_path / "data")

    (group,) = made_for(tmp_path / "data", host.proc)
    assert said(group, "memory.limit_in_bytes", "memory.swappiness") == ["268435456", "0"]


def test_version_2_has_one_cgroup_where_controllers_are_handed_down(host: FakeHost, tmp_path: Path) -> None:
    around = mount_unified(host)
    (around[1] / "cgroup.subtree_control").write_text("memory cpuset")
    confiner = found(host)

    confines = confiner.make(tmp_path / "data")

    (group,) = made_for(tmp_path / "data", host.proc)
    assert group.path.parent == around[1], "not in ours, whose processes keep it from handing down"
    assert said(group, "memory.max", "memory.swap.max", "cpuset.cpus") == ["268435456", "0", "0-1"]
    assert (confines.memory_bytes_max(), confines.killed()) == (8192, 1)
    assert confiner.cgroup(tmp_path / "data", 2) == group, "whoever freezes the server does it there"
    confines.remove()
    assert not group.path.exists()


def test_version_2_is_told_to_hand_controllers_down_where_nobody_does(
    host: FakeHost, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    around = mount_unified(host, handed_down="pids\n")
    write_text = Path.write_text

    def refuse(path: Path, text: str) -> int:
        if path == around[0] / "cgroup.subtree_control":
            raise OSError(errno.EBUSY, "Device or resource busy")  # it has processes, as ours always has
        return write_text(path, text)

    monkeypatch.setattr(Path, "write_text", refuse)

    found(host).make(tmp_path / "data")

    (group,) = made_for(tmp_path / "data", host.proc)
    assert group.path.parent == around[1]
    assert said(Cgroup(around[1], 2), "cgroup.subtree_control") == ["+cpuset +memory"]
    assert said(Cgroup(around[2], 2), "cgroup.subtree_control") == ["pids\n"], "no more than is needed"


def test_every_place_that_was_tried_is_told_with_its_reason(host: FakeHost) -> None:
    around = mount_unified(host)
    for place in around:
        (place / "cgroup.controllers").write_text("cpu memory\n")

    with pytest.raises(WorldError) as caught:
        find_confiner(BOTH, host.proc)

    for place in around:
        assert f"{place} has no controller cpuset" in caught.value.message
    assert "--user --scope -p Delegate=yes" in str(caught.value.hint)


@pytest.mark.parametrize("version", [1, 2])
def test_a_limit_beyond_that_of_the_cgroup_around_us_is_refused(host: FakeHost, version: int) -> None:
    if version == 1:
        outer = host.mount(1, controller="memory", inside="/us").parent
    else:
        outer = mount_unified(host, handed_down="memory cpuset")[2]
    (outer / ("memory.limit_in_bytes" if version == 1 else "memory.max")).write_text(str(100 << 20))

    with pytest.raises(WorldError, match=f"the cgroup {outer} itself has no more than 100MB of memory"):
        find_confiner(Limits(memory_bytes=256 << 20), host.proc)


def test_cores_that_version_2_does_not_give_are_found_out(host: FakeHost) -> None:
    mount_unified(host, handed_down="memory cpuset")

    with pytest.raises(WorldError, match="allow it no cores but 0-1"):
        find_confiner(Limits(cores=(0, 1, 2)), host.proc)


def test_what_a_killed_server_left_does_not_limit_the_next(host: FakeHost, tmp_path: Path) -> None:
    host.mount(1, controller="memory")
    found(host, Limits(memory_bytes=64 << 20)).make(tmp_path / "data")
    found(host, Limits(memory_bytes=256 << 20)).make(tmp_path / "data")

    (group,) = made_for(tmp_path / "data", host.proc)
    assert said(group, "memory.limit_in_bytes") == ["268435456"]


def test_limits_that_fail_leave_no_cgroup(host: FakeHost) -> None:
    home = host.mount(1, controller="memory")
    host.mount(1, controller="cpuset")

    with pytest.raises(WorldError, match=r"cannot read cpuset\.mems of the cgroup"):
        find_confiner(BOTH, host.proc)

    assert list(home.glob(f"{cgroups.MARK}*")) == []
