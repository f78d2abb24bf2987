"""The home that builds are kept in between sessions, and the sources."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from pgverdict.servers.account import Account, server_account
from pgverdict.servers.home import Home
from tests.debian_source import NoDebianError, fetch_tarball
from tests.homes import home_for_tests

PACKAGES = {15: ("postgresql-15", "bookworm"), 18: ("postgresql-18", "sid")}
"""A release that is built by make and one that is built by meson, and where Debian has them."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.building)


@pytest.fixture(scope="session")
def account() -> Account:
    return server_account()


@pytest.fixture(scope="session")
def home(account: Account) -> Home:
    missing = [
        name
        for name in ("cc", "make", "meson", "ninja", "bison", "flex", "perl")
        if shutil.which(name) is None
    ]
    if missing:
        pytest.skip(f"NOT TESTED: builds from source, for want of {', '.join(missing)}")
    home = Home.find({"PGVERDICT_HOME": str(home_for_tests())})
    home.ensure(account)
    return home


@pytest.fixture(scope="session")
def tarball() -> Callable[[int], Path]:
    """The tarball of a major release."""

    def fetch(major: int) -> Path:
        try:
            return fetch_tarball(*PACKAGES[major], home_for_tests() / "sources")
        except NoDebianError as error:
            pytest.skip(f"NOT TESTED: builds from Debian's source packages: {error}")

    return fetch
