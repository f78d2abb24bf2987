"""Arms that cannot be had: which a campaign goes on without."""

from types import SimpleNamespace
from typing import Any

import pytest

from pgverdict.errors import UserError, WorldError
from pgverdict.run import groundwork as under_test
from pgverdict.run.groundwork import _without_missing
from pgverdict.spec.arms import make_arms
from pgverdict.spec.campaign import Campaign, CellSpec
from tests.run.test_execute import Silence

CAMPAIGN = Campaign(make_arms(("17", "source:18", "19")), (CellSpec("select-only", 1, 1),))
SITE: Any = SimpleNamespace(home=None)


def _failing(monkeypatch: pytest.MonkeyPatch, **errors: Exception) -> None:
    def obtain(server: str, *_: object, **__: object) -> None:
        if error := errors.get(server.replace(":", "_").replace("1", "v1")):
            raise error

    monkeypatch.setattr(under_test, "obtain", obtain)


def test_a_candidate_that_cannot_be_built_is_left_out_and_told(monkeypatch: pytest.MonkeyPatch) -> None:
    _failing(monkeypatch, source_v18=WorldError("the build failed"))
    listener = Silence()

    campaign, left_out = _without_missing(CAMPAIGN, SITE, listener)

    assert [arm.name for arm in campaign.arms] == ["17", "19"]
    assert left_out == (("source:18", "the build failed"),)
    assert listener.noted == ["arm source:18 is left out: the build failed"]


def test_a_release_that_nobody_knows_is_the_users_mistake(monkeypatch: pytest.MonkeyPatch) -> None:
    _failing(monkeypatch, v19=UserError("unknown release: 19"))

    with pytest.raises(UserError, match="unknown release: 19"):
        _without_missing(CAMPAIGN, SITE, Silence())


def test_without_any_candidate_there_is_nothing_to_compare(monkeypatch: pytest.MonkeyPatch) -> None:
    _failing(monkeypatch, source_v18=WorldError("the build failed"), v19=WorldError("no network"))

    with pytest.raises(WorldError, match="no network"):
        _without_missing(CAMPAIGN, SITE, Silence())
