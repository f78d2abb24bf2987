"""From a directory to its mount, and from there to the disks that hold it."""

import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from pgverdict.host.tree import Tree, chosen, offered

_BLOCK = "/sys/block"


@dataclass(frozen=True)
class Mount:
    """A line of /proc/self/mountinfo. `device` is major:minor."""

    point: str
    kind: str
    source: str
    device: str
    options: tuple[str, ...]


@dataclass(frozen=True)
class Disk:
    """A whole disk, or what looks like one to this machine. None: not shown."""

    name: str
    scheduler: str | None
    schedulers: tuple[str, ...]
    write_cache: str | None
    rotational: bool

    @property
    def scheduler_path(self) -> str:
        return f"{_BLOCK}/{self.name}/queue/scheduler"

    @property
    def fair_scheduler(self) -> str | None:
        """The one that serves requests as they come, of those that there are: in order of place on what rotates."""
        wanted = ("mq-deadline", "none") if self.rotational else ("none", "mq-deadline")
        return next((name for name in wanted if name in self.schedulers), None)

    @property
    def without_cache(self) -> str:
        """The command that turns the cache of a real disk off; a virtual one has none of its own."""
        if self.name.startswith("nvme"):
            return f"sudo nvme set-feature /dev/{self.name} -f 6 -v 0"
        return f"sudo hdparm -W0 /dev/{self.name}" if self.name.startswith("sd") else ""


def find_mount(tree: Tree, path: Path) -> Mount | None:
    """The mount that holds a path: of the longest mount points above it, the last, which covers the others."""
    found: Mount | None = None
    for line in (tree.text("/proc/self/mountinfo") or "").splitlines():
        before, _, after = line.partition(" - ")
        fields, (kind, source, *more) = before.split(), after.split()
        point = re.sub(r"\\([0-7]{3})", lambda found: chr(int(found[1], 8)), fields[4])  # a blank is \040
        if path.is_relative_to(point) and (found is None or len(point) >= len(found.point)):
            options = (*fields[5].split(","), *",".join(more).split(","))
            found = Mount(point, kind, source, fields[2], options)
    return found


def find_disks(tree: Tree, mount: Mount | None) -> tuple[Disk, ...]:
    """The disks below a mount; below what is made of others (LVM, RAID, encryption), those."""
    if mount is None:
        return ()
    for name in tree.names(_BLOCK):
        if _is(tree, name, mount):
            return tuple(_disk(tree, leaf) for leaf in _leaves(tree, name))
    return ()


def room(path: Path, statvfs: Callable[[Path], os.statvfs_result] = os.statvfs) -> tuple[int, int]:
    """Bytes that are free for users in the file system of a path, which need not exist yet, and all it has."""
    place = next(step for step in (path, *path.parents) if step.exists())
    status = statvfs(place)
    return status.f_bavail * status.f_frsize, status.f_blocks * status.f_frsize


def _is(tree: Tree, name: str, mount: Mount) -> bool:
    """Whether the file system lies on that device, on a part of it, or says so by name (btrfs has its own numbers)."""
    block = f"{_BLOCK}/{name}"
    parts = [f"{block}/{part}" for part in tree.names(block, f"{name}*")]
    if mount.device in [tree.text(f"{place}/dev") for place in (block, *parts)]:
        return True
    source = mount.source.rpartition("/")[2]
    return mount.source.startswith("/dev/") and (
        source in (name, tree.text(f"{block}/dm/name")) or f"{block}/{source}" in parts
    )


def _leaves(tree: Tree, name: str) -> list[str]:
    below = tree.names(f"{_BLOCK}/{name}/slaves")
    if not below:
        return [name]
    return sorted({leaf for part in below for leaf in _leaves(tree, _whole_disk(tree, part))})


def _whole_disk(tree: Tree, name: str) -> str:
    """The disk of a partition; anything else is one already."""
    return next(
        (disk for disk in tree.names(_BLOCK) if tree.exists(f"{_BLOCK}/{disk}/{name}/partition")), name
    )


def _disk(tree: Tree, name: str) -> Disk:
    queue = f"{_BLOCK}/{name}/queue"
    scheduler = tree.text(f"{queue}/scheduler")
    return Disk(
        name=name,
        scheduler=chosen(scheduler),
        schedulers=offered(scheduler),
        write_cache=tree.text(f"{queue}/write_cache"),
        rotational=tree.number(f"{queue}/rotational") == 1,
    )
