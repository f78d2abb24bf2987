"""Whose turn it is. Where freezing was asked for, an arm whose turn it is not does nothing at all.

So that its background work (checkpoints, vacuum) is counted in its own slices: METHODOLOGY.md#freezing.
"""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from statistics import median
from typing import Self

from pgverdict.errors import UserError
from pgverdict.servers.freeze import Freezer, Means, make_freezer
from pgverdict.servers.outside import AnyServer
from pgverdict.servers.server import Server
from pgverdict.spec.regime import Regime

_FREEZABLE = (Regime.READ_ONLY, Regime.FRESH)
"""Named one by one: a regime that is about background work in its own time must never get in by default."""


class Turns:
    """The arms' freezers, and how long they took; without freezers it only says so."""

    def __init__(self, freezers: Mapping[int, Freezer], means: Means | None) -> None:
        self._freezers = freezers
        self._means = means
        self._frozen: set[int] = set()
        self._freeze_ns: list[int] = []
        self._thaw_ns: list[int] = []

    @classmethod
    @contextmanager
    def among(cls, servers: Mapping[int, AnyServer], means: Means | None) -> Iterator[Self]:
        """For servers that are started and stopped within."""
        with ExitStack() as stack:
            freezers = {}
            if means is not None:
                for arm, server in servers.items():
                    assert isinstance(server, Server), "only servers of ours are frozen"
                    freezers[arm] = stack.enter_context(make_freezer(means, server))
            yield cls(freezers, means)

    @contextmanager
    def taken(self) -> Iterator[None]:
        """While slices run, on servers that have started; however that ends, everybody may work again."""
        for freezer in self._freezers.values():
            freezer.begin()
        try:
            yield
        finally:
            for arm in tuple(self._frozen):
                self._thaw(arm)

    def give(self, arm: int) -> None:
        """From now on nobody but this arm works."""
        for other in self._freezers:
            if other != arm and other not in self._frozen:
                self._frozen.add(other)
                self._freeze_ns.append(self._freezers[other].freeze())
        self._thaw(arm)

    def facts(self) -> tuple[tuple[str, str], ...]:
        """By what and how long, for the round's record."""
        if self._means is None:
            return (("freeze", "off"),)
        return (
            ("freeze", self._means.value),
            *(
                (f"{name}_ns_{which.__name__}", str(round(which(took))))
                for name, took in (("freeze", self._freeze_ns), ("thaw", self._thaw_ns))
                for which in (median, max)
                if took
            ),
        )

    def _thaw(self, arm: int) -> None:
        if arm in self._frozen:
            self._thaw_ns.append(self._freezers[arm].thaw())
            self._frozen.remove(arm)


def require_freezable(regime: Regime, workload: str) -> None:
    """UserError for a regime that lives on what servers do in their own time."""
    if regime not in _FREEZABLE:
        raise UserError(
            f"servers cannot be frozen in the {regime.value} regime: {workload}",
            hint="leave out --freeze, or choose --regime fresh",
        )
