"""Nothing outlives a run: not servers, not frozen ones, not directories, however the run ends."""

import errno
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import pgverdict
from pgverdict.errors import WorldError
from pgverdict.servers import processes
from pgverdict.servers.account import Account
from pgverdict.servers.cgroups import make_cgroup, obstacle
from pgverdict.servers.home import Home
from pgverdict.servers.install import Install
from pgverdict.servers.marked import mark, remove_tree
from pgverdict.servers.scratch import remove_at_once
from pgverdict.servers.scratch import scratch as scratch_directory
from pgverdict.servers.server import Server
from pgverdict.servers.supervisor import Supervisor
from pgverdict.servers.workspace import Workspace, sweep

from .confining import why_unconfined
from .conftest import CopyCluster, MakeServer

PROMISE_S = 2.0

unconfined = why_unconfined()

FREEZES = [
    pytest.param("run", id="running"),
    "signal",
    *(
        pytest.param(f"cgroup-v{n}", marks=pytest.mark.skipif(why is not None, reason=str(why)))
        for n in (1, 2)
        for why in [obstacle(n)]
    ),
    pytest.param("confined", marks=pytest.mark.skipif(unconfined is not None, reason=str(unconfined))),
]


def wait_until(condition: Callable[[], bool], timeout_s: float) -> float:
    """The seconds until the condition held; fails if it does not in time."""
    begin = time.monotonic()
    while not condition():
        assert time.monotonic() - begin < timeout_s, "did not happen in time"
        time.sleep(0.01)
    return time.monotonic() - begin


def has_ended(pid: int) -> bool:
    return processes.wait_end(pid, 0)


@contextmanager
def victim(
    home: Home, install: Install, template: Path, *, freeze: str, revive: bool = False
) -> Iterator[dict[str, Any]]:
    """A process with a workspace and a running server in it, and what it says of them.

    `revive`: its supervisor was killed before the server was launched.
    """
    source = Path(pgverdict.__file__).parent.parent
    command = [
        sys.executable,
        str(Path(__file__).with_name("victim.py")),
        str(home.cache),
        str(install.root),
        str(template),
        freeze,
        "killed" if revive else "alive",
    ]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, env={**os.environ, "PYTHONPATH": str(source)}
    ) as process:
        assert process.stdout is not None
        try:
            yield json.loads(process.stdout.readline())
        finally:
            process.kill()


@pytest.mark.parametrize("freeze", FREEZES)
def test_a_server_is_gone_two_seconds_after_its_parent_was_killed(
    freeze: str, any_install: Install, own_home: Home, scratch: Path, copy_cluster: CopyCluster
) -> None:
    template = copy_cluster(any_install, scratch / "template")
    with victim(own_home, any_install, template, freeze=freeze) as facts:
        assert processes.running_in(Path(facts["workspace"])) == sorted(facts["pids"])

        os.kill(facts["pid"], signal.SIGKILL)

        wait_until(lambda: all(map(has_ended, facts["pids"])), PROMISE_S)
        wait_until(lambda: not Path(facts["sockets"]).exists(), PROMISE_S)
        wait_until(lambda: has_ended(facts["supervisor"]), PROMISE_S)
        assert facts["cgroup"] is None or not Path(facts["cgroup"]).exists()
    assert sweep(own_home)[0].startswith("found the remains of run victim: no server was running, removed ")
    assert not Path(facts["workspace"]).exists()


@pytest.mark.parametrize("freeze", FREEZES)
def test_a_sweep_cleans_up_when_the_supervisor_was_killed_too(
    freeze: str, install: Install, own_home: Home, scratch: Path, copy_cluster: CopyCluster
) -> None:
    template = copy_cluster(install, scratch / "template")
    with victim(own_home, install, template, freeze=freeze) as facts:
        assert sweep(own_home) == [], "a run that lives is left alone"
        os.kill(facts["supervisor"], signal.SIGKILL)
        os.kill(facts["pid"], signal.SIGKILL)
        wait_until(lambda: has_ended(facts["pid"]), PROMISE_S)
        assert len(processes.running_in(Path(facts["workspace"]))) > 1

        (sentence,) = sweep(own_home)

    assert sentence.startswith("found the remains of run victim: stopped 1 server, removed ")
    assert sentence.endswith(" MB")
    assert all(map(has_ended, facts["pids"]))
    assert not Path(facts["workspace"]).exists()
    assert not Path(facts["sockets"]).exists()
    assert facts["cgroup"] is None or not Path(facts["cgroup"]).exists()
    assert sweep(own_home) == []


@pytest.mark.skipif(obstacle(1) is not None and obstacle(2) is not None, reason="no cgroups to make")
def test_a_sweep_removes_a_cgroup_in_which_nobody_is_any_more(own_home: Home, account: Account) -> None:
    remains = own_home.runs / "old"
    remains.mkdir()
    mark(remains)
    (remains / "lock").touch()
    left = make_cgroup(2 if obstacle(2) is None else 1, remains / "slots" / "0" / "data")
    with Workspace.create(own_home, account) as living:
        used = make_cgroup(left.version, living.path / "data")

        assert len(sweep(own_home)) == 1

        assert not left.path.exists()
        assert used.path.exists(), "a run that lives keeps its own"
    assert not used.path.exists()


