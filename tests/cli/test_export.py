"""Runs leave one store and reach another by the command line."""

import dataclasses
import os
import subprocess
import sys
from pathlib import Path

import pytest

from pgverdict.cli import stores
from pgverdict.cli.exits import run
from pgverdict.cli.outputs import write_report
from pgverdict.store import place
from pgverdict.store.opening import open_store
from tests.report import samples
from tests.store import made

RUN = "2026-11-21-3f9a"
SOURCES = Path(__file__).resolve().parents[2] / "src"


@pytest.fixture
def store(tmp_path: Path) -> str:
    """A store with one run."""
    with open_store(tmp_path / "here.sqlite") as opened:
        opened.begin_run(made.a_run(RUN, rounds=(made.a_round(0),)))
    return str(tmp_path / "here.sqlite")


def said(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> str:
    assert run(list(arguments)) == code
    out, err = capsys.readouterr()
    return out if code == 0 else err


def test_a_run_goes_from_store_to_store(
    store: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    there = str(tmp_path / "there.sqlite")

    assert said(capsys, "export", "2026-11-21", "--store", store) == f"{tmp_path / RUN}.sqlite\n"
    assert said(capsys, "import", f"{RUN}.sqlite", "--store", there) == f"run {RUN}: imported, 1 round\n"
    with open_store(store) as opened:
        opened.keep_round(RUN, 0, made.a_round(1))
    assert said(capsys, "import", store, "--store", there) == f"run {RUN}: was there, 1 round added\n"
    assert said(capsys, "import", store, "--store", there) == f"run {RUN}: was there, nothing to add\n"
    with open_store(store) as opened, open_store(there) as other:
        assert other.load_run() == opened.load_run()


def test_folders_alone_write_no_file(
    store: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path / "empty")
    said(capsys, "export", RUN, "--csv", "csv", "--parquet", "parquet", "--store", store)

    assert sorted(path.name for path in (tmp_path / "empty").iterdir()) == ["csv", "parquet"]
    assert (tmp_path / "empty" / "csv" / "slices.csv").exists()
    assert (tmp_path / "empty" / "parquet" / "slices.parquet").exists()


def test_another_run_of_the_same_name_is_told(
    store: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with open_store(tmp_path / "there.sqlite") as other:
        other.begin_run(made.a_run(RUN, started="2026-11-21T10:00:01Z"))

    told = said(capsys, "import", store, "--store", str(tmp_path / "there.sqlite"))
    assert told == f"run {RUN}, called {RUN}-2 here: imported, 1 round\n"


def test_a_store_without_a_run_is_named(
    store: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    open_store(tmp_path / "empty.sqlite").close()
    assert "no run in " in said(capsys, "import", str(tmp_path / "empty.sqlite"), "--store", store, code=2)


def test_an_unknown_run_is_named_with_the_nearest(store: str, capsys: pytest.CaptureFixture[str]) -> None:
    told = said(capsys, "export", "2026-11-21-3f9b", "--store", store, code=2)
    assert f"did you mean {RUN}?" in told


def test_an_import_into_the_data_directory_leaves_it_usable(
    store: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A later run marks the directory as ours, which it may only do with an empty one."""
    from tests.homes import home_for_tests

    home = home_for_tests() / "of-imports"
    monkeypatch.setenv("PGVERDICT_HOME", str(home))
    for left in (home / "data").glob("runs.sqlite*"):
        left.unlink()

    said(capsys, "import", store)
    assert (home / "data" / ".pgverdict").exists()
    with open_store(home / "data" / "runs.sqlite") as opened:
        assert opened.run_ids() == [RUN]


def test_two_runs_are_shown_side_by_side_without_a_verdict(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place, run_here = str(tmp_path / "here.sqlite"), samples.a_run()
    with open_store(place) as opened:
        opened.begin_run(run_here)
        opened.begin_run(dataclasses.replace(run_here, id="elsewhere", host=(("name", "there"),)))

    told = said(capsys, "report", run_here.id, "elsewhere", "--store", place)
    assert "There is no interval and no verdict" in told
    assert "17.7" in told
    refused = said(capsys, "report", run_here.id, "elsewhere", "--store", place, "--json", "-", code=2)
    assert "two runs are only shown side by side on the screen: -" in refused


def test_a_store_that_may_not_be_written_is_read_where_it_is(
    store: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    before = Path(store).read_bytes()
    for module in (place, stores):  # root may do all
        monkeypatch.setattr(module, "may_write", lambda _: False)

    assert "no round" in said(capsys, "logs", "--store", store)
    assert said(capsys, "export", RUN, str(tmp_path / "out.sqlite"), "--store", store)
    assert Path(store).read_bytes() == before


def test_standard_output_takes_one_format(store: str, capsys: pytest.CaptureFixture[str]) -> None:
    told = said(capsys, "report", "--json", "-", "--csv", "-", "--store", store, code=2)
    assert (
        told
        == "error: standard output takes one format only: - is given twice\nhint: name a file for the other\n"
    )


def test_a_name_that_is_not_utf_8_can_be_printed(store: str, tmp_path: Path) -> None:
    file = os.fsencode(tmp_path) + b"/r\xfcn.sqlite"
    done = subprocess.run(
        [sys.executable, "-m", "pgverdict", "export", RUN, file, "--store", store],
        env={**os.environ, "PYTHONPATH": str(SOURCES), "PYTHONIOENCODING": "utf-8:strict"},
        capture_output=True,
        check=True,
    )
    assert done.stdout == file + b"\n"


def test_a_report_that_names_such_a_file_is_written(tmp_path: Path) -> None:
    write_report(tmp_path / "report.json", '"run r\udcfcn.toml"')
    assert (tmp_path / "report.json").read_text(encoding="utf-8") == '"run r\\udcfcn.toml"'
