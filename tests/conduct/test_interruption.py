"""A request to end is no failure of the round in which it is made."""

import signal
from types import SimpleNamespace
from typing import Any

import pytest

from pgverdict.conduct import round as under_test
from pgverdict.errors import WorldError
from pgverdict.servers import interruption
from pgverdict.spec.regime import Regime

ANY: Any = None


@pytest.fixture
def met(monkeypatch: pytest.MonkeyPatch) -> None:
    """No request was made yet, and what this test makes is forgotten after it."""
    for name, value in (("_asked_at", None), ("_held", False), ("_said", False)):
        monkeypatch.setattr(interruption, name, value)


def _asked(*_: object) -> Any:
    with pytest.raises(KeyboardInterrupt):
        interruption._receive(signal.SIGTERM, None)


@pytest.mark.usefixtures("met")
def test_an_error_of_the_clean_up_that_a_request_set_off_is_no_failed_round(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def measure(*_: object) -> Any:
        _asked()
        raise WorldError("the engine ended")

    monkeypatch.setattr(under_test, "_measure", measure)
    cell: Any = SimpleNamespace(regime=Regime.FRESH, memory_bytes=None)

    with pytest.raises(KeyboardInterrupt):
        under_test.run_round(cell, ANY, None, ANY)


@pytest.mark.usefixtures("met")
def test_no_round_begins_after_a_request_that_was_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(under_test, "_measure", lambda *_: pytest.fail("a round began"))
    _asked()

    with pytest.raises(KeyboardInterrupt):
        under_test.run_round(ANY, ANY, None, ANY)
