"""Copies of data directories, several side by side."""

from pathlib import Path

import pytest

from pgverdict.datasets.copy import copy_at_once, copy_data, settle
from pgverdict.errors import WorldError


def a_tree(path: Path, text: str) -> Path:
    (path / "base" / "1").mkdir(parents=True)
    (path / "base" / "1" / "1259").write_text(text)
    path.chmod(0o700)
    return path


def test_a_copy_has_the_files_and_the_modes(tmp_path: Path) -> None:
    copy_data(a_tree(tmp_path / "one", "rows"), tmp_path / "copy")

    assert (tmp_path / "copy" / "base" / "1" / "1259").read_text() == "rows"
    assert (tmp_path / "copy").stat().st_mode & 0o777 == 0o700
    settle(tmp_path)


def test_several_are_copied_each_from_its_own(tmp_path: Path) -> None:
    sources = [a_tree(tmp_path / name, name) for name in ("one", "two", "three")]

    copy_at_once((source, tmp_path / f"copy of {source.name}") for source in sources)

    for source in sources:
        assert (tmp_path / f"copy of {source.name}" / "base" / "1" / "1259").read_text() == source.name


def test_one_that_cannot_be_copied_is_named_with_what_cp_said(tmp_path: Path) -> None:
    there, missing = a_tree(tmp_path / "one", "rows"), tmp_path / "none"

    with pytest.raises(WorldError, match=f"cannot copy {missing} to .*: No such file or directory"):
        copy_at_once([(there, tmp_path / "copy"), (missing, tmp_path / "other")])
