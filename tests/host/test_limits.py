"""Limits of containers, by either version of control groups."""

from pathlib import Path

from pgverdict.host.limits import CpuLimit, read_limits
from pgverdict.records.host import Level

from .recorded import advice_on, lay_out


def test_a_limit_of_version_2_is_read_from_the_containers_own_root(tmp_path: Path) -> None:
    limits = read_limits(lay_out("container-v2", tmp_path))

    assert limits.cpu == CpuLimit(1.5, 100, 12, "/sys/fs/cgroup/cpu.max")
    assert limits.memory is not None
    assert (limits.memory.bytes, limits.memory.used_bytes) == (2147483648, 2040109465)


def test_a_limit_of_version_1_is_read_though_the_path_is_the_hosts(tmp_path: Path) -> None:
    limits = read_limits(lay_out("container-v1", tmp_path))

    assert limits.cpu == CpuLimit(4.0, 100, None, "/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us")
    assert limits.memory is not None
    assert limits.memory.bytes == 8 << 30


def test_no_limit_says_so_in_either_version(tmp_path: Path) -> None:
    for machine in ("virtual", "laptop"):
        limits = read_limits(lay_out(machine, tmp_path / machine))
        assert (limits.cpu, limits.memory, limits.cpu_shown, limits.memory_shown) == (None, None, True, True)


def test_the_tightest_limit_on_the_way_up_applies(tmp_path: Path) -> None:
    outer, inner = (
        "sys__fs__cgroup__user.slice__",
        "sys__fs__cgroup__user.slice__user-1000.slice__session-2.scope__",
    )
    tree = lay_out(
        "laptop",
        tmp_path,
        **{
            f"{outer}cpu.max": "50000 100000",
            f"{inner}cpu.max": "200000 100000",
            f"{outer}memory.max": "1000000",
        },
    )

    limits = read_limits(tree)

    assert limits.cpu is not None
    assert (limits.cpu.cores, limits.cpu.path) == (0.5, "/sys/fs/cgroup/user.slice/cpu.max")
    assert limits.memory is not None
    assert limits.memory.bytes == 1_000_000


def test_a_limit_above_what_the_host_has_is_none(tmp_path: Path) -> None:
    path = "sys__fs__cgroup__memory.max"

    said = advice_on(lay_out("container-v2", tmp_path, **{path: str(1 << 40)}))["memory limit"]

    assert (said.level, said.diagnosis.found) == (Level.FINE, "none is shown below what the host has")


def test_a_memory_limit_that_is_nearly_used_up_is_a_warning(tmp_path: Path) -> None:
    near = advice_on(lay_out("container-v2", tmp_path / "near"))["memory limit"]
    far = advice_on(lay_out("container-v2", tmp_path / "far", **{"sys__fs__cgroup__memory.current": "1000"}))

    assert near.diagnosis.found == "2.1 GB, 2.0 GB of it in use"
    assert (near.level, far["memory limit"].level) == (Level.WARNING, Level.NOTE)


def test_how_often_the_time_was_used_up_is_told(tmp_path: Path) -> None:
    said = advice_on(lay_out("container-v2", tmp_path))["cpu limit"]

    assert said.diagnosis.found == "1.5 cores' time in every 100 ms, used up 12 times so far"
