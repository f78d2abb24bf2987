"""Requests to end: the first is heard, further ones do not spoil the clean-up."""

import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pgverdict.servers import interruption, processes
from pgverdict.servers.account import Account
from pgverdict.servers.home import Home
from pgverdict.servers.install import Install
from pgverdict.servers.interruption import shield
from pgverdict.servers.marked import mark, remove_tree
from pgverdict.servers.server import Server
from pgverdict.servers.workspace import Workspace, sweep

from .conftest import MakeServer

REQUESTS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@pytest.fixture
def met(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Requests to end are met as in the program."""
    before = {number: signal.getsignal(number) for number in REQUESTS}
    for name, value in (("_asked_at", None), ("_held", False), ("_said", False)):
        monkeypatch.setattr(interruption, name, value)
    for number in REQUESTS:
        signal.signal(number, signal.SIG_DFL)
    interruption.install()
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.usefixtures("met")
@pytest.mark.parametrize("number", REQUESTS)
def test_the_first_request_interrupts_and_further_ones_do_not(
    number: signal.Signals, capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(number)
    assert capfd.readouterr().err == ""

    signal.raise_signal(number)
    signal.raise_signal(signal.SIGINT)

    assert capfd.readouterr().err == "stopping; a moment\n"


@pytest.mark.usefixtures("met")
def test_a_request_that_was_lost_can_be_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)
    monkeypatch.setattr(interruption, "PATIENCE_S", 0.0)

    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)


@pytest.mark.usefixtures("met")
def test_a_request_whose_interrupt_python_dropped_is_heeded_where_work_begins(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Finalized:
        def __del__(self) -> None:
            signal.raise_signal(signal.SIGTERM)

    dropped: list[Any] = []
    monkeypatch.setattr("sys.unraisablehook", dropped.append)
    interruption.heed()

    Finalized()

    assert [one.exc_type for one in dropped] == [KeyboardInterrupt]
    with pytest.raises(KeyboardInterrupt):
        interruption.heed()


@pytest.mark.usefixtures("met")
def test_a_shield_holds_a_request_back_until_the_outermost_ends() -> None:
    reached = []

    def work() -> None:
        with shield():
            with shield():
                signal.raise_signal(signal.SIGINT)
                interruption.heed()
                reached.append("inner")
            reached.append("outer")
            assert interruption.is_held_back()

    with pytest.raises(KeyboardInterrupt):
        work()

    assert reached == ["inner", "outer"]
    assert not interruption.is_held_back()


@pytest.mark.usefixtures("met")
def test_an_error_behind_a_shield_does_not_hide_the_request() -> None:
    def work() -> None:
        with shield():
            signal.raise_signal(signal.SIGINT)
            raise FileNotFoundError

    with pytest.raises(KeyboardInterrupt):
        work()


@pytest.mark.usefixtures("met")
def test_what_nohup_ignores_stays_ignored() -> None:
    signal.signal(signal.SIGHUP, signal.SIG_IGN)

    interruption.install()

    signal.raise_signal(signal.SIGHUP)


@pytest.mark.usefixtures("met")
def test_a_server_that_is_being_stopped_is_gone_before_the_request_is_raised(
    install: Install, make_server: MakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = make_server(install)
    server.start()
    wait_end = processes.wait_end

    def interrupted_wait(pid: int, timeout_s: float) -> bool:
        signal.raise_signal(signal.SIGINT)
        return wait_end(pid, timeout_s)

    monkeypatch.setattr(processes, "wait_end", interrupted_wait)
    with pytest.raises(KeyboardInterrupt):
        server.stop()

    assert processes.running_in(server.data) == []
    assert server.stop() == "fast", "nothing is left to stop"


@pytest.mark.usefixtures("met")
def test_a_request_while_a_server_is_launched_leaves_no_server(
    install: Install, make_server: MakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = make_server(install)
    popen = Account.popen

    def interrupted_popen(*arguments: object, **options: object) -> object:
        process = popen(*arguments, **options)  # type: ignore[arg-type]
        signal.raise_signal(signal.SIGTERM)
        return process

    monkeypatch.setattr(Account, "popen", interrupted_popen)
    with pytest.raises(KeyboardInterrupt):
        server.start()

    assert processes.running_in(server.data) == []


def test_a_stop_that_was_broken_off_can_be_repeated(
    install: Install, make_server: MakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without our way of meeting requests, as in a notebook."""
    server = make_server(install)
    server.start()
    with monkeypatch.context() as broken:
        broken.setattr(Server, "_end", _interrupt)
        with pytest.raises(KeyboardInterrupt):
            server.stop()

    assert server.stop() == "fast"
    assert processes.running_in(server.data) == []


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt


@pytest.mark.usefixtures("met")
def test_a_deletion_is_finished_before_the_request_is_raised(
    scratch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (scratch / "tree" / "deep").mkdir(parents=True)

    def interrupted_size(_: Path) -> int:
        signal.raise_signal(signal.SIGINT)
        return 0

    monkeypatch.setattr("pgverdict.servers.marked.tree_bytes", interrupted_size)
    with pytest.raises(KeyboardInterrupt):
        remove_tree(scratch / "tree")

    assert not (scratch / "tree").exists()


@pytest.mark.usefixtures("met")
def test_requests_leave_no_half_workspace(
    own_home: Home, account: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted_mark(directory: Path) -> None:
        signal.raise_signal(signal.SIGINT)
        mark(directory)

    monkeypatch.setattr("pgverdict.servers.workspace.mark", interrupted_mark)
    with pytest.raises(KeyboardInterrupt):
        Workspace.create(own_home, account, "cut")

    assert sweep(own_home) == []
    assert [path for path in own_home.runs.iterdir() if path.is_dir()] == []
