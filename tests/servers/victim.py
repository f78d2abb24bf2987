"""A process that starts a server and waits to be killed.

Arguments: the cache of the home for its run, the root of the install, a data directory to work on, and
by what means to freeze the server (or "run", or "confined" to some memory), and whether its supervisor is
"killed" before the server is launched (else "alive"). Prints one line of JSON when the server runs.
"""

import json
import os
import signal
import sys
from contextlib import ExitStack
from pathlib import Path

from pgverdict.servers import processes
from pgverdict.servers.account import server_account
from pgverdict.servers.cgroups import made_for
from pgverdict.servers.confine import find_confiner
from pgverdict.servers.freeze import ByCgroup, Means, make_freezer
from pgverdict.servers.home import Home
from pgverdict.servers.install import list_installed
from pgverdict.servers.server import Server
from pgverdict.servers.workspace import Workspace
from pgverdict.spec.confinement import Limits


def main() -> None:
    cache, root, template, freeze, supervisor = sys.argv[1:]
    account, home = server_account(), Home(Path(cache), Path(cache).with_name("data"))
    shared = Home(Path(root).parents[1], Path(root))
    (install,) = [found for found in list_installed(shared) if found.root == Path(root)]
    workspace = Workspace.create(home, account, "victim")
    if supervisor == "killed":
        os.kill(workspace.supervisor.pid, signal.SIGKILL)
        processes.wait_end(workspace.supervisor.pid, 5)
    workspace.supervisor.revive()
    data = workspace.path / "data"
    Path(template).rename(data)
    confiner = find_confiner(Limits(memory_bytes=512 << 20)) if freeze == "confined" else None
    server = Server(install, data, workspace.socket_directory("s"), {}, account, confiner=confiner)
    stack = ExitStack()
    runs = freeze in ("run", "confined")
    freezer = None if runs else stack.enter_context(make_freezer(Means(freeze), server))
    server.start()
    connection = server.connect()
    connection.execute("CREATE TABLE t AS SELECT generate_series(1, 1000)")
    if freezer is not None:
        freezer.begin()
        freezer.freeze()
    # Who ended before the freeze is not waited for by a frozen postmaster.
    pids = [pid for pid in server.pids() if processes.state(pid) not in "XZ"]
    (confined_in,) = [str(group.path) for group in made_for(workspace.path)] if confiner else [None]
    facts = {
        "pid": os.getpid(),
        "supervisor": workspace.supervisor.pid,
        "pids": pids,
        "cgroup": str(freezer.cgroup.path) if isinstance(freezer, ByCgroup) else confined_in,
        "workspace": str(workspace.path),
        "sockets": str(workspace.sockets),
    }
    print(json.dumps(facts), flush=True)
    while True:
        signal.pause()


if __name__ == "__main__":
    main()
