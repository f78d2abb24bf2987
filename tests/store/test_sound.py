"""A file that was damaged, or made by hand, is refused before anything of it is in a store."""

import sqlite3
from pathlib import Path
from typing import Any

import pytest

from pgverdict.errors import WorldError
from pgverdict.store.exported import export_run, open_exported
from pgverdict.store.glances import glance
from pgverdict.store.opening import open_store

from . import made


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """An exported run."""
    with open_store(tmp_path / "here.db") as opened:
        opened.begin_run(made.a_run(rounds=(made.a_round(0), made.a_failed_round(1))))
        export_run(opened, opened.run_id(), tmp_path / "run.sqlite")
    return tmp_path / "run.sqlite"


def put(file: Path, table: str, column: str, value: Any) -> None:
    connection = sqlite3.connect(file)
    connection.execute(f"UPDATE {table} SET {column} = ?", (value,))
    connection.commit()
    connection.close()


DAMAGE = [
    ("slices", "latency_ns_p50", "fast", r"slices\.latency_ns_p50 holds text"),
    ("slices", "latency_ns_p50", float("inf"), r"slices\.latency_ns_p50 holds no finite number"),
    ("rounds", "watched_ns", b"\xff\xfe", r"rounds\.watched_ns holds blob"),
    ("rounds", "placement", 1, r"rounds\.placement holds"),
    ("kinds", "histogram", "AAAA", r"kinds\.histogram holds text"),
    ("runs", "rounds", "[[0,1],[1,0]]", r"runs\.rounds holds text"),
    ("arms", "run_id", "another", "rows of arms belong to no row of runs"),
    ("cells", "cache", "lukewarm", "it is damaged .*'lukewarm' is not a valid Cache"),
    ("cells", "parameters", "{", "it is damaged .*JSONDecodeError"),
    ("cells", "own_work", "[" * 100_000, "it is damaged .*RecursionError"),
    ("rounds", "connect_order", "[1,2]", "round 0 of run .* has other arms than the run"),
]


@pytest.mark.parametrize(("table", "column", "value", "complaint"), DAMAGE)
def test_what_makes_no_sense_is_refused_by_name(
    file: Path, table: str, column: str, value: Any, complaint: str
) -> None:
    put(file, table, column, value)
    with pytest.raises(WorldError, match=complaint) as refused, open_exported(file):
        pass
    assert refused.value.hint


def test_a_run_without_arms_is_refused(file: Path) -> None:
    connection = sqlite3.connect(file)
    connection.execute("DELETE FROM arms")
    connection.commit()
    connection.close()
    with pytest.raises(WorldError, match=r"it is damaged .*not 0"), open_exported(file):
        pass
    with pytest.raises(WorldError, match="has no arms"):
        glance(str(file))


@pytest.mark.parametrize(
    ("column", "value"), [("cache", "lukewarm"), ("own_work", "["), ("parameters", "null")]
)
def test_a_list_of_damaged_runs_says_so(file: Path, column: str, value: str) -> None:
    put(file, "cells", column, value)
    with pytest.raises(WorldError, match=r"cannot list the runs of the store .*run\.sqlite: it is damaged"):
        glance(str(file))


def test_a_damaged_run_of_a_store_is_told_when_it_is_read(file: Path) -> None:
    put(file, "runs", "placement", "nowhere")
    with open_store(file) as opened, pytest.raises(WorldError, match=r"cannot read run .*: it is damaged"):
        opened.load_run()
