"""Reading the control file, and keeping no more WAL than needed."""

from pathlib import Path

import pytest

from pgverdict.errors import WorldError
from pgverdict.servers.control import SHUT_DOWN, read_control, trim_wal, wal_directory
from pgverdict.servers.install import Install
from pgverdict.servers.server import Server

from .conftest import MakeServer


def segments(server: Server) -> list[Path]:
    return sorted(path for path in wal_directory(server.data).iterdir() if len(path.name) == 24)


def write_wal(server: Server, times: int = 6) -> None:
    switch = "pg_switch_wal" if server.install.major >= (10,) else "pg_switch_xlog"
    with server.connect() as connection:
        for number in range(times):
            connection.execute(f"CREATE TABLE t{number} AS SELECT 1".encode())
            connection.execute(f"SELECT {switch}()".encode())
        connection.execute("CHECKPOINT")


def test_the_control_file_says_what_the_server_says(any_install: Install, make_server: MakeServer) -> None:
    server = make_server(any_install)
    with server, server.connect() as connection:
        write_wal(server)
        said = connection.execute(
            "SELECT s.system_identifier, s.pg_control_version, s.catalog_version_no, c.timeline_id, "
            "  c.redo_{0} - '0/0'::pg_lsn, c.checkpoint_{0} - '0/0'::pg_lsn "
            "FROM pg_control_system() s, pg_control_checkpoint() c".format(
                "lsn" if any_install.major >= (10,) else "location"
            ).encode()
        ).fetchone()
        control = read_control(server.data)
        read = (
            control.system_identifier,
            control.version,
            control.catalog_version,
            control.timeline,
            control.redo,
            control.checkpoint,
        )
        assert read == said
        assert control.state_name == "in production"

    control = read_control(server.data)
    assert (control.state, control.state_name) == (SHUT_DOWN, "shut down")
    assert control.wal_segment_bytes == segments(server)[0].stat().st_size == 16 << 20


def test_a_trimmed_cluster_is_small_and_starts(any_install: Install, make_server: MakeServer) -> None:
    server = make_server(any_install)
    with server:
        write_wal(server)
    before = len(segments(server))

    freed = trim_wal(server.data)

    assert before > 3
    assert len(segments(server)) <= 2
    assert freed == (before - len(segments(server))) * (16 << 20)
    with server, server.connect() as connection:
        connection.execute("CREATE TABLE after_trim AS SELECT 1 AS one")
        assert connection.execute("SELECT one FROM after_trim").fetchone() == (1,)
    with server, server.connect() as connection:
        assert connection.execute("SELECT one FROM after_trim").fetchone() == (1,)


def test_a_cluster_that_was_not_cleanly_stopped_is_not_trimmed(
    any_install: Install, make_server: MakeServer
) -> None:
    server = make_server(any_install)
    server.start()
    write_wal(server)
    server.stop("immediate")
    before = segments(server)

    with pytest.raises(WorldError, match=r"unclean cluster: .* is in production"):
        trim_wal(server.data)

    assert segments(server) == before


def test_a_running_cluster_is_not_trimmed(install: Install, borrow_server: MakeServer) -> None:
    server = borrow_server(install)
    with server, pytest.raises(WorldError, match="running server"):
        trim_wal(server.data)


def test_a_cluster_that_lacks_its_wal_is_not_trimmed(install: Install, make_server: MakeServer) -> None:
    server = make_server(install)
    for path in segments(server):
        path.rename(path.with_name("F" * 24))

    with pytest.raises(WorldError, match="is missing"):
        trim_wal(server.data)

    assert (wal_directory(server.data) / ("F" * 24)).exists()


def test_what_is_no_control_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "global").mkdir()
    (tmp_path / "global" / "pg_control").write_bytes(bytes(8192))

    with pytest.raises(WorldError, match="not a control file"):
        read_control(tmp_path)
