"""Where servers have their memory: asked of real ones, by what the kernel says of their maps."""

import resource
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from pgverdict.errors import WorldError
from pgverdict.plan.layout import MAP_PAGES, Layout
from pgverdict.servers import layout as under_test
from pgverdict.servers.install import Install
from pgverdict.servers.layout import STACK_BYTES_MIN, loader_of, obstacle
from pgverdict.servers.processes import as_owner, kill_all, running_in, state
from pgverdict.servers.server import Server

from .conftest import MakeServer

ONE, OTHER = Layout(160, 70_000), Layout(2_000, 1_234)


def places(make_server: MakeServer, install: Install, layout: Layout | None) -> dict[str, str]:
    """Where the code of a server lies, by file, and where its stack ends."""
    server = make_server(install)
    server.layout = layout
    found = {}
    with server, as_owner(server.pid):
        for line in Path(f"/proc/{server.pid}/maps").read_text().splitlines():
            fields = line.split(maxsplit=5)
            if len(fields) == 6 and "x" in fields[1] and fields[5].startswith("/"):
                found[Path(fields[5]).name] = fields[0]
        # Field 28 of proc_pid_stat(5): where the stack begins.
        found["stack"] = Path(f"/proc/{server.pid}/stat").read_text().rpartition(")")[2].split()[25]
    return found


def require_layouts(install: Install) -> None:
    """Containers may forbid personality(2), which a test cannot give itself."""
    if why := obstacle(install.postgres):
        pytest.skip(f"no layout can be chosen here: {why}")


@pytest.fixture
def laid_out_install(install: Install) -> Install:
    require_layouts(install)
    return install


def test_two_starts_with_one_layout_have_their_memory_at_the_same_places(
    make_server: MakeServer, laid_out_install: Install
) -> None:
    first = places(make_server, laid_out_install, ONE)

    assert {"postgres", "stack", "libc.so.6"} <= set(first)
    assert places(make_server, laid_out_install, ONE) == first


def test_another_layout_moves_code_libraries_and_the_stack(
    make_server: MakeServer, laid_out_install: Install
) -> None:
    one, other = (places(make_server, laid_out_install, layout) for layout in (ONE, OTHER))

    assert set(one) == set(other)
    assert [name for name in one if one[name] == other[name]] == []


def test_without_a_layout_the_kernel_draws(make_server: MakeServer, install: Install) -> None:
    randomizes = Path("/proc/sys/kernel/randomize_va_space").read_text().strip() != "0"
    first, second = (places(make_server, install, None) for _ in range(2))

    assert (first["postgres"] != second["postgres"]) is randomizes


@pytest.mark.parametrize("release", ["9.6", "17", "18"])
def test_a_server_with_a_layout_is_one_of_ours_and_ends_as_others_do(
    release: str, obtained: Callable[[str], Install], make_server: MakeServer
) -> None:
    install = obtained(release)
    require_layouts(install)
    server: Server = make_server(install)
    server.layout = ONE
    server.start()
    # The session by which the start was noticed may be about to end.
    overlooked = set(server.pids()) - set(running_in(server.data))
    assert [pid for pid in overlooked if state(pid) not in "XZ"] == []
    assert server.pid in running_in(server.data)
    with server.connect() as connection:
        assert connection.execute("SHOW max_stack_depth").fetchone() == ("2MB",)
    assert server.stop() == "fast"
    assert running_in(server.data) == []

    server.start()
    kill_all(server.data)
    assert running_in(server.data) == []
    assert server.stop() == "kill"


def test_this_process_keeps_its_limit(make_server: MakeServer, laid_out_install: Install) -> None:
    before = resource.getrlimit(resource.RLIMIT_STACK)
    places(make_server, laid_out_install, ONE)

    assert resource.getrlimit(resource.RLIMIT_STACK) == before


def test_the_loader_is_the_one_that_a_program_asks_for(tmp_path: Path) -> None:
    loader = loader_of(Path(sys.executable).resolve())
    assert loader is not None
    assert loader.exists()
    for content in (b"", b"#!/bin/sh\n", b"\x7fELF" + bytes(60)):
        program = tmp_path / f"program{len(content)}"
        program.write_bytes(content)
        assert loader_of(program) is None
        assert "loaded by nobody" in str(obstacle(program))


def test_a_host_that_forbids_large_stacks_or_fixed_addresses_is_an_obstacle(
    install: Install, monkeypatch: pytest.MonkeyPatch
) -> None:
    obstacle.cache_clear()
    most = STACK_BYTES_MIN + MAP_PAGES * resource.getpagesize()
    with monkeypatch.context() as patch:
        patch.setattr(resource, "getrlimit", lambda _: (8 << 20, most - 1))
        assert "a stack may not be larger than 1279 MB here" in str(obstacle(install.postgres))

    def forbidden() -> None:
        raise WorldError("cannot fix the addresses of new processes: Operation not permitted")

    obstacle.cache_clear()
    with monkeypatch.context() as patch:
        patch.setattr(under_test, "fixed_addresses", forbidden)
        assert "Operation not permitted" in str(obstacle(install.postgres))
    obstacle.cache_clear()


def test_a_program_that_some_loader_runs_in_a_directory_of_ours_is_no_server(
    scratch: Path, laid_out_install: Install
) -> None:
    loader = loader_of(laid_out_install.postgres)
    assert loader is not None
    other = subprocess.Popen([loader, "/bin/sleep", "60"], cwd=scratch)
    try:
        assert running_in(scratch) == []
    finally:
        other.send_signal(signal.SIGKILL)
        other.wait()
