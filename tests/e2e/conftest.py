"""A home for real servers, kept between test runs, so that servers are fetched and datasets loaded once."""

from pathlib import Path

import pytest

from pgverdict.engine.binary import find_engine
from pgverdict.errors import WorldError
from tests.homes import home_of_runs


@pytest.fixture(scope="session")
def home() -> Path:
    """Where servers and templates stay between test runs; the store, that an older checkout made, does not."""
    path = home_of_runs()
    path.mkdir(mode=0o755, parents=True, exist_ok=True)
    for file in (path / "data").glob("runs.sqlite*"):
        file.unlink()
    return path


@pytest.fixture
def store(tmp_path: Path) -> str:
    """A store of the test's own."""
    return str(tmp_path / "runs.sqlite")


@pytest.fixture(scope="session", autouse=True)
def _engine_is_built() -> None:
    try:
        find_engine()
    except WorldError as error:
        pytest.fail(f"{error.message}; {error.hint}")
