"""Files that reports are written to."""

import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from pgverdict.cli.outputs import write_report
from pgverdict.errors import WorldError


@contextmanager
def files_of_at_most(size_bytes: int) -> Iterator[None]:
    """As on a disk that is full: what is written beyond fails."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size_bytes, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.parametrize("there", [True, False])
def test_a_report_that_does_not_fit_is_not_half_there(tmp_path: Path, there: bool) -> None:
    path = tmp_path / "report.html"
    if there:
        path.write_text("of yesterday")
    with files_of_at_most(4096), pytest.raises(WorldError, match=r"cannot write the report .* too large"):
        write_report(path, "x" * 100_000)
    assert list(tmp_path.iterdir()) == []


def test_what_cannot_be_opened_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "report.html").mkdir()
    with pytest.raises(WorldError, match=r"cannot write the report .* directory"):
        write_report(tmp_path / "report.html", "x")
    assert (tmp_path / "report.html").is_dir()
