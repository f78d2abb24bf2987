"""Servers start, stop, fail and are found."""

import contextlib
import errno
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from pgverdict.errors import WorldError
from pgverdict.servers import processes
from pgverdict.servers.account import Account
from pgverdict.servers.cluster import create_cluster
from pgverdict.servers.install import Install
from pgverdict.servers.server import Server

from .conftest import MakeServer


def parents(pids: list[int]) -> list[int]:
    """Of those that are still there: some children of a server live for moments."""
    found = []
    for pid in pids:
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            found.append(int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1]))
    return found


def wait_until(condition: Callable[[], bool], timeout_s: float) -> None:
    begin = time.monotonic()
    while not condition():
        assert time.monotonic() - begin < timeout_s, "did not happen in time"
        time.sleep(0.01)


def state(pid: int) -> str:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


def test_a_server_of_every_release_starts_works_and_stops(
    any_install: Install, borrow_server: MakeServer
) -> None:
    server = borrow_server(any_install)

    start_ms = server.start()
    with server.connect() as connection:
        answer = connection.execute("SELECT split_part(version(), ' ', 2), current_user").fetchone()
    stopped = server.stop()

    assert answer == (any_install.version, "postgres")
    assert 1 < start_ms < 30_000
    assert stopped == "fast"
    assert processes.running_in(server.data) == []


def test_a_cluster_is_as_shipped_but_for_its_locale(
    any_install: Install, scratch: Path, sockets: Path, account: Account
) -> None:
    create_cluster(any_install, scratch / "new", account)

    with Server(any_install, scratch / "new", sockets, {}, account) as server, server.connect() as connection:
        shown = connection.execute(
            "SELECT current_setting('data_checksums'), pg_encoding_to_char(encoding), datcollate "
            "FROM pg_database WHERE datname = 'postgres'"
        ).fetchone()

    assert shown == ("on" if any_install.major == (18,) else "off", "UTF8", "C")


def test_processes_are_the_postmaster_and_its_children_of_this_moment(
    any_install: Install, borrow_server: MakeServer
) -> None:
    with borrow_server(any_install) as server:
        before = server.pids()
        with server.connect() as connection:
            backend = connection.info.backend_pid
            during = server.pids()

            assert backend not in before
            assert backend in during
            assert during[0] == server.pid
            assert set(parents(during[1:])) == {server.pid}
            wait_until(lambda: sorted(server.pids()) == processes.running_in(server.data), 5)


