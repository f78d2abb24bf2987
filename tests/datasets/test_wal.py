"""A cluster's WAL in a directory of its own."""

from pathlib import Path

import pytest

from pgverdict.datasets.copy import copy_data
from pgverdict.datasets.wal import bring_wal_home, move_wal
from pgverdict.servers.marked import mark


@pytest.fixture(params=["pg_wal", "pg_xlog"])
def data(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A data directory with one segment of WAL, below a directory of ours."""
    mark(tmp_path)
    folder = tmp_path / "data" / str(request.param)
    folder.mkdir(parents=True)
    (folder / "000000010000000000000001").write_text("wal")
    return folder.parent


def wal_of(data: Path) -> Path:
    (folder,) = data.iterdir()
    return folder


def test_the_wal_lies_elsewhere_and_is_found_by_a_link(data: Path, tmp_path: Path) -> None:
    move_wal(data, tmp_path / "elsewhere")

    assert wal_of(data).is_symlink()
    assert wal_of(data).resolve() == tmp_path / "elsewhere"
    assert (tmp_path / "elsewhere" / "000000010000000000000001").read_text() == "wal"


def test_a_copy_of_such_a_cluster_can_be_given_a_wal_of_its_own(data: Path, tmp_path: Path) -> None:
    move_wal(data, tmp_path / "elsewhere")
    copy_data(data, tmp_path / "copy")

    bring_wal_home(tmp_path / "copy")

    own = wal_of(tmp_path / "copy")
    assert not own.is_symlink()
    (own / "000000010000000000000001").write_text("changed")
    assert (tmp_path / "elsewhere" / "000000010000000000000001").read_text() == "wal"


def test_a_cluster_with_its_wal_inside_stays_as_it_is(data: Path) -> None:
    bring_wal_home(data)

    assert not wal_of(data).is_symlink()