def test_a_sweep_is_not_led_astray_by_what_the_remains_say(own_home: Home, scratch: Path) -> None:
    precious = scratch.parent / "precious"
    precious.mkdir()
    remains = own_home.runs / "old"
    remains.mkdir()
    mark(remains)
    (remains / "lock").touch()
    (remains / "workspace.json").write_text(json.dumps({"sockets": "/etc"}))
    (own_home.runs / "not-ours").mkdir()
    (own_home.runs / "not-ours" / "thesis.tex").touch()

    assert len(sweep(own_home)) == 1

    assert Path("/etc/passwd").exists()
    assert [path.name for path in own_home.runs.iterdir() if path.is_dir()] == ["not-ours"]


def test_a_workspace_leaves_nothing_behind(
    install: Install, own_home: Home, account: Account, copy_cluster: CopyCluster
) -> None:
    with Workspace.create(own_home, account) as workspace:
        data = copy_cluster(install, workspace.path / "data")
        server = Server(install, data, workspace.socket_directory("a"), {}, account)
        server.start()
        pids = server.pids()
        assert workspace.socket_directory("a") == server.socket_directory

    assert all(map(has_ended, pids))
    assert not workspace.path.exists()
    assert not workspace.sockets.exists()
    assert server.stop() == "kill"
    assert sweep(own_home) == []


def test_a_run_has_a_name_of_its_own(own_home: Home, account: Account) -> None:
    with Workspace.create(own_home, account, "twice"), pytest.raises(WorldError, match="a run of this name"):
        Workspace.create(own_home, account, "twice")


