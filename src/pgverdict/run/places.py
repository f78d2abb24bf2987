"""Where an arm's data and WAL lie while it is measured, if the user named directories for them.

In a directory of the user's a run makes one of its own, and never touches anything beside it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pgverdict.datasets.wal import move_wal
from pgverdict.host.disk import find_mount
from pgverdict.host.tree import Tree
from pgverdict.run.site import Site
from pgverdict.servers.facts import Facts
from pgverdict.servers.home import Home
from pgverdict.servers.marked import remove_tree
from pgverdict.spec.arms import Arm


@dataclass(frozen=True)
class Place:
    """Directories of ours for one arm, made in the user's; None where the user named none."""

    name: str
    data: Path | None
    wal: Path | None

    def slots(self, count: int) -> tuple[Path, ...]:
        """The arm's own slots, which hold its data in rounds; none if it has those that all arms share."""
        return () if self.data is None else tuple(self.data / f"slot{number}" for number in range(count))

    def wal_slots(self, count: int) -> tuple[Path, ...]:
        """The same for its WAL."""
        return () if self.wal is None else tuple(self.wal / f"slot{number}" for number in range(count))


def make_places(arms: Sequence[Arm], site: Site) -> tuple[Place, ...]:
    """Per arm. WorldError if servers cannot get there."""
    return tuple(
        Place(
            f"arm{number}",
            _make(arm.data_directory, f"arm{number}-data", "--data-directory", len(arms), site),
            _make(arm.wal_directory, f"arm{number}-wal", "--wal-directory", len(arms), site),
        )
        for number, arm in enumerate(arms)
    )


def file_systems(arms: Sequence[Arm], number: int, home: Home, tree: Tree | None = None) -> Facts:
    """On what an arm's data and WAL lie, as facts; none where no arm has a directory that the user named."""
    if all(arm.data_directory is None and arm.wal_directory is None for arm in arms):
        return ()
    data = arms[number].data_directory or str(home.cache)
    places = {"data_file_system": data, "wal_file_system": arms[number].wal_directory or data}
    mounts = {name: find_mount(tree or Tree(), Path(place).resolve()) for name, place in places.items()}
    return tuple((name, f"{mount.kind} on {mount.source}") for name, mount in mounts.items() if mount)


def _make(directory: str | None, name: str, option: str, slots: int, site: Site) -> Path | None:
    if directory is None:
        return None
    site.account.require_reach(Path(directory), option)
    own = site.workspace.place_in(Path(directory)) / name
    for path in (own, *(own / f"slot{number}" for number in range(slots))):
        site.account.make_directory(path)
    return own


def put_wal(data: Path, place: Place, name: str) -> None:
    """Move the WAL of a copy that rounds work on in place to the arm's own directory, where it has one."""
    if place.wal is not None:
        target = place.wal / name
        remove_tree(target)
        move_wal(data, target)
