"""How many copies of data are on disk at once, and what goes first."""

import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pgverdict.datasets.template import TemplateSpec, list_templates
from pgverdict.errors import WorldError
from pgverdict.run import copies as under_test
from pgverdict.run.copies import Copies
from pgverdict.servers.home import Home
from pgverdict.servers.marked import mark
from tests.run.test_execute import Silence


def _copy(directory: Path, name: str) -> Path:
    path = directory / name
    path.mkdir()
    (path / "base").write_text("rows")
    return path


@pytest.fixture
def place(tmp_path: Path) -> Path:
    mark(tmp_path)
    return tmp_path


def test_the_copy_used_longest_ago_goes_first_and_what_is_needed_stays(place: Path) -> None:
    copies = Copies(limit_bytes=30)
    a, b, c = (_copy(place, name) for name in "abc")
    for path in (a, b, c, a):
        copies.hold(path, 10)

    copies.make_room({c: 10, place / "d": 10}, Silence())

    assert [path.name for path in copies.held] == ["c", "a"]
    assert not b.exists()
    assert a.exists()


def test_a_single_cell_may_take_more_than_the_limit(place: Path) -> None:
    copies = Copies(limit_bytes=30)
    copies.hold(_copy(place, "a"), 10)

    copies.make_room({place / "large": 100}, Silence())

    assert copies.held == {}


def _template(home: Home, name: str, used: int) -> Path:
    path = home.templates / name
    path.mkdir(parents=True)
    (path / "template.json").write_text('{"bytes": 1000000}')
    os.utime(path, (used, used))
    return path


class Spec(TemplateSpec):
    """Of a template with that name, and nothing else."""

    name = "17-s1-l1-x"


def test_on_a_full_disk_copies_go_first_then_templates_of_others_the_oldest_first(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = Home(place, place)
    own, older, newer = (
        _template(home, name, used) for name, used in (("17-s1-l1-x", 1), ("17-s2-l1-x", 2), ("17-s3-l1-x", 3))
    )  # fmt: skip
    aged = _template(home, "17-s1-l1-x-aged-tpcb-like", 0)
    copies = Copies(limit_bytes=30)
    copies.hold(copy := _copy(place, "a"), 10)
    left = [3]  # it fits at the fourth look

    def require_room(*_: object) -> None:
        if left[0]:
            left[0] -= 1
            raise WorldError("not enough room")

    monkeypatch.setattr(under_test, "require_room", require_room)
    cell: Any = SimpleNamespace(makings=[[(None, object.__new__(Spec))]])
    listener = Silence()

    copies.require_room(cell, {}, (), home, listener)

    assert [path.exists() for path in (copy, older, newer, own, aged)] == [False, False, False, True, True]
    assert "removing the template 17-s2-l1-x to make room: 1.0 MB" in listener.noted[0]
    left[0] = 5
    with pytest.raises(WorldError, match="not enough room"):
        copies.require_room(cell, {}, (), home, listener)
    assert [one.name for one in list_templates(home)] == ["17-s1-l1-x-aged-tpcb-like", "17-s1-l1-x"]
