"""A process that starts a server and waits to be killed.

Arguments: the cache of the home for its run, the root of the install, a data directory to work on, and
whether to freeze the server. Prints one line of JSON when the server runs.
"""

import json
import os
import signal
import sys
from pathlib import Path

from pgverdict.servers import processes
from pgverdict.servers.account import server_account
from pgverdict.servers.home import Home
from pgverdict.servers.install import list_installed
from pgverdict.servers.server import Server
from pgverdict.servers.workspace import Workspace


def main() -> None:
    cache, root, template, freeze = sys.argv[1:]
    account, home = server_account(), Home(Path(cache), Path(cache).with_name("data"))
    shared = Home(Path(root).parents[1], Path(root))
    (install,) = [found for found in list_installed(shared) if found.root == Path(root)]
    workspace = Workspace.create(home, account, "victim")
    data = workspace.path / "data"
    Path(template).rename(data)
    server = Server(install, data, workspace.socket_directory("s"), {}, account)
    server.start()
    connection = server.connect()
    connection.execute("CREATE TABLE t AS SELECT generate_series(1, 1000)")
    pids = server.pids()
    if freeze == "freeze":
        processes.send(pids, signal.SIGSTOP, data)
    facts = {
        "pid": os.getpid(),
        "supervisor": workspace.supervisor.pid,
        "pids": pids,
        "workspace": str(workspace.path),
        "sockets": str(workspace.sockets),
    }
    print(json.dumps(facts), flush=True)
    while True:
        signal.pause()


if __name__ == "__main__":
    main()
