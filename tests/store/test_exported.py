"""A run goes into a file, and comes out of it in another store with the same report."""

import dataclasses
import os
import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import text

from pgverdict.errors import PgverdictError, UserError, WorldError
from pgverdict.judge.cell import judge_run
from pgverdict.judge.summary import summarize
from pgverdict.judge.trend import judge_trends
from pgverdict.records.run import RunRecord
from pgverdict.report.machine import to_json
from pgverdict.report.markdown import to_markdown
from pgverdict.report.model import make_report
from pgverdict.report.table import to_csv
from pgverdict.store import place
from pgverdict.store.exported import export_run, open_exported
from pgverdict.store.glances import glance
from pgverdict.store.opening import open_store
from pgverdict.store.runs import Store
from pgverdict.store.tables import VERSION_TABLE
from pgverdict.store.transfer import take_run
from tests.judge.recorded import as_record, series
from tests.report import samples

from . import made


@pytest.fixture
def here(tmp_path: Path) -> Iterator[Store]:
    """A store with two runs."""
    with open_store(tmp_path / "here.db") as opened:
        opened.begin_run(made.a_run("2026-11-20-ffff", started="2026-11-20T10:00:00Z"))
        opened.begin_run(made.a_run(rounds=(made.a_round(0), made.a_failed_round(1), made.a_round(1))))
        yield opened


def reports(run: RunRecord) -> tuple[str, str, str]:
    report = make_report(run, judge_run(run), judge_trends(run), summarize(run))
    return to_json(report), to_markdown(report), to_csv(run)


def a_run_of_real_rounds() -> RunRecord:
    """The first cell has rounds of servers of which one was slowed down by 2 %, the second a failed round."""
    run = samples.a_run()
    rounds = tuple(as_record(one, ordinal) for ordinal, one in enumerate(series("e4s", "sp380")))
    return dataclasses.replace(run, cells=(dataclasses.replace(run.cells[0], rounds=rounds), *run.cells[1:]))


def import_from(file: Path, store: Store) -> None:
    with open_exported(file) as source:
        for run_id in source.run_ids():
            take_run(source, run_id, store)