def test_children_are_found_also_where_the_kernel_does_not_list_them(
    install: Install, borrow_server: MakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    with borrow_server(install) as server:
        read_bytes = Path.read_bytes

        def hide(path: Path) -> bytes:
            if path.name == "children":
                raise FileNotFoundError(path)
            return read_bytes(path)

        def is_listed_alike() -> bool:
            # The backend that answered the start may be ending between the two looks.
            listed = processes.children_of(server.pid)
            with monkeypatch.context() as hidden:
                hidden.setattr(Path, "read_bytes", hide)
                return processes.children_of(server.pid) == sorted(listed)

        wait_until(is_listed_alike, 5)


def test_a_frozen_server_can_be_stopped(any_install: Install, borrow_server: MakeServer) -> None:
    server = borrow_server(any_install)
    server.start()
    processes.send(server.pids(), signal.SIGSTOP, server.data)
    wait_until(lambda: state(server.pid) == "T", 5)

    assert server.stop() == "fast"


def test_a_stop_that_takes_too_long_gets_harder(install: Install, make_server: MakeServer) -> None:
    server = make_server(install)
    server.start()
    with server.connect() as connection:
        connection.execute("CREATE TABLE t AS SELECT generate_series(1, 100000)")  # something to write out

    stopped = server.stop("fast", deadline_s=0.0)

    assert stopped == "immediate"


def test_a_stop_can_be_immediate_or_deadly(install: Install, make_server: MakeServer) -> None:
    server = make_server(install)

    server.start()
    assert server.stop("immediate") == "immediate"
    server.start()
    shared = shared_memory(server)
    assert server.stop("kill") == "kill"
    assert shared
    assert not any(path.exists() for path in shared)
    assert processes.running_in(server.data) == []


def shared_memory(server: Server) -> list[Path]:
    maps = Path(f"/proc/{server.pid}/maps").read_text()
    return [Path(word) for word in set(maps.split()) if word.startswith("/dev/shm/PostgreSQL.")]


def test_a_server_that_was_asked_to_end_is_stopped_as_it_was_asked(
    install: Install, make_server: MakeServer
) -> None:
    for mode in ("fast", "immediate"):
        server = make_server(install)
        server.start()
        postmaster = server.pid
        server.ask_to_end(mode)
        wait_until(lambda: processes.wait_end(postmaster, 0), 10)  # noqa: B023
        assert server.stop(mode) == mode

        said = "aborting any active transactions" if mode == "fast" else "immediate shutdown"
        assert said in server.log_tail(50)
        server.ask_to_end(mode)  # of nobody: nothing


def test_stopping_a_server_that_crashed_says_so(install: Install, make_server: MakeServer) -> None:
    server = make_server(install)
    server.start()
    shared = shared_memory(server)
    os.kill(server.pid, signal.SIGKILL)
    processes.wait_end(server.pid, 5)
    wait_until(lambda: not processes.running_in(server.data), 5)

    assert server.stop() == "kill"
    assert not any(path.exists() for path in shared)


def test_a_server_starts_again_after_it_was_killed(any_install: Install, make_server: MakeServer) -> None:
    server = make_server(any_install)
    server.start()
    with server.connect() as connection:
        connection.execute("CREATE TABLE kept AS SELECT 1 AS one")
    server.stop("kill")
    assert (server.data / "postmaster.pid").exists()

    with server, server.connect() as connection:
        assert connection.execute("SELECT one FROM kept").fetchone() == (1,)


def test_stale_locks_whose_process_id_is_in_use_again_are_no_obstacle(
    any_install: Install, borrow_server: MakeServer
) -> None:
    """PostgreSQL alone would refuse: the id in its lock files now belongs to another server of the account."""
    server, other = borrow_server(any_install), borrow_server(any_install)
    with other:
        lock = f"{other.pid}\n{server.data}\n1700000000\n5432\n{server.socket_directory}\n"
        (server.data / "postmaster.pid").write_text(lock)
        (server.socket_directory / ".s.PGSQL.5432.lock").write_text(lock)
        (server.socket_directory / ".s.PGSQL.5432").touch()

        server.start()
        assert server.stop() == "fast"


def test_a_second_server_on_the_same_data_is_refused(
    install: Install, borrow_server: MakeServer, sockets: Path, account: Account
) -> None:
    with borrow_server(install) as server:
        second = Server(install, server.data, sockets, {}, account)

        with pytest.raises(
            WorldError, match=f"a server is running in {server.data} already: process {server.pid}"
        ):
            second.start()

        with server.connect() as connection:
            connection.execute("SELECT 1")


def test_a_socket_that_another_server_holds_is_refused(install: Install, borrow_server: MakeServer) -> None:
    first, second = borrow_server(install), borrow_server(install)
    second.socket_directory = first.socket_directory
    with first, pytest.raises(WorldError, match=f"another server holds the socket .* in {first.data}"):
        second.start()


def test_a_long_socket_path_is_refused_before_the_start(install: Install, borrow_server: MakeServer) -> None:
    server = borrow_server(install)
    fits = 107 - len("/.s.PGSQL.5432")
    server.socket_directory = Path("/tmp/".ljust(fits + 1, "x"))

    with pytest.raises(WorldError, match="has 108 bytes, and 107 is the most") as caught:
        server.start()

    assert "PGVERDICT_SOCKETS" in (caught.value.hint or "")
    assert not server.log.exists()


def test_the_longest_socket_path_works(
    install: Install, borrow_server: MakeServer, sockets: Path, account: Account
) -> None:
    server = borrow_server(install)
    fits = 107 - len("/.s.PGSQL.5432")
    server.socket_directory = Path(f"{sockets}/".ljust(fits, "x"))
    account.make_directory(server.socket_directory)

    with server, server.connect() as connection:
        connection.execute("SELECT 1")


def test_a_directory_with_odd_characters_works(
    install: Install, borrow_server: MakeServer, sockets: Path, account: Account
) -> None:
    server = borrow_server(install)
    server.socket_directory = sockets / 'it\'s "odd" \\ \u00e9'
    account.make_directory(server.socket_directory)

    with server, server.connect() as connection:
        connection.execute("SELECT 1")


def test_a_socket_path_with_a_comma_is_refused(install: Install, borrow_server: MakeServer) -> None:
    server = borrow_server(install)
    server.socket_directory = Path("/tmp/a,b")

    with pytest.raises(WorldError, match="comma"):
        server.start()


def test_a_broken_cluster_is_told_in_the_servers_own_words(
    any_install: Install, make_server: MakeServer
) -> None:
    server = make_server(any_install)
    (server.data / "PG_VERSION").write_text("8.4\n")

    with pytest.raises(WorldError, match=r"database files are incompatible with server.*version 8\.4"):
        server.start()

    assert processes.running_in(server.data) == []


def test_a_server_that_never_answers_is_given_up(install: Install, make_server: MakeServer) -> None:
    server = make_server(install)
    create_recovery_that_never_ends(server)

    with pytest.raises(WorldError, match="did not accept connections in time"):
        server.start(deadline_s=0.5)

    assert processes.running_in(server.data) == []


def create_recovery_that_never_ends(server: Server) -> None:
    """A standby without a primary and without hot standby waits for WAL for ever."""
    (server.data / "standby.signal").touch()
    server.settings = {"hot_standby": "off", "restore_command": "false"}


def test_the_users_environment_does_not_reach_server_or_connection(
    install: Install, borrow_server: MakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PGOPTIONS", "-c work_mem=77MB")
    monkeypatch.setenv("PGDATA", "/nonexistent")
    monkeypatch.setenv("PGPORT", "1")
    with borrow_server(install) as server, server.connect() as connection:
        assert connection.execute("SELECT current_setting('work_mem')").fetchone() == ("4MB",)
        assert b"PGOPTIONS" not in Path(f"/proc/{server.pid}/environ").read_bytes()


def test_the_log_shows_what_the_latest_start_said(install: Install, borrow_server: MakeServer) -> None:
    server = borrow_server(install)
    with server, server.connect() as connection:
        connection.execute("DO $$ BEGIN RAISE LOG 'first life'; END $$")
    with server:
        assert "first life" not in server.log_tail(100)
        assert len(server.log_tail(1).splitlines()) == 1
    assert "first life" in server.log.read_text()


def test_the_end_of_the_log_is_whole_lines_of_the_latest_start(
    install: Install, borrow_server: MakeServer
) -> None:
    server = borrow_server(install)
    assert server.log_end(1000) == ""
    with server:
        pass
    with server:
        pass
    whole = server.log_end(100_000)
    lines = whole.splitlines(keepends=True)

    assert len(server.log.read_text()) > len(whole)
    assert "starting PostgreSQL" in lines[0]
    assert "database system is shut down" in lines[-1]
    two = len(lines[-1]) + len(lines[-2])
    assert server.log_end(two) == "".join(lines[-2:])
    assert server.log_end(two - 1) == lines[-1]
    # Of a line that is longer than what is wanted, its end.
    assert server.log_end(10) == whole[-10:]


def test_signals_reach_only_processes_of_the_directory(
    install: Install, borrow_server: MakeServer, scratch: Path
) -> None:
    with borrow_server(install) as server, subprocess.Popen(["sleep", "60"], cwd=server.data) as stranger:
        processes.send([stranger.pid, server.pid], signal.SIGKILL, scratch / "elsewhere")
        processes.send([stranger.pid], signal.SIGKILL, server.data)

        assert stranger.poll() is None
        assert state(server.pid) != "Z"
        stranger.kill()


def test_root_without_the_right_to_trace_still_finds_its_servers(
    install: Install, borrow_server: MakeServer
) -> None:
    """Which is what root in a container is."""
    if os.geteuid() != 0:
        pytest.skip("only root's servers belong to another user")
    program = (
        "import sys; from pathlib import Path; from pgverdict.servers.processes import running_in; "
        "print(running_in(Path(sys.argv[1])))"
    )
    with borrow_server(install) as server:
        found = subprocess.run(
            ["setpriv", "--bounding-set=-sys_ptrace", sys.executable, "-c", program, str(server.data)],
            env={"PYTHONPATH": str(Path(processes.__file__).parents[2])},
            capture_output=True,
            text=True,
            check=True,
        )
        assert found.stdout.strip() == str(sorted(server.pids()))


def test_a_kernel_without_process_handles_will_do(
    install: Install, borrow_server: MakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_: int) -> int:
        raise OSError(errno.ENOSYS, "pidfd_open")

    monkeypatch.setattr(os, "pidfd_open", refuse)
    server = borrow_server(install)
    server.start()
    processes.send(server.pids(), signal.SIGSTOP, server.data)

    assert server.stop() == "fast"
    assert processes.running_in(server.data) == []


def test_waiting_for_a_process_ends_with_it() -> None:
    with subprocess.Popen(["sleep", "60"]) as sleeper:
        assert not processes.wait_end(sleeper.pid, 0.01)
        sleeper.kill()
        begin = time.monotonic()
        assert processes.wait_end(sleeper.pid, 30)
        assert time.monotonic() - begin < 10
