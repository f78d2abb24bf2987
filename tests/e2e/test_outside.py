"""A server that somebody else runs, compared through the command line with one of ours; and what users meet there."""

import json
import re
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e import cli
from tests.outside import PASSWORD, Elsewhere, somebody_elses
from tests.servers.test_containers import Docker

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def elsewhere() -> Iterator[Elsewhere]:
    with somebody_elses() as server:
        yield server


@pytest.fixture
def contained() -> Iterator[Elsewhere]:
    """Plays the server in a container, whose databases go with it: here nobody else may meet them."""
    with somebody_elses() as server:
        yield server


def test_a_dsn_arm_is_compared_with_a_local_one_and_leaves_nothing_there(
    home: Path, store: str, elsewhere: Elsewhere, tmp_path: Path
) -> None:
    page = tmp_path / "page.html"
    said = cli.run(
        "compare", f"hosted=dsn:{elsewhere.dsn()}", "17", "--scale", "1", "--rounds", "2", "--workload", "select-only",
        "--workload", "simple-update", "--set", "hosted:work_mem=9MB", "--pairs", "4", "--html", str(page),
        "--json", "-", "--store", store, home=home, PGPASSWORD=PASSWORD,
    )  # fmt: skip
    assert said.returncode == 0, said.stderr
    report = json.loads(said.stdout)

    assert elsewhere.databases() == []
    assert not cli.servers_below(home)
    assert [cell["rounds"] for cell in report["cells"]] == [2, 2]
    notes = " ".join(report["run"]["notes"])
    assert "hosted is run by somebody else and 17." in notes
    assert "hosted: a server that somebody else runs: it is not started anew for each round" in notes
    assert "hosted: pg_stat_statements: not there, or not for this user" in notes
    assert "no checkpoint may be asked for there" in notes
    # What only one arm can be asked is no difference between them.
    verdicts = [verdict for cell in report["cells"] for verdict in cell["verdicts"]]
    assert {v["rounds"] for v in verdicts if v["metric"] == "latency_us_p50"} == {2}
    assert {v["rounds"] for v in verdicts if v["metric"] == "server_cpu_us_per_txn"} == {0}
    assert report["arms"][0]["settings"]["work_mem"] == "9MB"
    assert "work_mem" not in report["arms"][1]["settings"]
    starts = [
        c["values"]
        for cell in report["cells"]
        for c in cell["conditions"]
        if c["name"] == "start of the server"
    ]
    assert [(one[0], one[1] > 0) for one in starts] == [(None, True), (None, True)]
    secret = PASSWORD.encode()
    for kept in (Path(store), page, *Path(store).parent.glob("runs.sqlite-*")):
        assert secret not in kept.read_bytes()
    assert PASSWORD not in said.stdout + said.stderr


def test_an_interrupt_leaves_nothing_there(home: Path, store: str, elsewhere: Elsewhere) -> None:
    dsn = f"dsn:{elsewhere.dsn()}"
    run = cli.start("compare", dsn, dsn, "--scale", "1", "--store", store, home=home, PGPASSWORD=PASSWORD)
    try:
        cli.until(elsewhere.databases, seconds=60, what="a database of the run")
    finally:
        run.send_signal(signal.SIGINT)
        _, said = run.communicate()

    assert run.returncode == 130, said
    assert elsewhere.databases() == []


def test_the_server_of_an_image_is_compared_with_a_local_one(
    home: Path, store: str, contained: Elsewhere, tmp_path: Path
) -> None:
    docker = Docker(tmp_path, contained)
    environment = {name: value for name, value in docker.environment.items() if name != "PYTHONPATH"}
    report = cli.report_of(
        "compare", "17", "boxed=docker:postgres:17", "--scale", "1", "--rounds", "2", "--pairs", "2",
        "--set", "boxed:shared_buffers=64MB", "--store", store, home=home, **environment,
    )  # fmt: skip

    assert [cell["rounds"] for cell in report["cells"]] == [2]
    notes = " ".join(report["run"]["notes"])
    assert "boxed: a server in a container: it is started once for the run" in notes
    assert "boxed ran in a container" in notes
    assert report["arms"][1]["notes"][2:] == []  # its user may do everything there
    [words] = docker.told("run")
    assert words[-4:] == ["-c", "shared_preload_libraries=pg_stat_statements", "-c", "shared_buffers=64MB"]
    assert docker.told("rm")[0][-1] == words[words.index("--name") + 1]
    assert "boxed=docker:postgres:17" in report["run"]["command"]


@pytest.mark.parametrize(
    ("more", "option"),
    [
        (("--freeze", "signal"), "--freeze"),
        (("--memory", "1GB"), "--memory"),
        (("--cores", "0"), "--cores"),
        (("--tune", "oltp"), "--tune"),
        (("--as", "aligned"), "--as aligned"),
        (("--cache", "cold"), "--cache cold"),
        (("--workload", "tpcb-like", "--regime", "steady"), "--regime steady"),
        (("--handicap", "400"), "--handicap"),
        (("--primary", "server_cpu_us_per_txn"), "--primary server_cpu_us_per_txn"),
        (("--data-directory", "baseline:/tmp"), "--data-directory"),
    ],
)
def test_what_cannot_be_had_there_is_refused_before_anybody_is_asked(
    home: Path, store: str, more: tuple[str, ...], option: str
) -> None:
    done = cli.run(
        "compare", "dsn:postgresql://me@nobody.invalid/postgres", "17", *more, "--store", store, home=home
    )

    assert done.returncode == 2, done.stderr
    assert f"error: {option} cannot be had of a server that somebody else runs" in done.stderr
    assert f"hint: leave out {option}" in done.stderr


def test_no_host_is_calibrated_with_a_server_of_others(home: Path) -> None:
    done = cli.run("calibrate", "dsn:postgresql://me@nobody.invalid/postgres", home=home)

    assert done.returncode == 2
    assert "a host is calibrated with a server that is started on it" in done.stderr


@pytest.mark.parametrize(
    "dsn",
    [
        "dsn:postgresql://me:hunter2@db/app",
        "dsn:postgresql://me@db/app?password=hunter2",
        "dsn:host=db password=hunter2",
    ],
)
def test_a_password_on_the_command_line_is_refused_and_not_repeated(home: Path, dsn: str) -> None:
    done = cli.run("compare", dsn, dsn, home=home)

    assert done.returncode == 2
    assert re.search("PGPASSWORD|not a connection URI", done.stderr)
    assert "hunter2" not in done.stderr + done.stdout


@pytest.mark.parametrize(
    ("user", "more", "password", "code", "said"),
    [
        ("maker", (), "wrong", 1, "password authentication failed"),
        ("reader", (), PASSWORD, 2, "the user reader may not create databases"),
        ("maker", ("--set", "shared_buffers=1GB"), PASSWORD, 2, "the setting shared_buffers of arm"),
        ("maker", ("--clients", "40"), PASSWORD, 2, "connections, and its cells want 42"),
    ],
)
def test_what_the_server_refuses_ends_the_run_before_its_first_round(
    home: Path,
    store: str,
    elsewhere: Elsewhere,
    user: str,
    more: tuple[str, ...],
    password: str,
    code: int,
    said: str,
) -> None:
    dsn = f"dsn:{elsewhere.dsn(user)}"
    done = cli.run(
        "compare", dsn, dsn, "--scale", "1", "--rounds", "2", *more, "--store", store,
        home=home, PGPASSWORD=password,
    )  # fmt: skip

    assert done.returncode == code, done.stderr
    assert said in done.stderr
    assert PASSWORD not in done.stderr
    assert elsewhere.databases() == []
