"""What builds are asked before anything else is done with them."""

from pathlib import Path

import pytest

from pgverdict.servers.account import Account
from pgverdict.servers.cluster import create_cluster
from pgverdict.servers.home import Home
from pgverdict.servers.inspection import inspect
from pgverdict.servers.install import Install
from pgverdict.servers.server import Server


@pytest.fixture
def started() -> list[Path]:
    """The data directories of servers that were asked for."""
    return []


@pytest.fixture
def look(own_home: Home, scratch: Path, sockets: Path, account: Account, started: list[Path]):  # type: ignore[no-untyped-def]
    def launch(install: Install, data: Path) -> Server:
        started.append(data)
        return Server(install, data, sockets, {}, account)

    return lambda install: inspect(install, own_home, account, scratch, launch)


def test_a_build_tells_the_defaults_of_a_new_cluster(look, any_install: Install) -> None:  # type: ignore[no-untyped-def]
    known = look(any_install).settings
    new = any_install.major >= (12,)

    assert known["autovacuum_vacuum_cost_delay"].written == ("2ms" if new else "20ms")
    # initdb writes it, and what is built in differs from it before 15.
    assert known["shared_buffers"].written == "128MB"
    # Worked out when a server starts.
    assert known["wal_buffers"].written == "-1"
    assert known["data_checksums"].value == ("on" if any_install.major >= (18,) else "off")
    assert known["data_checksums"].settable
    for name in ("server_version", "block_size", "port", "shared_preload_libraries", "log_line_prefix"):
        assert not known[name].settable, name
    assert known["enable_seqscan"].value == "on"
    assert ("io_method" in known) == (any_install.major >= (18,))
    assert "debug_print_plan" in known
    assert not any("." in name for name in known)


def test_a_build_is_asked_once(look, install: Install, started: list[Path], own_home: Home) -> None:  # type: ignore[no-untyped-def]
    first = look(install)
    again = look(install)

    assert again == first
    assert len(started) == 1
    assert not started[0].exists()
    (kept,) = own_home.inspections.iterdir()
    kept.write_text(kept.read_text()[:1000])
    assert look(install) == first
    assert len(started) == 2


@pytest.mark.parametrize("wanted", ["on", "off"])
def test_page_checksums_are_as_they_were_asked_for_in_every_release(
    any_install: Install, scratch: Path, sockets: Path, account: Account, wanted: str
) -> None:
    data = scratch / "data"
    create_cluster(any_install, data, account, {"data_checksums": wanted, "work_mem": "8MB"})

    with (
        Server(any_install, data, sockets, {"data_checksums": wanted}, account) as server,
        server.connect() as connection,
    ):
        assert connection.execute("SHOW data_checksums").fetchone() == (wanted,)
