"""What the doctor says of whole machines: one that we have, and four that we do not."""

from pathlib import Path

import pytest

from pgverdict.errors import WorldError
from pgverdict.host.tree import Tree
from pgverdict.records.host import Level

from .recorded import MACHINES, advice_on, lay_out

FINE, NOTE, WARNING, NOT_KNOWN = Level.FINE, Level.NOTE, Level.WARNING, Level.NOT_KNOWN

SAID = {
    "virtual": {
        "cpu governor": NOT_KNOWN, "turbo": NOT_KNOWN, "smt": NOT_KNOWN, "numa nodes": FINE, "numa balancing": FINE,
        "transparent huge pages": FINE, "huge pages": FINE, "swappiness": FINE, "overcommit": FINE,
        "clock source": FINE, "mitigations": NOTE, "perf access": FINE, "file system": FINE, "free space": FINE,
        "discard": NOTE, "disk write cache": NOTE, "i/o scheduler": FINE, "cpu limit": FINE, "memory limit": FINE,
        "memory layout": FINE,
    },
    "laptop": {
        "cpu governor": WARNING, "turbo": NOTE, "smt": NOTE, "numa nodes": FINE, "numa balancing": FINE,
        "transparent huge pages": WARNING, "huge pages": FINE, "swappiness": WARNING, "overcommit": FINE,
        "clock source": FINE, "mitigations": NOTE, "perf access": NOTE, "file system": NOTE, "free space": FINE,
        "discard": FINE, "disk write cache": NOTE, "i/o scheduler": FINE, "cpu limit": FINE, "memory limit": FINE,
        "memory layout": FINE,
    },
    "numa": {
        "cpu governor": FINE, "turbo": FINE, "smt": FINE, "numa nodes": WARNING, "numa balancing": WARNING,
        "transparent huge pages": FINE, "huge pages": WARNING, "swappiness": FINE, "overcommit": NOTE,
        "clock source": WARNING, "mitigations": FINE, "perf access": FINE, "file system": FINE, "free space": FINE,
        "discard": FINE, "disk write cache": FINE, "i/o scheduler": FINE, "cpu limit": FINE,
        "memory limit": NOT_KNOWN,
        "memory layout": FINE,
    },
    "container-v1": {
        "cpu governor": NOT_KNOWN, "turbo": NOT_KNOWN, "smt": NOT_KNOWN, "numa nodes": NOT_KNOWN,
        "numa balancing": NOT_KNOWN, "transparent huge pages": NOT_KNOWN, "huge pages": NOT_KNOWN,
        "swappiness": NOT_KNOWN, "overcommit": NOT_KNOWN, "clock source": NOT_KNOWN, "mitigations": NOT_KNOWN,
        "perf access": NOT_KNOWN, "file system": WARNING, "free space": FINE, "discard": NOT_KNOWN,
        "disk write cache": NOT_KNOWN, "i/o scheduler": NOT_KNOWN, "cpu limit": WARNING, "memory limit": NOTE,
        "memory layout": FINE,
    },
    "container-v2": {
        "cpu governor": NOT_KNOWN, "turbo": NOT_KNOWN, "smt": NOT_KNOWN, "numa nodes": NOT_KNOWN,
        "numa balancing": NOT_KNOWN, "transparent huge pages": NOT_KNOWN, "huge pages": NOT_KNOWN,
        "swappiness": NOT_KNOWN, "overcommit": NOT_KNOWN, "clock source": NOT_KNOWN, "mitigations": NOT_KNOWN,
        "perf access": FINE, "file system": WARNING, "free space": FINE, "discard": NOT_KNOWN,
        "disk write cache": NOT_KNOWN, "i/o scheduler": NOT_KNOWN, "cpu limit": WARNING, "memory limit": WARNING,
        "memory layout": FINE,
    },
}  # fmt: skip


@pytest.mark.parametrize("machine", MACHINES)
def test_every_machine_is_judged_by_what_it_shows(machine: str, tmp_path: Path) -> None:
    said = advice_on(lay_out(machine, tmp_path))

    assert {check: one.level for check, one in said.items()} == SAID[machine]


def test_a_machine_that_shows_nothing_is_fine_in_nothing_it_could_show(tmp_path: Path) -> None:
    (tmp_path / "proc").mkdir()
    (tmp_path / "proc" / "stat").write_text("cpu  1 0 1 1 0 0 0 0\n")

    said = advice_on(Tree(tmp_path))

    # What is left is asked of the system itself, by statvfs and personality(2).
    assert {check for check, one in said.items() if one.level is not NOT_KNOWN} == {
        "free space",
        "memory layout",
    }


@pytest.mark.parametrize("machine", MACHINES)
def test_whatever_is_not_fine_says_why_it_matters_and_what_to_do(machine: str, tmp_path: Path) -> None:
    for check, one in advice_on(lay_out(machine, tmp_path)).items():
        if one.level in (NOTE, WARNING):
            assert len(one.why) > 80, check
            assert one.command or check == "disk write cache", check
        if one.level is FINE:
            assert (one.why, one.command, one.changes) == ("", "", ()), check


@pytest.mark.parametrize("machine", MACHINES)
def test_only_files_of_the_kernel_are_ever_changed(machine: str, tmp_path: Path) -> None:
    for one in advice_on(lay_out(machine, tmp_path)).values():
        for change in one.changes:
            assert change.path.startswith(("/sys/", "/proc/sys/"))
            assert change.path in one.command or change.path.startswith("/proc/sys/")


def test_a_place_without_proc_cannot_be_looked_at(tmp_path: Path) -> None:
    with pytest.raises(WorldError, match="cannot look at this host: no proc/stat below") as caught:
        Tree(tmp_path)
    assert caught.value.hint == "this takes Linux with /proc mounted"


def test_this_very_host_can_be_looked_at() -> None:
    said = advice_on(Tree())

    assert set(said) == set(SAID["virtual"])
