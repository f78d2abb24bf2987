"""How tests run: side by side on two cores, but for those that measure, as the host lets one run measure at a time;
property tests with the same examples every time and for as long as they take.
"""

import signal
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from xdist.scheduler import LoadScopeScheduling

settings.register_profile("searching", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("same", settings.get_profile("searching"), derandomize=True)
settings.load_profile("same")


@pytest.fixture(autouse=True)
def _signals_as_they_were() -> Iterator[None]:
    """A command that ends within a test's process has it ignore requests to end, and all that it starts later."""
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = {number: signal.getsignal(number) for number in numbers}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> "LoadScopeScheduling":
    """One process gets all that measure, one after the other; else every test goes where there is time for it.

    By the place of a test, as the marks that xdist has for this (3.8) do not reach it under pytest 9.2.
    """
    from xdist.scheduler import LoadScopeScheduling

    class MeasuringAlone(LoadScopeScheduling):  # type: ignore[misc]  # untyped
        def _split_scope(self, nodeid: str) -> str:
            return "measuring" if nodeid.startswith("tests/e2e/") else nodeid

    return MeasuringAlone(config, log)
