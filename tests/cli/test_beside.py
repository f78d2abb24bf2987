"""`pgverdict report --beside FILE`."""

import dataclasses
from pathlib import Path

import pytest

from pgverdict.cli.report import report
from pgverdict.errors import UserError
from pgverdict.records.run import RunState
from pgverdict.store.opening import open_store
from tests.report import samples
from tests.report.test_beside import PUBLISHED, SELECTS


@pytest.fixture
def store(tmp_path: Path) -> str:
    """With a run in it, and nothing beside."""
    place = tmp_path / "runs.sqlite"
    run = samples.a_run()
    bare = tuple(dataclasses.replace(cell, rounds=()) for cell in run.cells)
    with open_store(place) as opened:
        opened.begin_run(dataclasses.replace(run, cells=bare, state=RunState.RUNNING, seconds=0.0))
        for number, cell in enumerate(run.cells):
            for record in cell.rounds:
                opened.keep_round(run.id, number, record)
    return str(place)


def test_a_stored_run_is_shown_beside_published_numbers(tmp_path: Path, store: str) -> None:
    published, page = tmp_path / "p.toml", tmp_path / "page.md"
    published.write_text(PUBLISHED + SELECTS)

    report(markdown=page, beside=published, store=store)

    text = page.read_text()
    assert "## Beside A. Author, Seventeen and eighteen (2025)" in text
    assert "| reads | select-only | 0.0050 | 0.0052 |" in text


def test_a_file_that_is_not_there_is_told_before_the_store_is_read(tmp_path: Path) -> None:
    with pytest.raises(UserError) as error:
        report(beside=tmp_path / "none.toml", store=str(tmp_path / "none.sqlite"))

    assert (
        error.value.message
        == f"cannot read the published numbers {tmp_path / 'none.toml'}: No such file or directory"
    )
    assert error.value.hint == "campaigns/published/ has those of the studies"


def test_a_file_that_is_no_text_is_told_so(tmp_path: Path) -> None:
    (tmp_path / "p.toml").write_bytes(b"\xff\xfe\x00")

    with pytest.raises(UserError) as error:
        report(beside=tmp_path / "p.toml", store=str(tmp_path / "none.sqlite"))

    assert error.value.message == f"not a text file in UTF-8: {tmp_path / 'p.toml'}"