def test_a_file_holds_one_run_and_nothing_lies_beside_it(here: Store, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    export_run(here, "2026-11-21-3f9a", tmp_path / "out" / "run.sqlite")

    assert [path.name for path in (tmp_path / "out").iterdir()] == ["run.sqlite"]
    with open_exported(tmp_path / "out" / "run.sqlite") as opened:
        assert opened.run_ids() == ["2026-11-21-3f9a"]
        assert opened.load_run() == here.load_run("2026-11-21-3f9a")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["run.sqlite"]


def test_reports_of_an_imported_run_are_the_same_to_the_last_digit(tmp_path: Path, store: Store) -> None:
    run = a_run_of_real_rounds()
    with open_store(tmp_path / "here.db") as here:
        here.begin_run(run)
        expected = reports(here.load_run(run.id))
        export_run(here, run.id, tmp_path / "run.sqlite")
    import_from(tmp_path / "run.sqlite", store)

    assert reports(store.load_run(run.id)) == expected
    assert '"SLOWER"' in expected[0]


def test_a_run_goes_out_of_any_store(store: Store, tmp_path: Path) -> None:
    run = made.a_run(rounds=(made.a_round(0),))
    store.begin_run(run)
    export_run(store, run.id, tmp_path / "run.sqlite")
    with open_exported(tmp_path / "run.sqlite") as opened:
        assert opened.load_run() == run


def test_a_whole_store_may_be_read_while_a_run_writes_into_it(
    here: Store, tmp_path: Path, store: Store
) -> None:
    here.keep_round("2026-11-20-ffff", 0, made.a_round(7))  # committed, and in the journal only
    import_from(tmp_path / "here.db", store)

    assert store.run_ids() == here.run_ids()
    assert all(store.load_run(run_id) == here.load_run(run_id) for run_id in here.run_ids())


def test_a_file_of_an_earlier_version_is_read_and_stays_as_it_is(
    here: Store, tmp_path: Path, store: Store
) -> None:
    file = tmp_path / "run.sqlite"
    export_run(here, "2026-11-21-3f9a", file)
    with sqlite3.connect(file) as connection:
        for table in ("steps", "round_logs", "preliminaries", "slice_seconds"):
            connection.execute(f"DROP TABLE {table}")
        connection.execute("DROP INDEX rounds_cell_state_idx")
        connection.execute("ALTER TABLE runs DROP COLUMN event_loop")
        connection.execute("ALTER TABLE round_arms DROP COLUMN huge_pages")
        connection.execute(f"UPDATE {VERSION_TABLE} SET version_num = '0010'")
    connection.close()
    before = file.read_bytes()
    import_from(file, store)

    run = here.load_run("2026-11-21-3f9a")
    cells = tuple(
        dataclasses.replace(
            cell,
            rounds=tuple(
                dataclasses.replace(
                    one,
                    arms=tuple(
                        dataclasses.replace(arm, steps=(), preliminaries=(), huge_pages=None)
                        for arm in one.arms
                    ),
                    slices=tuple(dataclasses.replace(each, seconds=()) for each in one.slices),
                    logs=(),
                )
                for one in cell.rounds
            ),
        )
        for cell in run.cells
    )
    assert store.load_run() == dataclasses.replace(run, cells=cells)
    assert file.read_bytes() == before


def test_a_file_of_a_later_version_is_refused_by_its_name(here: Store, tmp_path: Path) -> None:
    file = tmp_path / "run.sqlite"
    export_run(here, "2026-11-21-3f9a", file)
    with open_store(file) as opened, opened.writing() as connection:
        connection.execute(text(f"UPDATE {VERSION_TABLE} SET version_num = '9999'"))
    with pytest.raises(WorldError, match=r"written by a newer pgverdict: .*/run\.sqlite has version 9999"):
        import_from(file, here)


@pytest.mark.parametrize(
    ("make", "kind", "complaint"),
    [
        (lambda _file: None, UserError, r"no such file: .*/x\.sqlite"),
        (lambda file: file.mkdir(), UserError, "no such file"),
        (
            lambda file: file.write_text("notes " * 99),
            WorldError,
            r"cannot read .*/x\.sqlite: file is not a database",
        ),
        (
            lambda file: sqlite3.connect(file).execute("CREATE TABLE bookmarks (url)"),
            WorldError,
            r"not a pgverdict store: .*/x\.sqlite holds other tables",
        ),
    ],
    ids=["nothing", "a folder", "a text", "another database"],
)
def test_what_holds_no_runs_is_named(
    tmp_path: Path, make: object, kind: type[PgverdictError], complaint: str
) -> None:
    file = tmp_path / "x.sqlite"
    made_there = make(file)  # type: ignore[operator]
    if isinstance(made_there, sqlite3.Cursor):
        made_there.connection.close()
    with pytest.raises(kind, match=complaint), open_exported(file):
        pass


def test_no_file_is_written_over(here: Store, tmp_path: Path) -> None:
    file = tmp_path / "mine.sqlite"
    file.write_text("mine")
    with pytest.raises(UserError, match="will not write over a file"):
        export_run(here, "2026-11-21-3f9a", file)
    assert file.read_text() == "mine"


def test_a_folder_that_is_not_there_is_named(here: Store, tmp_path: Path) -> None:
    with pytest.raises(WorldError, match=r"cannot write the run to .*/no/run\.sqlite: No such file"):
        export_run(here, "2026-11-21-3f9a", tmp_path / "no" / "run.sqlite")


def test_a_file_that_may_only_be_read_can_be_imported(here: Store, tmp_path: Path, store: Store) -> None:
    folder = tmp_path / "disc"
    folder.mkdir()
    export_run(here, "2026-11-21-3f9a", folder / "run.sqlite")
    (folder / "run.sqlite").chmod(0o444)
    folder.chmod(0o555)
    try:
        import_from(folder / "run.sqlite", store)
    finally:
        folder.chmod(0o755)
    shutil.rmtree(folder)
    assert store.run_ids() == ["2026-11-21-3f9a"]


def test_a_name_need_not_be_utf_8(here: Store, tmp_path: Path, store: Store) -> None:
    file = tmp_path / os.fsdecode(b"r\xfcn.sqlite")
    export_run(here, "2026-11-21-3f9a", file)
    import_from(file, store)
    assert store.run_ids() == ["2026-11-21-3f9a"]
    assert [one.id for one in glance(str(file))] == ["2026-11-21-3f9a"]


def test_a_name_that_is_too_long_is_told(here: Store, tmp_path: Path) -> None:
    file = tmp_path / ("x" * 300)
    with pytest.raises(WorldError, match=r"cannot write the run to .*: File name too long"):
        export_run(here, "2026-11-21-3f9a", file)
    with pytest.raises(UserError, match="no such file"), open_exported(file):
        pass


def test_a_store_where_nothing_may_be_written_is_read_without_a_journal(
    here: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What `report --store` does with a file that was once opened to be written, on a disc."""
    (tmp_path / "disc").mkdir()
    file = tmp_path / "disc" / "run.sqlite"
    export_run(here, "2026-11-21-3f9a", file)
    open_store(file).close()  # written ahead from now on
    before = file.read_bytes()
    monkeypatch.setattr(place, "may_write", lambda _: False)  # root may do all

    assert [one.id for one in glance(str(file))] == ["2026-11-21-3f9a"]
    with open_exported(file) as opened:
        assert opened.run_ids() == ["2026-11-21-3f9a"]
    assert [path.name for path in file.parent.iterdir()] == ["run.sqlite"]
    assert file.read_bytes() == before
