"""Defaults aligned, settings tuned or left out, data on directories of the user's: on real servers."""

import time
from pathlib import Path

import pytest

from pgverdict.servers.account import server_account
from tests.e2e import cli

pytestmark = [pytest.mark.slow, pytest.mark.long]


def test_aligned_arms_have_the_baselines_defaults_and_the_report_says_which(home: Path, store: str) -> None:
    report = cli.report_of(
        "compare", "17", "18", "--as", "aligned", "--set", "io_method?=sync", "--scale", "1", "--rounds", "2",
        "--store", store, home=home,
    )  # fmt: skip

    old, new = report["arms"]
    assert (old["build"]["data_checksums"], new["build"]["data_checksums"]) == ("off", "off")
    assert "effective_io_concurrency" not in old["settings"]  # its own default
    assert new["settings"]["effective_io_concurrency"] == "1"
    assert new["settings"]["io_method"] == "sync"
    assert any("io_method=sync was left out" in note for note in old["notes"])
    changed = {d["name"]: d["values"] for d in report["differences"] if d["area"] == "default"}
    assert changed["data_checksums"] == ["off", "on"]
    assert changed["effective_io_concurrency"] == ["1", "16"]
    origins = {one["name"]: one["origins"] for one in report["chosen_settings"]}
    assert origins["data_checksums"] == ["aligned", "aligned"]
    assert origins["io_method"] == [None, "given"]
    assert any("arms have the default of 17." in note for note in report["run"]["notes"])
    assert " --as aligned --set candidate:io_method=sync " in report["run"]["command"]
    assert cli.report_of("report", "--store", store, home=home) == report


def test_the_oldest_and_the_newest_release_are_tuned_and_aligned_each_as_far_as_it_can_be(
    home: Path, store: str
) -> None:
    report = cli.report_of(
        "compare", "9.6", "18", "--as", "aligned", "--tune", "oltp", "--tune-memory", "1GB", "--tune-cores", "2",
        "--tune-disk", "ssd", "--set", "max_connections=20", "--scale", "1", "--rounds", "2", "--store", store,
        home=home,
    )  # fmt: skip

    old, new = report["arms"]
    for arm in (old, new):
        assert arm["settings"]["shared_buffers"] == "256MB"
        assert arm["settings"]["max_connections"] == "20"
    assert (old["settings"]["wal_compression"], new["settings"]["wal_compression"]) == ("on", "pglz")
    assert new["settings"]["wal_level"] == "minimal"
    assert any(
        note.startswith("tuned for oltp with 1 GB of memory, 2 cores") for note in report["run"]["notes"]
    )
    assert report["campaign"]["tuning"] == {"use": "oltp", "memory_bytes": 1 << 30, "cores": 2, "disk": "ssd"}


@pytest.mark.parametrize("workload", ["select-only", "simple-update"])
def test_an_arms_data_and_wal_lie_where_the_user_wants_them_and_leave_nothing_there(
    home: Path, store: str, workload: str
) -> None:
    users = home / "places-of-the-user"
    for name in ("data", "wal"):
        (users / name).mkdir(parents=True, exist_ok=True)
    process = cli.start(
        "compare", "17", "17", "--workload", workload, "--scale", "1", "--rounds", "2", "--store", store,
        "--data-directory", f"candidate:{users / 'data'}", "--wal-directory", f"candidate:{users / 'wal'}",
        home=home,
    )  # fmt: skip
    seen = set()
    while process.poll() is None:
        for pid in cli.servers_below(users):
            data = Path(f"/proc/{pid}/cwd")
            try:
                seen.add((data.readlink().relative_to(users).parts[0], str((data / "pg_wal").readlink())))
            except (OSError, ValueError):
                continue
        time.sleep(0.02)
    assert process.returncode == 0, process.communicate()[1]
    process.communicate()

    assert {part for part, _ in seen} == {"data"}
    assert all(wal.startswith(f"{users / 'wal'}/pgverdict-") for _, wal in seen)
    assert [list((users / name).iterdir()) for name in ("data", "wal")] == [[], []]
    report = cli.report_of("report", "--store", store, home=home)
    assert report["arms"][1]["wal_directory"] == str(users / "wal")
    assert {"area": "directory", "name": "data", "values": [None, str(users / "data")]} in report[
        "differences"
    ]
    assert f"#2:{users / 'data'}" in report["run"]["command"]


def test_a_directory_that_servers_cannot_reach_is_named_before_anything_is_measured(
    home: Path, store: str, tmp_path: Path
) -> None:
    if server_account().is_self:
        pytest.skip("servers run as this user, who reaches the directory")
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)

    done = cli.run(
        "compare", "17", "17", "--scale", "1", "--rounds", "2", "--store", store,
        "--data-directory", f"candidate:{closed}", home=home,
    )  # fmt: skip

    assert done.returncode == 1
    assert "who cannot pass through" in done.stderr
    assert "set --data-directory to a directory" in done.stderr
