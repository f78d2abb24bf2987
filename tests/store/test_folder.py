"""A run as tables for notebooks: every row, every digit, and nothing of other runs."""

import base64
import csv
import errno
import json
import math
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyarrow import parquet
from sqlalchemy import Table

from pgverdict.errors import UserError, WorldError
from pgverdict.store import folder, tables
from pgverdict.store.folder import write_csv, write_parquet
from pgverdict.store.runs import Store

from . import made

NAMES = {table.name for table in tables.metadata.sorted_tables}


@pytest.fixture
def kept(store: Store) -> Store:
    """A store with a run, and with one that is not wanted."""
    store.begin_run(made.a_run("2026-11-20-ffff", started="2026-11-20T10:00:00Z", rounds=(made.a_round(5),)))
    store.begin_run(made.a_run("run", rounds=(made.a_round(0), made.a_failed_round(1))))
    return store


def csv_rows(folder: Path, table: str) -> list[dict[str, str]]:
    with (folder / f"{table}.csv").open(newline="") as lines:
        return list(csv.DictReader(lines))


def test_every_table_is_a_csv_file_with_the_rows_of_the_run_alone(kept: Store, tmp_path: Path) -> None:
    write_csv(kept, "run", tmp_path / "out")

    assert {path.name for path in (tmp_path / "out").iterdir()} == {"README.md", *(f"{n}.csv" for n in NAMES)}
    assert [row["id"] for row in csv_rows(tmp_path / "out", "runs")] == ["run"]
    assert [row["state"] for row in csv_rows(tmp_path / "out", "rounds")] == ["measured", "failed"]
    slices = csv_rows(tmp_path / "out", "slices")
    assert len(slices) == len(made.a_round(0).slices)
    assert {float(row["rate_hz"]) for row in slices} == {made.a_round(0).slices[0].rate_hz}
    assert [row["ordinal"] for row in csv_rows(tmp_path / "out", "cells")] == ["0", "1"]


def test_what_a_csv_file_says_is_what_was_kept(kept: Store, tmp_path: Path) -> None:
    write_csv(kept, "run", tmp_path / "out")

    kinds = csv_rows(tmp_path / "out", "kinds")
    assert {row["histogram"] for row in kinds} == {made.HISTOGRAM}
    assert {row["latency_ns_p50"] for row in kinds if row["name"] == "delivery"} == {""}
    assert json.loads(csv_rows(tmp_path / "out", "runs")[0]["host"]) == [["cpu", "AMD EPYC"], ["cores", "2"]]
    assert csv_rows(tmp_path / "out", "runs")[0]["debug_builds"] == "false"
    failed = csv_rows(tmp_path / "out", "rounds")[1]
    assert failed["story"] == made.a_failed_round(1).story


def parquet_rows(folder: Path, table: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = parquet.read_table(folder / f"{table}.parquet").to_pylist()
    return rows


def test_parquet_has_the_same_rows_with_their_types(kept: Store, tmp_path: Path) -> None:
    write_csv(kept, "run", tmp_path / "csv")
    write_parquet(kept, "run", tmp_path / "parquet")

    for name in NAMES:
        texts, values = csv_rows(tmp_path / "csv", name), parquet_rows(tmp_path / "parquet", name)
        assert [list(row) for row in texts] == [list(row) for row in values]
        assert [list(map(spelled, row.values())) for row in values] == [list(row.values()) for row in texts]
    assert isinstance(parquet_rows(tmp_path / "parquet", "slices")[0]["rate_hz"], float)
    comments = parquet.read_schema(tmp_path / "parquet" / "slices.parquet").field("rate_hz").metadata
    assert comments == {b"comment": b"transactions per second of busy time"}


def spelled(value: Any) -> str:
    """A value as CSV has it."""
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case bytes():
            return base64.b64encode(value).decode()
        case float():
            assert not math.isnan(value), "what was not measured is null"
            return repr(value)
    return str(value)


def test_the_folder_says_what_every_column_means(kept: Store, tmp_path: Path) -> None:
    write_csv(kept, "run", tmp_path / "out")

    said = (tmp_path / "out" / "README.md").read_text()
    for table in tables.metadata.sorted_tables:
        assert f"## {table.name}" in said
        for column in table.columns:
            assert f"| `{column.name}` | {column.comment} |" in said


@pytest.mark.parametrize("write", [write_csv, write_parquet])
def test_a_folder_that_holds_something_is_left_alone(
    kept: Store, tmp_path: Path, write: Callable[[Store, str, Path], None]
) -> None:
    (tmp_path / "mine.csv").write_text("mine")
    with pytest.raises(UserError, match="will not write into a folder that holds something"):
        write(kept, "run", tmp_path)
    assert [path.name for path in tmp_path.iterdir() if path.suffix == ".csv"] == ["mine.csv"]


def test_without_pyarrow_it_is_named(kept: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(UserError, match="Parquet needs the package pyarrow") as caught:
        write_parquet(kept, "run", tmp_path / "out")
    assert caught.value.hint == "pip install 'pgverdict[parquet]', or --csv DIR"
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("there", [True, False])
def test_a_disk_that_is_full_leaves_nothing_half_written(
    kept: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, there: bool
) -> None:
    if there:
        (tmp_path / "out").mkdir()
    write = folder._csv

    def write_some(place: Path, table: Table, rows: folder.Rows) -> None:
        write(place, table, rows)
        if table is tables.rounds:
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(folder, "_csv", write_some)
    with pytest.raises(WorldError, match="No space left on device") as refused:
        write_csv(kept, "run", tmp_path / "out")
    assert refused.value.hint == "make room on its file system"
    assert [path.name for path in tmp_path.glob("out/**/*")] == []
    assert (tmp_path / "out").exists() is there


def test_what_others_put_beside_a_half_written_folder_stays(
    kept: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = folder._csv

    def write_beside(place: Path, table: Table, rows: folder.Rows) -> None:
        write(place, table, rows)
        (place / "thesis.csv").write_text("theirs")
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(folder, "_csv", write_beside)
    with pytest.raises(WorldError, match="No space left on device"):
        write_csv(kept, "run", tmp_path / "out")

    assert [path.name for path in (tmp_path / "out").iterdir()] == ["thesis.csv"]
