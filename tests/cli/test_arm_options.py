"""Options that say what arms are, before anything of the world is looked at."""

from pathlib import Path

import pytest

from pgverdict.cli.arm_options import tuning_of, with_directories
from pgverdict.errors import UserError
from pgverdict.spec.arms import make_arms
from pgverdict.spec.tuning import Disk, Tuning, Use


def test_a_tuning_takes_from_the_host_what_was_not_said(tmp_path: Path) -> None:
    tuning = tuning_of(Use.WEB, None, None, Disk.SSD, data=tmp_path)

    assert tuning is not None
    assert tuning.memory_bytes > 0
    assert tuning.cores >= 1


def test_a_tuning_that_was_said_in_full_is_that(tmp_path: Path) -> None:
    tuning = tuning_of(Use.DW, "4GB", 2, Disk.SAN, data=tmp_path)

    assert tuning == Tuning(Use.DW, 4 << 30, 2, Disk.SAN)
    assert tuning_of(None, None, None, None, data=tmp_path) is None


def test_a_disk_that_the_host_does_not_know_is_asked_for() -> None:
    with pytest.raises(UserError, match="cannot tell what kind of disk /proc lies on") as caught:
        tuning_of(Use.DW, "4GB", 2, None, data=Path("/proc"))

    assert caught.value.hint == "say it: --tune-disk ssd|hdd|san|nvme"


def test_what_to_tune_with_is_nothing_without_what_for(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="nothing is tuned: --tune-memory, --tune-disk") as caught:
        tuning_of(None, "4GB", None, Disk.SSD, data=tmp_path)

    assert caught.value.hint == "say for what: --tune oltp|web|dw|mixed|desktop"


def test_directories_go_to_the_arms_they_were_named_for(tmp_path: Path) -> None:
    arms = with_directories(make_arms(("17", "17", "18")), [f"17#2:{tmp_path}"], [f"candidate:{tmp_path}"])

    assert [arm.data_directory for arm in arms] == [None, str(tmp_path), None]
    assert [arm.wal_directory for arm in arms] == [None, str(tmp_path), str(tmp_path)]


@pytest.mark.parametrize(
    ("said", "complaint"),
    [
        (["/tmp"], "not an arm and the full path"),
        (["candidate:tmp"], "not an arm and the full path"),
        (["candidat:/tmp"], "unknown arm in --data-directory: candidat"),
        (["candidate:/no/such/place"], "no such directory for --data-directory: /no/such/place"),
        (["candidate:/tmp", "18:/tmp"], "two directories for one arm in --data-directory: 18"),
    ],
)
def test_a_directory_that_cannot_be_an_arms_is_refused(said: list[str], complaint: str) -> None:
    with pytest.raises(UserError, match=complaint):
        with_directories(make_arms(("17", "18")), said, [])
