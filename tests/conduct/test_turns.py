"""Whose turn it is, with freezers that only remember."""

from types import TracebackType
from typing import Self

import pytest

from pgverdict.conduct.turns import Turns, require_freezable
from pgverdict.errors import UserError
from pgverdict.servers.freeze import Means
from pgverdict.spec.regime import Regime
from pgverdict.workloads import catalogue


class Remembering:
    """A freezer that takes as many ns as it has been used."""

    def __init__(self, arm: int, deeds: list[str]) -> None:
        self.arm = arm
        self.deeds = deeds

    def begin(self) -> None:
        self._do("begin")

    def freeze(self) -> int:
        return self._do("freeze")

    def thaw(self) -> int:
        return self._do("thaw")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    def _do(self, deed: str) -> int:
        self.deeds.append(f"{deed} {self.arm}")
        return len(self.deeds)


def turns(deeds: list[str], arms: int = 2) -> Turns:
    return Turns({arm: Remembering(arm, deeds) for arm in range(arms)}, Means.SIGNAL)


def test_all_others_are_frozen_before_an_arm_is_thawed() -> None:
    deeds: list[str] = []
    order = turns(deeds, arms=3)
    with order.taken():
        del deeds[:]
        order.give(1)
        order.give(1)
        order.give(2)

        assert deeds == ["freeze 0", "freeze 2", "freeze 1", "thaw 2"]

    assert sorted(deeds[4:]) == ["thaw 0", "thaw 1"]


def test_an_error_thaws_everybody() -> None:
    deeds: list[str] = []
    order = turns(deeds)

    def fail_in_a_slice() -> None:
        with order.taken():
            order.give(0)
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail_in_a_slice()

    assert deeds == ["begin 0", "begin 1", "freeze 1", "thaw 1"]


def test_how_long_it_took_is_recorded() -> None:
    order = turns([])
    with order.taken():
        for arm in (0, 1, 0):
            order.give(arm)

    assert order.facts() == (
        ("freeze", "signal"),
        ("freeze_ns_median", "4"),
        ("freeze_ns_max", "6"),
        ("thaw_ns_median", "7"),
        ("thaw_ns_max", "8"),
    )


def test_without_freezing_nothing_happens_and_the_record_says_so() -> None:
    with Turns.among({}, None) as order, order.taken():
        order.give(0)

        assert order.facts() == (("freeze", "off"),)


def test_workloads_may_be_frozen_in_the_regimes_of_their_own() -> None:
    for name in catalogue.names():
        if catalogue.workload(name).chain is None:
            require_freezable(catalogue.workload(name).regime, name)


def test_a_regime_that_lives_on_background_work_is_never_frozen() -> None:
    with pytest.raises(UserError, match="cannot be frozen in the steady regime: tpcb-like"):
        require_freezable(Regime.STEADY, "tpcb-like")
