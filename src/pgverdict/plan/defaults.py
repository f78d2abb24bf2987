"""Defaults of builds, and how those of different releases are compared and carried over.

A release keeps a number in units of its own, and may change the unit, the type or the range of a setting:

>>> def a_default(value: str, kind: str, unit: str | None, **more: object) -> Default:
...     return Default("x", value, kind, unit, **more)
>>> old, new = a_default("20", "integer", "ms", low="0", high="100"), a_default("2", "real", "ms")
>>> old.written, new.written, a_default("16384", "integer", "8kB").written
('20ms', '2ms', '128MB')
>>> a_default("5", "integer", "16MB").same_as(a_default("80", "integer", "MB"))
True
>>> a_default("0.5", "real", "ms").refusal(old)
'it takes whole numbers of ms there, and the default is 500us'
"""

import re
from dataclasses import dataclass
from decimal import Decimal

_BYTES = {"B": 1, "kB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30, "TB": 1 << 40}
_TIMES_US = {"us": 1, "ms": 10**3, "s": 10**6, "min": 60 * 10**6, "h": 3600 * 10**6, "d": 86400 * 10**6}
_NUMBERS = ("integer", "real")


@dataclass(frozen=True)
class Amount:
    """A number in the smallest unit of its dimension: bytes, microseconds, or none."""

    dimension: str
    number: Decimal


@dataclass(frozen=True)
class Default:
    """A setting of a build, and what a new cluster of it has there.

    `value`, `low` and `high` are plain numbers in `unit`s ('8kB'), or words; `kind` is the server's word: bool,
    integer, real, string, enum.
    """

    name: str
    value: str
    kind: str
    unit: str | None = None
    choices: tuple[str, ...] = ()
    """What an enum may be."""
    low: str | None = None
    high: str | None = None
    group: str = ""
    """The heading under which the server lists it."""
    settable: bool = True
    """Whether a user may choose it for a cluster of ours."""

    @property
    def is_number(self) -> bool:
        return self.kind in _NUMBERS

    @property
    def is_place(self) -> bool:
        """Whether it names files: it says where the build lies, not how it works."""
        return self.kind == "string" and "/" in self.value

    @property
    def amount(self) -> Amount:
        """Of a number. Zero and what is below it (mostly -1: worked out at the start) have no dimension."""
        return self._in_smallest(self.value)

    @property
    def written(self) -> str:
        """As a configuration file of any release takes it, if the release takes the value at all."""
        return _written(self.amount) if self.is_number else self.value

    def written_for(self, there: "Default") -> str:
        """The same, for a release in which the setting may have no unit yet."""
        bare = self.is_number and there.is_number and there.unit is None
        return self.value if bare else self.written

    def same_as(self, other: "Default") -> bool:
        """Whether both say the same, each in its own way."""
        if not (self.is_number and other.is_number):
            words = {_normal(self.written), _normal(other.written)}
            # A switch that became a list was off, and is empty.
            return len(words) == 1 or (words == {"off", ""} and "bool" in (self.kind, other.kind))
        ours, theirs = self.amount, other.amount
        if "" in (ours.dimension, theirs.dimension):
            # A number that got its unit later: what it was without is what it is in that unit.
            return Decimal(self.value) == Decimal(other.value)
        return ours == theirs

    def refusal(self, there: "Default") -> str | None:
        """Why this default cannot be given to the setting as it is `there`; None if it can."""
        if there.kind == "bool":
            return (
                None
                if self.value in ("on", "off")
                else f"it is on or off there, and the default is {self.written}"
            )
        if there.kind == "enum":
            known = [choice.lower() for choice in there.choices]
            return None if self.value.lower() in known else f"it cannot be {self.written} there"
        if there.is_number:
            return self._refusal_of_number(there)
        return None

    def _refusal_of_number(self, there: "Default") -> str | None:
        if not self.is_number:
            return f"it is a number there, and the default is {self.written}"
        amount = self.amount
        dimension, unit = _unit(there.unit)
        if amount.dimension and dimension and amount.dimension != dimension:
            return f"it is counted in {there.unit} there, and the default is {self.written}"
        number = amount.number / unit if amount.dimension and dimension else Decimal(self.value)
        if there.kind == "integer" and number != number.to_integral_value():
            whole = f"whole numbers of {there.unit}" if there.unit else "whole numbers"
            return f"it takes {whole} there, and the default is {self.written}"
        if (there.low is not None and number < Decimal(there.low)) or (
            there.high is not None and number > Decimal(there.high)
        ):
            return f"it lies between {there.low} and {there.high} there, and the default is {self.written}"
        return None

    def _in_smallest(self, text: str) -> Amount:
        assert self.is_number, self.name
        number = Decimal(text)
        dimension, unit = _unit(self.unit)
        return Amount(dimension, number * unit) if number > 0 else Amount("", number)


def _unit(unit: str | None) -> tuple[str, int]:
    """Dimension and size of a unit as the server names it: '8kB', 'ms', none."""
    match = re.fullmatch(r"(\d*)(\D+)", unit or "")
    if match is None:
        return "", 1
    times, name = int(match[1] or 1), match[2]
    if name in _BYTES:
        return "bytes", times * _BYTES[name]
    assert name in _TIMES_US, f"no unit of PostgreSQL: {unit}"
    return "time", times * _TIMES_US[name]


def _written(amount: Amount) -> str:
    """In the largest unit that leaves a whole number."""
    if amount.dimension:
        units = _BYTES if amount.dimension == "bytes" else _TIMES_US
        for name, size in sorted(units.items(), key=lambda unit: -unit[1]):
            if amount.number % size == 0:
                # Releases before 11 know no bytes: settings in bytes take a plain number everywhere.
                return f"{amount.number // size:f}" + ("" if name == "B" else name)
    text = f"{amount.number.normalize():f}"
    return "0" if text == "-0" else text


def _normal(text: str) -> str:
    """A list is the same with and without blanks after its commas."""
    return re.sub(r"\s*,\s*", ",", text).strip()
