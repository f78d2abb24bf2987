"""What a directory lies on, as the kernel says. The kernel's files are made up."""

import os
from pathlib import Path

import pytest

from pgverdict.observe.storage import disk_of
from pgverdict.spec.tuning import Disk


@pytest.fixture
def number(tmp_path: Path) -> str:
    device = tmp_path.stat().st_dev
    return f"{os.major(device)}:{os.minor(device)}"


@pytest.mark.parametrize(
    ("disk", "turns", "kind"), [("sda", "1", Disk.HDD), ("sda", "0", Disk.SSD), ("nvme0n1", "0", Disk.NVME)]
)
@pytest.mark.parametrize("partition", [True, False])
def test_the_disk_under_a_directory_is_known_by_its_queue(
    tmp_path: Path, number: str, disk: str, turns: str, kind: Disk, partition: bool
) -> None:
    block = tmp_path / "block"
    (block / disk / "queue").mkdir(parents=True)
    (block / disk / "queue" / "rotational").write_text(f"{turns}\n")
    (block / disk / "part1").mkdir()
    devices = tmp_path / "dev"
    devices.mkdir()
    (devices / number).symlink_to(block / disk / ("part1" if partition else ""))

    assert disk_of(tmp_path / "not" / "there" / "yet", devices) is kind


def test_a_directory_without_a_disk_of_its_own_is_on_none_that_is_known(tmp_path: Path) -> None:
    assert disk_of(tmp_path, tmp_path / "none") is None
    assert disk_of(Path("/proc")) is None
