"""A PostgreSQL for the tests of the store: one that is named, or one the product fetches and starts."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

from pgverdict.servers.account import server_account
from pgverdict.servers.cluster import SUPERUSER, create_cluster
from pgverdict.servers.home import Home
from pgverdict.servers.obtain import obtain
from pgverdict.servers.server import Server
from pgverdict.servers.workspace import Workspace
from tests.homes import home_for_tests

ENVIRONMENT = "PGVERDICT_TEST_STORE_URL"


@contextmanager
def a_postgresql() -> Iterator[str]:
    """The URL of a database that may be written to; its schema `pgverdict` is dropped before every test."""
    named = os.environ.get(ENVIRONMENT)
    if named:
        yield named
        return
    account, home = server_account(), Home.find({"PGVERDICT_HOME": str(home_for_tests())})
    home.ensure(account)
    install = obtain("17", home)
    with Workspace.create(home, account) as workspace:
        data = workspace.path / "store"
        create_cluster(install, data, account)
        sockets = workspace.socket_directory("store")
        with Server(install, data, sockets, {"fsync": "off"}, account) as server:
            yield f"postgresql://{SUPERUSER}@/postgres?host={sockets}&port={server.port}"