def test_sockets_lie_where_they_are_told_to(
    own_home: Home, account: Account, sockets: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PGVERDICT_SOCKETS", str(sockets))
    sockets.chmod(0o711)

    with Workspace.create(own_home, account) as workspace:
        assert workspace.sockets.parent == sockets
        assert workspace.sockets.stat().st_uid == account.uid
        assert workspace.sockets.stat().st_mode & 0o777 == 0o700


def test_a_place_for_sockets_that_is_not_there_is_named(
    own_home: Home, account: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PGVERDICT_SOCKETS", "/nonexistent")

    with pytest.raises(WorldError, match="sockets in /nonexistent: No such file"):
        Workspace.create(own_home, account)

    assert [path for path in own_home.runs.iterdir() if path.is_dir()] == []


def test_a_workspace_that_cannot_be_watched_is_not_made(
    own_home: Home, account: Account, sockets: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PGVERDICT_SOCKETS", str(sockets))
    sockets.chmod(0o711)
    monkeypatch.setattr("pgverdict.servers.supervisor._PROGRAM", "raise SystemExit('broken')")

    with pytest.raises(WorldError, match="watches over servers: broken"):
        Workspace.create(own_home, account)

    assert [path for path in own_home.runs.iterdir() if path.is_dir()] == []
    assert list(sockets.iterdir()) == []


def test_a_killed_supervisor_is_replaced_and_knows_everything(
    install: Install, make_server: MakeServer, scratch: Path
) -> None:
    server = make_server(install)
    supervisor = Supervisor()
    supervisor.watch(server.data)
    os.kill(supervisor.pid, signal.SIGKILL)
    wait_until(lambda: has_ended(supervisor.pid), PROMISE_S)
    server.start()

    supervisor.watch(scratch / "another")
    supervisor.close()

    assert processes.running_in(server.data) == []


@pytest.mark.parametrize("freeze", FREEZES)
def test_a_supervisor_that_was_revived_keeps_the_promise(
    freeze: str, install: Install, own_home: Home, scratch: Path, copy_cluster: CopyCluster
) -> None:
    template = copy_cluster(install, scratch / "template")
    with victim(own_home, install, template, freeze=freeze, revive=True) as facts:
        os.kill(facts["pid"], signal.SIGKILL)

        wait_until(lambda: all(map(has_ended, facts["pids"])), PROMISE_S)
        wait_until(lambda: not Path(facts["sockets"]).exists(), PROMISE_S)
        assert facts["cgroup"] is None or not Path(facts["cgroup"]).exists()


def test_what_a_server_left_in_a_frozen_cgroup_is_thawed(
    scratch: Path,
) -> None:
    """A program it started, while of the server itself nothing is left."""
    versions = [n for n in (1, 2) if obstacle(n) is None]
    if not versions:
        pytest.skip("no cgroups to make")
    group = make_cgroup(versions[0], scratch / "data")
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE) as left:
        group.take_in(left.pid)
        group.freeze()

        with pytest.raises(WorldError, match="cannot remove the cgroup"):
            processes.end_all([scratch])

        assert not group.is_frozen
        assert left.stdin is not None
        left.stdin.close()
        left.wait()
    assert processes.end_all([scratch]) == 0
    assert not group.path.exists()


def test_a_supervisor_does_not_mind_requests_to_end(install: Install, make_server: MakeServer) -> None:
    server = make_server(install)
    with Supervisor() as supervisor:
        supervisor.watch(server.data)
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            os.kill(supervisor.pid, number)
        server.start()

    assert processes.running_in(server.data) == []


def test_a_supervisor_deletes_only_what_is_ours(scratch: Path, tmp_path: Path) -> None:
    ours = scratch / "ours"
    ours.mkdir()
    mark(ours)
    with Supervisor() as supervisor:
        supervisor.remove(tmp_path)
        supervisor.remove(ours)

    assert tmp_path.exists()
    assert not ours.exists()


def test_orphans_of_a_killed_postmaster_are_ended(install: Install, make_server: MakeServer) -> None:
    server = make_server(install)
    server.start()
    children = server.pids()[1:]
    processes.send(children, signal.SIGSTOP, server.data)
    os.kill(server.pid, signal.SIGKILL)
    processes.wait_end(server.pid, PROMISE_S)

    assert processes.end_all([server.data]) == 1

    assert all(map(has_ended, children))
    assert server.stop() == "kill"


def test_remains_that_cannot_be_deleted_are_reported_and_not_the_end(
    own_home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a", "b"):
        (own_home.runs / name).mkdir()
        mark(own_home.runs / name)

    def refuse(path: Path) -> int:
        if path.name == "a":
            raise WorldError(f"cannot delete {path}")
        return remove_tree(path)

    monkeypatch.setattr("pgverdict.servers.workspace.remove_tree", refuse)

    first, second = sweep(own_home)

    assert first == f"found the remains of run a, which stay: cannot delete {own_home.runs / 'a'}"
    assert second.startswith("found the remains of run b: ")
    assert not (own_home.runs / "b").exists()


def test_remains_without_a_mark_are_swept_too(own_home: Home) -> None:
    """Whoever made them was killed before the mark, or a deletion after it."""
    (own_home.runs / "empty").mkdir()
    (own_home.runs / "locked").mkdir()
    (own_home.runs / "locked" / "lock").touch()

    assert len(sweep(own_home)) == 2

    assert [path for path in own_home.runs.iterdir() if path.is_dir()] == []


def test_what_was_cut_short_is_swept(own_home: Home) -> None:
    own_home.repositories.mkdir(exist_ok=True)
    old = [
        own_home.installs / ".unpacking-x",
        own_home.installs / ".removing-x",
        own_home.downloads / ".fetch-x",
        own_home.downloads / ".maven-x",
        own_home.templates / ".removing-x",
        own_home.repositories / ".cloning-x",
    ]
    for path in old:
        path.mkdir()
        (path / "half").write_bytes(b"x" * 10_000)
        os.utime(path, (1, 1))
    new = own_home.installs / ".unpacking-new"
    new.mkdir()

    with scratch_directory(".unpacking-", own_home.installs) as used:
        os.utime(used, (1, 1))
        (sentence,) = sweep(own_home)
        assert used.exists(), "somebody is at work there"

    assert sentence.startswith("found downloads, installs or deletions that were cut short: removed ")
    assert not any(path.exists() for path in old)
    assert new.exists()
    assert not used.exists()


def test_a_deletion_that_is_killed_leaves_nothing_under_the_name_and_the_rest_to_the_sweep(
    own_home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    (own_home.installs / "17").mkdir()
    (own_home.installs / "17" / "postgres").write_bytes(b"x" * 10_000)

    def be_killed(_: Path) -> int:
        raise KeyboardInterrupt

    with monkeypatch.context() as killed:
        killed.setattr("pgverdict.servers.scratch.remove_tree", be_killed)
        with pytest.raises(KeyboardInterrupt):
            remove_at_once(own_home.installs / "17")

    assert not (own_home.installs / "17").exists()
    (rest,) = own_home.installs.glob(".removing-*")
    os.utime(rest, (1, 1))
    sweep(own_home)
    assert not rest.exists()


def test_a_deletion_of_what_is_not_there_says_so_and_leaves_nothing(own_home: Home) -> None:
    with pytest.raises(WorldError, match=r"cannot delete .*/18: No such file or directory"):
        remove_at_once(own_home.installs / "18")
    assert list(own_home.installs.iterdir()) == []


def test_a_full_disk_leaves_no_directory_for_sockets(
    own_home: Home, account: Account, sockets: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PGVERDICT_SOCKETS", str(sockets))
    sockets.chmod(0o711)

    def refuse(_: Path) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("pgverdict.servers.sockets.mark", refuse)

    with pytest.raises(WorldError, match="No space left on device"):
        Workspace.create(own_home, account)

    assert list(sockets.iterdir()) == []
    assert [path for path in own_home.runs.iterdir() if path.is_dir()] == []


def test_a_long_place_for_sockets_is_refused_before_anything_starts(
    own_home: Home, account: Account, sockets: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    deep = sockets / ("x" * 80)
    deep.mkdir()
    sockets.chmod(0o711)
    monkeypatch.setenv("PGVERDICT_SOCKETS", str(deep))

    with pytest.raises(WorldError, match="107 is the most") as caught:
        Workspace.create(own_home, account)

    assert "PGVERDICT_SOCKETS" in (caught.value.hint or "")
    assert list(deep.iterdir()) == []
