"""A server is slowed down by as much as it was told, says so itself, and is refused otherwise."""

import time
from pathlib import Path

import pytest

from pgverdict.errors import WorldError
from pgverdict.servers import handicap
from pgverdict.servers.account import Account
from pgverdict.servers.handicap import (
    Handicap,
    HandicapCounts,
    check_counts,
    find_library,
    make_counts,
    place_library,
    read_counts,
)
from pgverdict.servers.install import Install
from pgverdict.servers.server import Server

from .conftest import MakeServer
from .leaving import await_leaving

QUERIES = 40


def _ask(server: Server) -> tuple[HandicapCounts, float]:
    """What the handicap did for so many queries, and the seconds they took."""
    with server.connect() as connection:
        await_leaving(connection)
        before = server.handicap_counts()
        begin = time.monotonic()
        for _ in range(QUERIES):
            connection.execute("SELECT 1", prepare=False)  # which would be a message of its own
        took_s = time.monotonic() - begin
        after = server.handicap_counts()
    assert before is not None
    assert after is not None
    return after.since(before), took_s


def test_a_server_of_every_release_spins_for_every_message(
    any_install: Install, make_server: MakeServer, scratch: Path
) -> None:
    server = make_server(any_install)
    server.handicap = Handicap(place_library(scratch), 1_000_000)

    with server:
        done, took_s = _ask(server)

    assert done.messages == QUERIES
    assert done.spun_ns >= done.messages * 1_000_000
    assert took_s >= QUERIES * 0.001


def test_an_arm_without_a_handicap_beside_one_that_has_it_only_counts(
    install: Install, make_server: MakeServer, scratch: Path
) -> None:
    server = make_server(install)
    server.handicap = Handicap(place_library(scratch), 0)

    with server:
        done, _ = _ask(server)

    assert done.messages == QUERIES
    assert done.spun_ns == 0


def test_a_server_without_the_library_is_refused(
    install: Install, make_server: MakeServer, scratch: Path
) -> None:
    server = make_server(install)
    server.handicap = Handicap(scratch / "not-there.so", 500)

    with pytest.raises(WorldError, match="did not load the library that slows it down by 500 ns"):
        server.start()


def test_a_library_that_cannot_do_its_work_ends_the_server(
    install: Install, make_server: MakeServer, scratch: Path
) -> None:
    class Broken(Handicap):
        def environment(self, counts: Path) -> dict[str, str]:
            return super().environment(counts) | {"PGVERDICT_HANDICAP_NS": "much"}

    server = make_server(install)
    server.handicap = Broken(place_library(scratch), 500)

    with pytest.raises(WorldError, match="PGVERDICT_HANDICAP_NS is not a number: much"):
        server.start()


def test_arms_have_environments_of_one_size(scratch: Path) -> None:
    sizes = {
        len(str(Handicap(scratch / "library", ns).environment(scratch / "counts"))) for ns in (0, 7, 10**9)
    }

    assert len(sizes) == 1


def test_a_file_of_counts_that_nobody_wrote_says_that_nothing_was_loaded(
    scratch: Path, account: Account
) -> None:
    assert read_counts(make_counts(scratch, account)) is None


def test_counts_that_fit_are_taken() -> None:
    assert check_counts(HandicapCounts(10, 5_100), 500, whom="arm a") == HandicapCounts(10, 5_100)
    assert check_counts(HandicapCounts(10, 0), 0, whom="arm a") == HandicapCounts(10, 0)


@pytest.mark.parametrize(
    ("done", "ns", "said"),
    [
        (None, 500, "did not load"),
        (HandicapCounts(0, 0), 500, "received none"),
        (HandicapCounts(0, 0), 0, "received none"),
        (HandicapCounts(10, 0), 500, "spun 0 ns for 10"),
        (HandicapCounts(10, 4_999), 500, "spun 4999 ns for 10"),
        (HandicapCounts(10, 1), 0, "spun 1 ns for 10"),
    ],
)
def test_a_handicap_is_never_assumed(done: HandicapCounts | None, ns: int, said: str) -> None:
    with pytest.raises(WorldError, match=f"arm a .*{said}"):
        check_counts(done, ns, whom="arm a")


def test_the_error_lists_every_place_that_was_searched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PGVERDICT_ENGINE", str(tmp_path / "engine"))
    monkeypatch.setattr(handicap, "NAME", "libno.so")

    with pytest.raises(WorldError, match=f"searched {tmp_path}/libno.so, .*target/release/libno.so"):
        find_library()
