"""Pages, swap, file systems and the disks below them."""

from pathlib import Path

import pytest

from pgverdict.host.advice import Change
from pgverdict.records.host import Level

from .recorded import GIB, advice_on, lay_out


def test_huge_pages_for_everybody_are_left_to_those_who_ask(tmp_path: Path) -> None:
    said = advice_on(lay_out("laptop", tmp_path))["transparent huge pages"]

    assert said.changes == (Change("/sys/kernel/mm/transparent_hugepage/enabled", "madvise"),)


def test_reserved_huge_pages_may_do_for_one_arm_only(tmp_path: Path) -> None:
    said = advice_on(lay_out("numa", tmp_path))["huge pages"]

    assert said.diagnosis.found == "8192 reserved, 8192 of them free"
    assert said.command == "pgverdict compare ... --set huge_pages=on"


@pytest.mark.parametrize(
    ("swappiness", "level"),
    [("60", Level.WARNING), ("11", Level.WARNING), ("10", Level.FINE), ("0", Level.FINE)],
)
def test_swappiness_matters_where_there_is_swap(swappiness: str, level: Level, tmp_path: Path) -> None:
    laptop = advice_on(lay_out("laptop", tmp_path / "laptop", proc__sys__vm__swappiness=swappiness))
    virtual = advice_on(lay_out("virtual", tmp_path / "virtual", proc__sys__vm__swappiness=swappiness))

    assert laptop["swappiness"].level is level
    assert virtual["swappiness"].level is Level.FINE


def test_swap_in_use_is_told(tmp_path: Path) -> None:
    assert advice_on(lay_out("laptop", tmp_path))["swappiness"].diagnosis.found == "60, with swap in use"


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("/var/cache", "btrfs on /dev/mapper/vg-root"),
        ("/data disk/pgverdict", "xfs on /dev/nvme0n1p3"),
        ("/database", "btrfs on /dev/mapper/vg-root"),
        ("/old/home", "ext4 on /dev/sda1"),
    ],
)
def test_a_directory_is_on_the_mount_nearest_above_it(path: str, found: str, tmp_path: Path) -> None:
    assert advice_on(lay_out("laptop", tmp_path), path)["file system"].diagnosis.found == found


@pytest.mark.parametrize(
    ("machine", "path", "found"),
    [
        ("laptop", "/var/cache", "nvme0n1: none"),
        ("laptop", "/data disk", "nvme0n1: none"),
        ("laptop", "/old", "sda: bfq"),
        ("numa", "/srv", "sdb: kyber, sdc: kyber"),
        ("numa", "/", "sda: mq-deadline"),
        ("virtual", "/", "vda: mq-deadline"),
    ],
)
def test_disks_are_found_below_parts_volumes_and_arrays(
    machine: str, path: str, found: str, tmp_path: Path
) -> None:
    assert advice_on(lay_out(machine, tmp_path), path)["i/o scheduler"].diagnosis.found == found


def test_a_scheduler_that_shares_out_is_exchanged_for_what_suits_the_disk(tmp_path: Path) -> None:
    rotating = advice_on(lay_out("laptop", tmp_path / "laptop"), "/old")["i/o scheduler"]
    flash = advice_on(lay_out("numa", tmp_path / "numa"), "/srv")["i/o scheduler"]

    assert rotating.changes == (Change("/sys/block/sda/queue/scheduler", "mq-deadline"),)
    assert (
        flash.command == "echo none | sudo tee /sys/block/sdb/queue/scheduler /sys/block/sdc/queue/scheduler"
    )


def test_the_cache_of_a_disk_is_never_changed_by_us(tmp_path: Path) -> None:
    laptop = advice_on(lay_out("laptop", tmp_path / "laptop"))["disk write cache"]
    virtual = advice_on(lay_out("virtual", tmp_path / "virtual"))["disk write cache"]

    assert (laptop.changes, virtual.changes) == ((), ())
    assert laptop.command == "sudo nvme set-feature /dev/nvme0n1 -f 6 -v 0"
    assert virtual.command == ""  # it is the host's


@pytest.mark.parametrize("options", ["rw,relatime", "rw,discard=async"])
def test_discard_at_leisure_is_fine(options: str, tmp_path: Path) -> None:
    mounts = f"27 1 254:0 / / {options} - ext4 /dev/vda rw"

    said = advice_on(lay_out("virtual", tmp_path, proc__self__mountinfo=mounts))

    assert said["discard"].level is Level.FINE


def test_discard_at_once_is_turned_off_where_the_data_is(tmp_path: Path) -> None:
    said = advice_on(lay_out("numa", tmp_path), "/srv/pgverdict")["discard"]

    assert said.command == "sudo mount -o remount,nodiscard /srv"
    assert said.changes == ()


@pytest.mark.parametrize("kind", ["tmpfs", "nfs4", "fuse.sshfs"])
def test_what_is_no_disk_of_this_host_is_warned_of(kind: str, tmp_path: Path) -> None:
    mounts = f"27 1 0:50 / / rw - {kind} somewhere rw"

    said = advice_on(lay_out("virtual", tmp_path, proc__self__mountinfo=mounts))

    assert said["file system"].level is Level.WARNING
    assert said["i/o scheduler"].level is Level.NOT_KNOWN


def test_what_nobody_here_knows_is_not_fine(tmp_path: Path) -> None:
    mounts = "27 1 254:0 / / rw - newfs /dev/vda rw"
    tree = lay_out(
        "virtual", tmp_path, proc__self__mountinfo=mounts, sys__block__vda__queue__scheduler="[clever] none"
    )

    said = advice_on(tree)

    assert said["file system"].level is said["i/o scheduler"].level is Level.NOT_KNOWN


@pytest.mark.parametrize(
    ("free", "level"), [(20 * GIB, Level.FINE), (9 * GIB, Level.NOTE), (GIB, Level.NOTE)]
)
def test_room_is_asked_for_before_there_is_none(free: int, level: Level, tmp_path: Path) -> None:
    assert advice_on(lay_out("virtual", tmp_path), free=free)["free space"].level is level
