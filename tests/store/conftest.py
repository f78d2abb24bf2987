"""Stores to test against: a file, and a PostgreSQL where there is one."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text

from pgverdict.store.opening import SCHEMA, open_store
from pgverdict.store.runs import Store

from .servers import a_postgresql


@pytest.fixture(scope="session")
def postgresql_url() -> Iterator[str]:
    with a_postgresql() as url:
        yield url


@pytest.fixture
def empty_postgresql_url(postgresql_url: str) -> str:
    """A PostgreSQL without anything of ours, whatever the test before left."""
    engine = create_engine(postgresql_url.replace("postgresql:", "postgresql+psycopg:", 1))
    with engine.begin() as connection:
        connection.execute(text(f"DROP SCHEMA IF EXISTS {SCHEMA} CASCADE"))
    engine.dispose()
    return postgresql_url


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where an empty store may be made."""
    if request.param == "sqlite":
        return str(tmp_path / "runs.db")
    found: str = request.getfixturevalue("empty_postgresql_url")
    return found


@pytest.fixture
def store(url: str) -> Iterator[Store]:
    with open_store(url) as opened:
        yield opened
