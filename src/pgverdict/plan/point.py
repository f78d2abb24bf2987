"""One cell as a campaign file says it: its values are still the file's words."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pgverdict.spec.cache import Cache
from pgverdict.spec.own import OwnWork
from pgverdict.spec.regime import Regime

SCALE = 10
CLIENTS = 1
"""Where nothing is said, as with `pgverdict compare`."""

AXES = ("scale", "size", "clients", "regime", "cache")
"""Beside settings and parameters."""


@dataclass(frozen=True)
class Point:
    """A cell as the file says it; `table` is the number of its [[workload]]."""

    table: int
    workload: str
    scale: int = SCALE
    size: str | None = None
    """Instead of a scale."""
    clients: int = CLIENTS
    regime: Regime | None = None
    cache: Cache = Cache.WARM
    settings: tuple[tuple[str, str], ...] = ()
    parameters: tuple[tuple[str, Any], ...] = ()
    primary: str | None = None
    pairs: int | None = None
    own: OwnWork | None = None
    """The user's own work; `workload` is then its name."""

    @property
    def place(self) -> tuple[str | int, ...]:
        """Where it stands in the file."""
        return ("workload", self.table)

    def has(self, name: str, values: Sequence[Any]) -> bool:
        """Whether it has one of these values on the axis of this name."""
        return _spelled(self.on(name)) in [_spelled(value) for value in values]

    def on(self, name: str) -> Any:
        """Its value on an axis; None where it has none."""
        if name in ("workload", *AXES):
            if name == "scale" and self.size is not None:
                return None
            return getattr(self, name)
        return {**dict(self.parameters), **dict(self.settings)}.get(name)


def spelled_value(value: Any) -> str:
    """A setting's value as PostgreSQL reads it.

    >>> spelled_value(True), spelled_value(2), spelled_value("4MB"), spelled_value(1.1)
    ('on', '2', '4MB', '1.1')
    """
    return ("on" if value else "off") if isinstance(value, bool) else str(value)


def _spelled(value: Any) -> str | None:
    """Values of an exclusion are compared as they are spelled: "on" is true."""
    return None if value is None else spelled_value(getattr(value, "value", value))
