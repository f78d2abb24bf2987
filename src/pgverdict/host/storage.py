"""Where data directories will lie: the file system, the disk below it, and how writes reach it."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from pgverdict.host.advice import Advice, Change, fine, not_known, note, warning
from pgverdict.host.disk import Disk, Mount, find_disks, find_mount, room
from pgverdict.host.tree import Tree
from pgverdict.servers.space import show_bytes

_PLAIN = ("ext4", "xfs", "ext3", "ext2", "f2fs", "jfs")
_FLEETING = ("tmpfs", "ramfs")
_LAYERED = ("overlay", "aufs", "9p", "virtiofs", "nfs", "nfs4", "cifs", "smb3", "ceph", "fuse", "fuseblk")
_COPYING = ("btrfs", "zfs", "bcachefs")

_AS_THEY_COME = ("none", "noop", "mq-deadline", "deadline")
_BY_PROCESS = ("bfq", "cfq", "kyber")
"""Schedulers that share a disk out among processes, or hold requests back to keep latencies down."""

FREE_SHARE_MIN = 0.1
"""A rule of thumb: with less, file systems put files where there is room rather than in one piece."""

FREE_BYTES_MIN = 5_000_000_000
"""Three loads of scale 100, about."""


@dataclass(frozen=True)
class Storage:
    """Of one directory. None: not shown; a file system may lie on several disks, or on none."""

    path: str
    mount: Mount | None
    disks: tuple[Disk, ...]
    free_bytes: int
    total_bytes: int


def read_storage(
    tree: Tree, path: Path, statvfs: Callable[[Path], os.statvfs_result] = os.statvfs
) -> Storage:
    """Of a directory by its true path, which need not exist yet."""
    mount = find_mount(tree, path)
    free, total = room(path, statvfs)
    return Storage(str(path), mount, find_disks(tree, mount), free, total)


def check_file_system(facts: Storage) -> Advice:
    """Whether the file system behaves like one that a database would be put on."""
    check = "file system"
    if facts.mount is None:
        return not_known(check, f"/proc does not tell which one holds {facts.path}")
    kind = facts.mount.kind
    found = f"{kind} on {facts.mount.source}"
    move = "PGVERDICT_HOME=/a/directory/on/ext4/or/xfs pgverdict compare ..."
    if kind in _FLEETING:
        why = (
            "nothing on it is ever written to a disk, so what a commit, a checkpoint or a read from storage costs is"
            " missing on all arms: work that changes data looks cheaper than it is, and a difference in writing"
            " cannot be seen"
        )
        return warning(check, f"{kind}, which is memory", why, move)
    if kind in _LAYERED or kind.startswith("fuse."):
        why = (
            "between the server and the disk is another layer (a network, another system, the layers of a container),"
            " whose pauses come when they come and hit one slice and not its neighbour"
        )
        return warning(check, found, why, move)
    if kind in _COPYING:
        why = (
            "it never overwrites: files fall apart as they are written, and copies of a load share their blocks with"
            " it until they change. All arms pay alike, and more at the begin of a round than later"
        )
        return note(check, found, why, move)
    if kind not in _PLAIN:
        return not_known(check, f"{found}, of which nothing is known here")
    return fine(check, found)


def check_space(facts: Storage) -> Advice:
    """Whether there is room for data that lies in one piece."""
    check = "free space"
    share = facts.free_bytes / facts.total_bytes if facts.total_bytes else 0.0
    found = f"{show_bytes(facts.free_bytes)} of {show_bytes(facts.total_bytes)} below {facts.path}"
    if share >= FREE_SHARE_MIN and facts.free_bytes >= FREE_BYTES_MIN:
        return fine(check, found)
    why = (
        "in a full file system files lie in pieces, and every copy in others: reads and writes scatter from round to"
        " round. A run looks itself whether its datasets fit, and says so before it measures"
    )
    return note(check, found, why, "PGVERDICT_HOME=/a/larger/file/system pgverdict compare ...")


def check_discard(facts: Storage) -> Advice:
    """Whether deleted data keeps the disk busy while the next round works."""
    check = "discard"
    if facts.mount is None or not facts.disks:
        return not_known(check, "no disk is shown below the file system")
    at_once = {"discard", "discard=sync"} & set(facts.mount.options)
    if not at_once:
        return fine(check, "not at every deletion")
    why = (
        "the disk is told of every deleted file at once. Rounds on fresh copies delete what the round before them"
        " wrote, and the disk tidies up while the next ones write: whoever's slice it is, so it does not cancel pair"
        " by pair"
    )
    command = f"sudo mount -o remount,nodiscard {facts.mount.point}"
    return note(check, "at every deletion", why, command)


def check_write_cache(facts: Storage) -> Advice:
    """Whether the time of a flush depends on what was written before."""
    check = "disk write cache"
    caches = {disk.name: disk.write_cache for disk in facts.disks if disk.write_cache}
    if not caches:
        return not_known(check, "no disk is shown below the file system")
    flushed = [disk for disk in facts.disks if disk.write_cache == "write back"]
    found = ", ".join(f"{name}: {cache}" for name, cache in caches.items())
    if not flushed:
        return fine(check, found)
    why = (
        "the disk takes writes into its own memory and has to be told to empty it, at every commit. How long that"
        " takes depends on what is in it, also from the slice before, which the other arm worked in. Who is first is"
        " drawn, so it does not favour an arm; it makes commits scatter"
    )
    return note(check, found, why, " && ".join(c for disk in flushed if (c := disk.without_cache)))


def check_scheduler(facts: Storage) -> Advice:
    """Whether requests are served as they come, whoever sends them."""
    check = "i/o scheduler"
    known = [disk for disk in facts.disks if disk.scheduler is not None]
    if not known:
        return not_known(check, "no disk with a queue is shown below the file system")
    found = ", ".join(f"{disk.name}: {disk.scheduler}" for disk in known)
    wrong = [disk for disk in known if disk.scheduler in _BY_PROCESS]
    if not wrong:
        usual = all(disk.scheduler in _AS_THEY_COME for disk in known)
        return fine(check, found) if usual else not_known(check, f"{found}, of which nothing is known here")
    why = (
        "it serves processes in turn, or holds some back: how many processes a server writes with then decides about"
        " its share of the disk, and arms may differ in that (io workers, checkpointers). That is an effect of the"
        " scheduler"
    )
    changes = [Change(disk.scheduler_path, better) for disk in wrong if (better := disk.fair_scheduler)]
    return warning(check, found, why, changes=changes)
