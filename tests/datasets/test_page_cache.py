"""Data directories leave the page cache, and nothing else does."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from pgverdict.datasets import page_cache
from pgverdict.datasets.copy import copy_data
from pgverdict.datasets.page_cache import RESIDENT_BYTES_MAX, bring_in, evict, locked, resident_bytes
from pgverdict.errors import WorldError
from tests.homes import home_for_tests

FILE_BYTES = 5_000_123


@pytest.fixture
def on_disk() -> Iterator[Path]:
    """Beside the servers' data: where pytest puts its own may be a file system in memory."""
    home_for_tests().mkdir(mode=0o755, parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=home_for_tests()) as place:
        yield Path(place)


def a_tree(path: Path) -> Path:
    (path / "base" / "5").mkdir(parents=True)
    (path / "base" / "5" / "16384").write_bytes(bytes(FILE_BYTES))
    (path / "base" / "5" / "empty").touch()
    (path / "pg_wal").symlink_to(path.parent)
    return path


def test_what_was_written_is_in_the_page_cache_until_it_is_evicted(on_disk: Path) -> None:
    tree, other = a_tree(on_disk / "one"), a_tree(on_disk / "other")
    assert resident_bytes(tree) >= FILE_BYTES

    assert evict(tree) <= RESIDENT_BYTES_MAX

    assert resident_bytes(tree) <= RESIDENT_BYTES_MAX
    assert resident_bytes(other) >= FILE_BYTES, "only what was asked for goes"


def test_a_copy_is_evicted_although_it_was_only_just_made(on_disk: Path) -> None:
    copy_data(a_tree(on_disk / "one"), on_disk / "copy")

    evict(on_disk / "copy")

    assert resident_bytes(on_disk / "copy") <= RESIDENT_BYTES_MAX
    assert (on_disk / "copy" / "base" / "5" / "16384").read_bytes() == bytes(FILE_BYTES)


def test_what_is_locked_stays_until_it_is_locked_no_longer(on_disk: Path) -> None:
    tree = a_tree(on_disk / "one")
    evict(tree)

    with locked(tree / "base") as is_locked:
        assert is_locked, "five megabytes may be locked by anybody"
        assert resident_bytes(tree) >= FILE_BYTES
        with pytest.raises(WorldError, match="bytes remain"):
            evict(tree)

    assert evict(tree) <= RESIDENT_BYTES_MAX


def test_what_may_not_be_locked_is_left_as_it_is(on_disk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tree = a_tree(on_disk / "one")
    monkeypatch.setattr(page_cache._libc, "mlock", lambda *_: -1)

    with locked(tree / "base") as is_locked:
        assert not is_locked
        assert evict(tree) <= RESIDENT_BYTES_MAX


def test_what_was_evicted_is_brought_in_again(on_disk: Path) -> None:
    tree = a_tree(on_disk / "one")
    evict(tree)

    bring_in(path for path in (tree / "base" / "5").iterdir())

    assert resident_bytes(tree) >= FILE_BYTES


def test_a_file_system_in_memory_is_told_from_one_on_a_disk() -> None:
    with tempfile.TemporaryDirectory(dir="/dev/shm") as place:
        tree = a_tree(Path(place) / "one")

        with pytest.raises(
            WorldError, match=f"cannot empty the page cache of {tree}: [0-9]+ bytes remain"
        ) as caught:
            evict(tree)
    assert "PGVERDICT_HOME" in (caught.value.hint or "")
