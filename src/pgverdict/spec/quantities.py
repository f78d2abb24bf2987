"""Quantities as people write them: `5m`, `1%`, `shared_buffers=1MB`."""

import re
from decimal import Decimal

from pgverdict.errors import UserError

_SECONDS = {"s": 1, "m": 60, "h": 3600}
_DURATION = re.compile(r"(\d+(?:\.\d+)?)(s|m|h)")


def duration_s(text: str) -> float:
    """Seconds of a duration: `90s`, `5m`, `1h30m`, `1.5h`.

    >>> duration_s("1h30m")
    5400.0
    """
    parts = _DURATION.findall(text.strip())
    if not parts or "".join(number + unit for number, unit in parts) != text.strip():
        raise UserError(f"not a duration: {text}", hint="write 90s, 5m or 1h30m")
    seconds = float(sum(Decimal(number) * _SECONDS[unit] for number, unit in parts))
    if seconds <= 0:
        raise UserError(f"a duration must be longer than nothing: {text}")
    return seconds


def fraction(text: str, *, what: str) -> float:
    """A fraction between 0 and 1, both excluded, from `1%` or `0.01`.

    >>> fraction("99%", what="confidence")
    0.99
    """
    stripped = text.strip()
    number = stripped.removesuffix("%").strip()
    try:
        value = Decimal(number)
    except ArithmeticError:
        raise UserError(f"not a {what}: {text}", hint="write 1% or 0.01") from None
    if stripped.endswith("%"):
        value /= 100
    # Compared as the number that is used: 99.99999999999999999 % would otherwise become certainty.
    if not value.is_finite() or not 0 < float(value) < 1:
        raise UserError(f"a {what} lies between 0 % and 100 %: {text}")
    return float(value)


_SETTING = re.compile(r"(?:(?P<arm>[^=:]+):)?(?P<name>[A-Za-z_][\w.]*)\s*=(?P<value>.*)", re.DOTALL)


def setting(text: str) -> tuple[str | None, str, str]:
    """(arm or None, name, value) of `[ARM:]NAME=VALUE`. The value may be empty or hold anything.

    >>> setting("candidate:work_mem=4MB")
    ('candidate', 'work_mem', '4MB')
    """
    match = _SETTING.fullmatch(text)
    if match is None:
        raise UserError(f"not a setting: {text}", hint="write NAME=VALUE or ARM:NAME=VALUE")
    return match["arm"], match["name"].lower(), match["value"].strip()
