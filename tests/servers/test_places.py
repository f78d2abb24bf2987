"""Directories of the user's in which a run makes one of its own."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from pgverdict.errors import WorldError
from pgverdict.servers.account import Account
from pgverdict.servers.home import Home
from pgverdict.servers.marked import is_marked
from pgverdict.servers.workspace import Workspace, sweep


@pytest.fixture
def users(scratch: Path) -> Iterator[Path]:
    """A directory of the user's with a file in it."""
    place = scratch.parent / f"{scratch.name}-of-the-user"
    place.mkdir()
    (place / "letter").write_text("dear")
    yield place
    (place / "letter").unlink()
    place.rmdir()  # fails if anything of ours stayed


def test_a_run_works_in_a_directory_of_its_own_and_takes_only_that_away(
    own_home: Home, account: Account, users: Path
) -> None:
    with Workspace.create(own_home, account) as workspace:
        place = workspace.place_in(users)
        assert place.parent == users
        assert is_marked(place)
        assert workspace.place_in(users) == place
        (place / "data").mkdir()

    assert [path.name for path in users.iterdir()] == ["letter"]


def test_what_a_killed_run_left_in_a_directory_of_the_user_is_found_and_removed(
    own_home: Home, account: Account, users: Path
) -> None:
    workspace = Workspace.create(own_home, account)
    place = workspace.place_in(users)
    (place / "data").write_bytes(bytes(10_000))
    workspace.supervisor.close()
    workspace._lock.close()  # as the kernel does it for a process that is gone

    (said,) = sweep(own_home)

    assert "found the remains of run" in said
    assert [path.name for path in users.iterdir()] == ["letter"]


def test_a_kill_before_the_mark_leaves_an_empty_directory_that_is_removed(
    own_home: Home, account: Account, users: Path
) -> None:
    workspace = Workspace.create(own_home, account)
    place = users / f"pgverdict-{workspace.name}"
    facts = workspace.path / "workspace.json"
    facts.write_text(json.dumps({**json.loads(facts.read_text()), "places": [str(place)]}))
    place.mkdir()
    workspace.supervisor.close()
    workspace._lock.close()

    sweep(own_home)

    assert not place.exists()


def test_a_directory_that_somebody_else_filled_is_never_removed(
    own_home: Home, account: Account, users: Path
) -> None:
    workspace = Workspace.create(own_home, account)
    facts = workspace.path / "workspace.json"
    facts.write_text(json.dumps({**json.loads(facts.read_text()), "places": [str(users)]}))
    workspace.supervisor.close()
    workspace._lock.close()

    (said,) = sweep(own_home)

    assert "which stay: will not delete what is not marked" in said
    assert (users / "letter").exists()


def test_a_directory_in_which_nothing_can_be_made_is_named(
    own_home: Home, account: Account, users: Path
) -> None:
    with (
        Workspace.create(own_home, account) as workspace,
        pytest.raises(WorldError, match=r"cannot make a directory in .*letter"),
    ):
        workspace.place_in(users / "letter")
