"""PostgreSQL built from source: by make and by meson, with features, from a repository, with a patch."""

import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from pgverdict.servers.account import Account
from pgverdict.servers.cluster import create_cluster
from pgverdict.servers.home import Home
from pgverdict.servers.install import Install
from pgverdict.servers.marked import mark, remove_tree
from pgverdict.servers.obtain import obtain
from pgverdict.servers.server import Server
from tests.e2e import cli
from tests.e2e.cli import report_of

pytestmark = pytest.mark.timeout(1800)


@pytest.fixture
def place(home: Home) -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix=".tests-", dir=home.cache))
    folder.chmod(0o755)
    mark(folder)
    yield folder
    remove_tree(folder)


@pytest.fixture
def sockets(account: Account) -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="pgt-", dir="/tmp"))
    account.give(folder)
    yield folder
    shutil.rmtree(folder)


Ask = Callable[[Install, dict[str, str], str], str]


@pytest.fixture
def ask(place: Path, sockets: Path, account: Account) -> Ask:
    """What a fresh server of an install answers."""

    def answer(install: Install, settings: dict[str, str], question: str) -> str:
        data = place / "data"
        create_cluster(install, data, account)
        with Server(install, data, sockets, settings, account) as server, server.connect() as connection:
            row = connection.execute(question.encode()).fetchone()
        assert row is not None
        return str(row[0])

    return answer


@pytest.mark.parametrize("major", [15, 18])
def test_a_release_is_built_and_runs(
    major: int, tarball: Callable[[int], Path], home: Home, ask: Ask
) -> None:
    install = obtain(f"source:{tarball(major)}", home)

    assert install.major == (major,)
    assert install.build.cflags == "-O2 -g"
    assert list(install.root.glob("**/pg_stat_statements.so"))
    assert ask(install, {}, "SELECT version()").startswith(f"PostgreSQL {major}.")


def test_a_build_that_checks_assertions_is_refused_unless_it_was_asked_for(
    tarball: Callable[[int], Path], home: Home, place: Path
) -> None:
    server = f"source:{tarball(18)},with=cassert"
    words = (
        "compare",
        server,
        server,
        "--scale=1",
        "--rounds=2",
        "--pairs=2",
        f"--store={place}/runs.sqlite",
    )

    done = cli.run(*words, home=home.cache.parent)
    assert done.returncode == 2, done.stderr
    assert "is one for finding errors: it checks assertions" in done.stderr
    assert "--allow-debug-builds measures it all the same" in done.stderr

    report = cli.report_of(*words, "--allow-debug-builds", home=home.cache.parent)
    assert [arm["build"]["assertions"] for arm in report["arms"]] == ["on", "on"]


def test_asynchronous_io_has_all_its_methods_where_it_was_built_in(
    tarball: Callable[[int], Path], home: Home, ask: Ask
) -> None:
    if not Path("/usr/include/liburing.h").exists():
        pytest.skip("NOT TESTED: liburing, whose headers are not there")
    install = obtain(f"source:{tarball(18)},with=liburing", home)
    assert ask(install, {"io_method": "io_uring"}, "SHOW io_method") == "io_uring"


def test_the_methods_of_asynchronous_io_are_three_arms(
    tarball: Callable[[int], Path], home: Home, place: Path
) -> None:
    if not Path("/usr/include/liburing.h").exists():
        pytest.skip("NOT TESTED: liburing, whose headers are not there")
    server = f"source:{tarball(18)},with=liburing"
    methods = ("worker", "sync", "io_uring")
    arms = [f"{method}={server}" for method in methods]
    settings = [f"--set={method}:io_method={method}" for method in methods]
    report = compare(home, place, *arms, *settings, "--rounds=2")

    assert [(arm["name"], arm["settings"].get("io_method", "worker")) for arm in report["arms"]] == [
        (method, method) for method in methods
    ]
    assert all(cell["rounds"] == 2 for cell in report["cells"])


def test_a_patch_is_compared_with_what_it_changes(
    tarball: Callable[[int], Path], home: Home, place: Path
) -> None:
    repository, commit = _repository(tarball(15), place)
    patch = place / "slower.patch"
    main = repository / "src/backend/tcop/postgres.c"
    text = main.read_text()
    main.write_text(text.replace("case 'S':", "/* patched */ case 'S':", 1))
    patch.write_text(_git(repository, "diff"))
    main.write_text(text)

    base = f"git:{repository}@{commit}"
    report = compare(home, place, f"base={base}", f"patched={base},patch={patch}", "--rounds=2")
    plain, patched = report["arms"]
    assert plain["version"] == patched["version"]
    assert patched["build"]["built_from"] == f"{base},patch={patch}"
    assert f"patched={base},patch={patch}" in report["run"]["command"]


def compare(home: Home, place: Path, *words: str) -> dict[str, Any]:
    """The report of a short run."""
    store = str(place / "runs.sqlite")
    return report_of("compare", *words, "--scale=1", "--seed=1", f"--store={store}", home=home.cache.parent)


def _repository(tarball: Path, place: Path) -> tuple[Path, str]:
    """A repository whose only commit is what a tarball holds."""
    with tarfile.open(tarball) as tar:
        tar.extractall(place, filter="data")
    [repository] = place.glob("postgresql-*")
    _git(repository, "init", "--quiet")
    _git(repository, "add", "--all", "--force")
    # A commit that is the same in every session, so that its build is found again.
    date = "2026-01-01T00:00:00Z"
    subprocess.run(
        [
            "git",
            "-C",
            str(repository),
            "-c",
            "user.name=t",
            "-c",
            "user.email=t@t",
            "commit",
            "--quiet",
            "-m",
            "all",
        ],
        check=True,
        env={"GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date, "PATH": "/usr/bin:/bin"},
    )
    return repository, _git(repository, "rev-parse", "HEAD").strip()


def _git(repository: Path, *words: str) -> str:
    return subprocess.run(
        ["git", "-C", str(repository), *words], check=True, capture_output=True, text=True
    ).stdout
