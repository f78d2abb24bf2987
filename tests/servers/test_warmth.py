"""Memory is filled: whole, side by side, and told where it cannot be. Real servers."""

from collections.abc import Callable
from contextlib import ExitStack

import pytest

from pgverdict.conduct.warmth import prewarming
from pgverdict.errors import WorldError
from pgverdict.observe import views
from pgverdict.servers.install import Install
from pgverdict.servers.server import Server
from tests.e2e.cli import until

MakeServer = Callable[..., Server]
DATABASE = "postgres"


def _with_rows(server: Server) -> int:
    """A table that is on storage and not in shared buffers; how many pages it has."""
    with server, views.session(server, DATABASE) as connection:
        for extension in ("pg_prewarm", "pg_buffercache"):
            connection.execute(f"CREATE EXTENSION {extension}".encode())
        connection.execute("CREATE TABLE long AS SELECT generate_series(1, 100000)")
        row = connection.execute("SELECT pg_relation_size('long') / 8192").fetchone()
    assert row is not None
    return int(row[0])


def _pages_in_memory(server: Server) -> int:
    """How many pages of the table are in shared buffers; looking brings none in."""
    with views.session(server, DATABASE) as connection:
        row = connection.execute(
            "SELECT count(*) FROM pg_buffercache WHERE relfilenode = pg_relation_filenode('long') AND relforknumber = 0"
        ).fetchone()
    assert row is not None
    return int(row[0])


def test_all_servers_are_reading_before_the_first_is_waited_for(
    install: Install, make_server: MakeServer
) -> None:
    servers = [make_server(install) for _ in range(2)]
    pages = [_with_rows(server) for server in servers]
    with ExitStack() as stack:
        for server in servers:
            stack.enter_context(server)
        assert [_pages_in_memory(server) for server in servers] == [0, 0]
        with ExitStack() as reading:
            footprints = [reading.enter_context(prewarming(server, DATABASE)) for server in servers]
            until(
                lambda: [_pages_in_memory(server) for server in servers] == pages,
                seconds=30,
                what="both tables in memory",
            )
        assert all(one.data_bytes >= pages[0] * 8192 for one in footprints)


def test_a_server_that_cannot_read_is_told_in_its_own_words(
    install: Install, make_server: MakeServer
) -> None:
    server = make_server(install)
    _with_rows(server)
    with server:
        with views.session(server, DATABASE) as connection:
            row = connection.execute("SELECT pg_relation_filepath('long')").fetchone()
            assert row is not None
        (server.data / row[0]).rename(server.data / "elsewhere")
        with (
            pytest.raises(WorldError, match="does not exist for this relation"),
            prewarming(server, DATABASE),
        ):
            pass
