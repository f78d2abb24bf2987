"""A home that keeps its downloads between test runs, clusters to copy, and a repository to play with.

PGVERDICT_TEST_HOME says where the home is. For root it must be where the user that servers run as can
reach it, which is why scratch directories are not pytest's own: those are closed to others.
"""

import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from pgverdict.servers.account import Account, server_account
from pgverdict.servers.cluster import create_cluster
from pgverdict.servers.control import SHUT_DOWN, read_control
from pgverdict.servers.home import Home
from pgverdict.servers.install import Install, obtain_published
from pgverdict.servers.marked import mark, remove_tree
from pgverdict.servers.server import Server
from tests.homes import home_for_tests

from .repository import Repository

RELEASES = ("9.6", "17", "18")
"""The oldest that is supported, the usual one, and the newest, whose defaults differ most."""


@pytest.fixture(scope="session")
def account() -> Account:
    return server_account()


@pytest.fixture(scope="session")
def home(account: Account) -> Home:
    home = Home.find({"PGVERDICT_HOME": str(home_for_tests())})
    home.ensure(account)
    return home


@pytest.fixture(scope="session")
def session_scratch(home: Home) -> Iterator[Path]:
    place = Path(tempfile.mkdtemp(prefix=".tests-", dir=home.cache))
    place.chmod(0o755)
    yield place
    remove_tree(place)


@pytest.fixture
def scratch(session_scratch: Path) -> Iterator[Path]:
    """A directory of ours that servers can reach."""
    place = Path(tempfile.mkdtemp(dir=session_scratch))
    place.chmod(0o755)
    mark(place)
    yield place
    remove_tree(place)


@pytest.fixture
def own_home(scratch: Path, account: Account) -> Home:
    """A home in which this test is alone."""
    home = Home(scratch / "home" / "cache", scratch / "home" / "data")
    home.ensure(account)
    return home


@pytest.fixture(scope="session")
def obtained(home: Home) -> Callable[[str], Install]:
    return lambda spelling: obtain_published(spelling, home)


@pytest.fixture(params=RELEASES)
def any_install(request: pytest.FixtureRequest, obtained: Callable[[str], Install]) -> Install:
    """Runs a test once per release."""
    return obtained(request.param)


@pytest.fixture
def install(obtained: Callable[[str], Install]) -> Install:
    return obtained("17")


CopyCluster = Callable[[Install, Path], Path]


@pytest.fixture(scope="session")
def copy_cluster(session_scratch: Path, account: Account) -> CopyCluster:
    """Makes an empty cluster at a path by copying one that is made once."""
    made: dict[str, Path] = {}

    def copy(install: Install, target: Path) -> Path:
        if install.version not in made:
            template = session_scratch / f"cluster-{install.version}"
            create_cluster(install, template, account)
            made[install.version] = template
        subprocess.run(["cp", "-a", str(made[install.version]), str(target)], check=True)
        return target

    return copy


@pytest.fixture
def sockets(account: Account) -> Iterator[Path]:
    """A short directory for sockets."""
    place = Path(tempfile.mkdtemp(prefix="pgt-", dir="/tmp"))
    account.give(place)
    yield place
    shutil.rmtree(place)


MakeServer = Callable[..., Server]


@pytest.fixture
def make_server(
    scratch: Path, sockets: Path, account: Account, copy_cluster: CopyCluster
) -> Iterator[MakeServer]:
    """Makes a server on an empty cluster of its own, not started; stops it in the end."""
    servers: list[Server] = []

    def make(install: Install, **settings: str) -> Server:
        number = len(servers)
        data = copy_cluster(install, scratch / f"data{number}")
        servers.append(Server(install, data, _own_sockets(sockets, number, account), settings, account))
        return servers[-1]

    yield make
    for server in servers:
        server.stop("immediate")


@pytest.fixture(scope="session")
def spare_clusters() -> dict[str, list[Path]]:
    return {}


@pytest.fixture
def borrow_server(
    session_scratch: Path,
    sockets: Path,
    account: Account,
    copy_cluster: CopyCluster,
    spare_clusters: dict[str, list[Path]],
) -> Iterator[MakeServer]:
    """Like make_server, for tests that leave the cluster as it was: copies cost more than many a test."""
    servers: list[Server] = []

    def make(install: Install, **settings: str) -> Server:
        spare = spare_clusters.setdefault(install.version, [])
        data = spare.pop() if spare else Path(tempfile.mkdtemp(dir=session_scratch)) / "data"
        data.parent.chmod(0o755)
        if not data.exists():
            copy_cluster(install, data)
        servers.append(Server(install, data, _own_sockets(sockets, len(servers), account), settings, account))
        return servers[-1]

    yield make
    for server in servers:
        server.stop()
        server.log.unlink(missing_ok=True)
        if read_control(server.data).state == SHUT_DOWN:
            spare_clusters[server.install.version].append(server.data)


def _own_sockets(sockets: Path, number: int, account: Account) -> Path:
    directory = sockets / str(number)
    account.make_directory(directory)
    return directory


@pytest.fixture
def repository(scratch: Path) -> Repository:
    """An empty Maven repository in a directory."""
    return Repository(scratch / "repository")
