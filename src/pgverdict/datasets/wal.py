"""A cluster's WAL in a directory of its own, as `initdb --waldir` would have made it."""

import os
from pathlib import Path

from pgverdict.datasets.copy import copy_data
from pgverdict.servers.control import wal_directory
from pgverdict.servers.marked import remove_tree


def move_wal(data: Path, target: Path) -> None:
    """Move the WAL of a stopped cluster to `target`, which must not exist, and leave a link in its place.

    The data directory and `target` are ours.
    """
    folder = wal_directory(data)
    owner = data.stat()
    copy_data(folder, target)
    remove_tree(folder)
    folder.symlink_to(target)
    os.lchown(folder, owner.st_uid, owner.st_gid)


def bring_wal_home(data: Path) -> None:
    """Undo that in a copy of a cluster: with the link it would write into the WAL of the cluster it was copied from."""
    folder = wal_directory(data)
    if folder.is_symlink():
        target = folder.resolve()
        folder.unlink()
        copy_data(target, folder)
