"""What a directory lies on, as the kernel says."""

import os
from pathlib import Path

from pgverdict.spec.tuning import Disk


def disk_of(directory: Path, devices: Path = Path("/sys/dev/block")) -> Disk | None:
    """The kind of disk below a directory, or below the nearest one above it that exists; None if that is not known.

    Network and memory file systems have no device of their own, and some (btrfs, overlay) do not show theirs.
    """
    there = next(step for step in (directory, *directory.parents) if step.exists())
    number = there.stat().st_dev
    device = (devices / f"{os.major(number)}:{os.minor(number)}").resolve()
    for place in (device, device.parent):  # a partition asks the disk it is on
        try:
            turns = (place / "queue" / "rotational").read_text().strip()
        except OSError:
            continue
        if place.name.startswith("nvme"):
            return Disk.NVME
        return Disk.HDD if turns == "1" else Disk.SSD
    return None
