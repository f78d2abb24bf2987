"""What a user meets when something is wrong: what was tried, the value, what to do; and the right exit code."""

import os
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e import cli


def _fails(done: "subprocess.CompletedProcess[str]", code: int, *said: str) -> None:
    assert done.returncode == code, done.stderr
    for text in said:
        assert text in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("compare", "17", "18", "--workload", "selct-only"), ("workload: selct-only", "did you mean select-only?")),
        (("compare", "17", "18", "--margin", "200%"), ("a margin lies between 0 % and 100 %: 200%",)),
        (("compare", "17", "18", "--budget", "soon"), ("not a duration: soon", "hint: write 90s")),
        (("compare", "17", "18", "--set", "candidat:jit=off"), ("arm in --set: candidat", "did you mean candidate?")),
        (("compare", "17", "18", "--set", "port=1"), ("port",)),
        (("compare", "17"), ("missing argument 'CANDIDATE'",)),
        (("compare", "17", "18", "--store", "oracle://x"), ("unknown kind of store: oracle",)),
        (("compare", "17", "18", "--set", "jit=off", "--set", "jit=on"), ("the setting jit is given twice",)),
        (("compare", "17", "18", "--html", "/proc/x.html"), ("cannot write a report there: /proc/x.html",)),
        (("compare", "17", "18", "-p", "partition=2"), ("of select-only: partition", "did you mean partitions?")),
        (("compare", "17", "18", "-p", "partitions=many"), ("of the parameter partitions: many", "0 to 1024")),
        (("compare", "17", "18", "-p", "partition_method=hash"), ("partitions that there are not", "hint:")),
        (("compare", "17", "18", "--script", "/nowhere.sql"), ("cannot read the script /nowhere.sql: No such file",)),
        (("compare", "17", "18", "--dump", "/nowhere.dump"), ("nothing works on what these say: --dump", "hint:")),
        (("compare", "17", "18", "--script", "/dev/null", "--workload", "x"), ("place of a workload: --workload x",)),
        (("compare", "17", "18", "--workload", "tpcc", "--scale", "0"), ("--scale", "greater than or equal to 1")),
        (("compare", "17", "18", "--workload", "tpcc", "--scale", "1", "--clients", "11"),
         ("11 clients are more than tpcc has districts at scale 1: 10", "hint: --scale 2 or more")),
        (("compare", "17", "18", "--workload", "sysbench-point-select", "-p", "zipfian_exponent=11"),
         ("not a value of the parameter zipfian_exponent: 11", "0 to 10")),
        (("compare", "17", "18", "--workload", "ycsb-c", "-p", "requests=hotspots"), ("did you mean hotspot?",)),
        (("report", "--store", "/nowhere/runs.sqlite"), ("no store there: /nowhere/runs.sqlite", "hint:")),
        (("list", "runs", "--store", "/nowhere/runs.sqlite"), ("no store there: /nowhere/runs.sqlite",)),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else None,
)  # fmt: skip
def test_wrong_input_exits_2_and_is_named(
    home: Path, arguments: tuple[str, ...], said: tuple[str, ...]
) -> None:
    _fails(cli.run(*arguments, home=home), 2, *said)


def test_an_unknown_release_exits_2_with_the_nearest_ones(home: Path) -> None:
    _fails(cli.run("compare", "17", "17.999", home=home), 2, "17.999", "hint:")


@pytest.mark.slow
def test_a_setting_the_server_refuses_is_shown_in_the_servers_words(home: Path, store: str) -> None:
    done = cli.run(
        "compare", "17", "18", "--scale", "1", "--set", "candidate:work_mem=no", "--store", store, home=home
    )

    _fails(
        done,
        2,
        "the server refuses the setting work_mem = no",
        'invalid value for parameter "work_mem": "no"',
    )
    assert not cli.servers_below(home)


@pytest.mark.slow
def test_a_setting_only_the_newer_release_knows_is_refused_by_the_older_one(home: Path, store: str) -> None:
    done = cli.run(
        "compare", "17", "18", "--scale", "1", "--set", "io_method=sync", "--store", store, home=home
    )

    _fails(done, 2, "io_method", "unrecognized configuration parameter")


@pytest.mark.slow
def test_more_clients_than_the_server_takes_are_told_before_the_first_round(home: Path, store: str) -> None:
    done = cli.run(
        "compare", "17", "17", "--scale", "1", "--clients", "8", "--set", "max_connections=8", "--rounds", "2",
        "--store", store, home=home,
    )  # fmt: skip

    _fails(done, 2, "its cells want 10", "--set max_connections=20")


@pytest.mark.slow
def test_a_run_that_is_not_in_the_store_is_named(home: Path, store: str) -> None:
    cli.report_of("compare", "17", "17", "--scale", "1", "--rounds", "2", "--store", store, home=home)

    _fails(cli.run("report", "no-such-run", "--store", store, home=home), 2, "no-such-run")


@pytest.mark.slow
def test_a_socket_path_that_is_too_long_is_told_before_anything_starts(home: Path, store: str) -> None:
    deep = Path("/tmp") / f"pgv-long-{os.getpid()}-{'x' * 90}"
    deep.mkdir(mode=0o755)
    try:
        done = cli.run(
            "compare", "17", "17", "--scale", "1", "--store", store, home=home, PGVERDICT_SOCKETS=str(deep)
        )
    finally:
        deep.rmdir()

    _fails(done, 1, "107", "PGVERDICT_SOCKETS")


def test_a_home_that_cannot_be_written_is_named() -> None:
    _fails(cli.run("compare", "17", "17", home=Path("/proc/nowhere")), 1, "/proc/nowhere", "PGVERDICT_HOME")


@pytest.fixture
def small_disk() -> Iterator[Path]:
    """A file system of 300 MB, mounted where servers can reach it."""
    if os.geteuid() != 0:
        pytest.skip("mounting a small file system needs root")
    place = Path(tempfile.mkdtemp(prefix="pgv-small-", dir="/var/tmp"))
    place.chmod(0o755)
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=300m", "tmpfs", str(place)], check=False)
    if mounted.returncode:
        place.rmdir()
        pytest.skip("this sandbox does not mount")
    try:
        yield place
    finally:
        subprocess.run(["umount", str(place)], check=True)
        place.rmdir()


def test_a_disk_too_full_for_the_copies_is_told_before_anything_is_loaded(
    home: Path, small_disk: Path
) -> None:
    # What was fetched already is taken along, so that this is about the datasets.
    (small_disk / "cache").mkdir()
    for name in (".pgverdict", "downloads"):
        subprocess.run(["cp", "-a", str(home / "cache" / name), str(small_disk / "cache")], check=True)

    done = cli.run("compare", "17", "17", "--scale", "10", home=small_disk)

    _fails(done, 1, "the data of select-only scale=10 clients=1 and its copies", "hint:")
    assert not list((small_disk / "cache" / "templates").iterdir())


def test_a_debug_engine_is_refused(home: Path, store: str, tmp_path: Path) -> None:
    engine = tmp_path / "engine"
    engine.write_text(
        '#!/bin/sh\necho \'{"message":"hello","protocol":1,"version":"0","build":{"profile":"debug","identity":"x",'
        '"rustc":"x"},"pid":1,"cpus":[0]}\'\ncat >/dev/null\n'
    )
    engine.chmod(0o755)

    done = cli.run(
        "compare", "17", "17", "--scale", "2", "--store", store, home=home, PGVERDICT_ENGINE=str(engine)
    )

    _fails(done, 1, "refusing to measure with a debug build of the engine")
