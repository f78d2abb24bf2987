"""On which file systems arms lay, where the user named directories for them."""

import dataclasses
from pathlib import Path

from pgverdict.host.tree import Tree
from pgverdict.records.run import ArmFacts
from pgverdict.report.differences import differences_of
from pgverdict.run.places import file_systems
from pgverdict.servers.home import Home
from pgverdict.spec.arms import make_arms

MOUNTS = """21 1 8:1 / / rw - ext4 /dev/sda1 rw
22 21 8:17 / /mnt/hdd rw - xfs /dev/sdb1 rw
"""


def test_the_file_systems_of_all_arms_are_known_where_one_has_a_directory_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "proc/self").mkdir(parents=True)
    (tmp_path / "proc/self/mountinfo").write_text(MOUNTS)
    (tmp_path / "proc/stat").write_text("cpu 0 0 0 0")
    tree, home = Tree(tmp_path), Home(Path("/nowhere/cache"), Path("/nowhere/data"))
    first, second = make_arms(("17", "18"))
    assert file_systems((first, second), 0, home, tree) == ()

    arms = (first, dataclasses.replace(second, data_directory="/mnt/hdd", wal_directory="/nowhere/else"))
    found = [file_systems(arms, number, home, tree) for number in (0, 1)]

    ssd, hdd = "ext4 on /dev/sda1", "xfs on /dev/sdb1"
    assert found[0] == (("data_file_system", ssd), ("wal_file_system", ssd))
    assert found[1] == (("data_file_system", hdd), ("wal_file_system", ssd))
    facts = [
        ArmFacts(arm.name, arm.role, arm.server, "17.1", told, ())
        for arm, told in zip(arms, found, strict=True)
    ]
    named = {(one.area, one.name): one.values for one in differences_of(facts, arms)}
    assert named["directory", "file system of data"] == (ssd, hdd)
    assert ("directory", "file system of WAL") not in named
