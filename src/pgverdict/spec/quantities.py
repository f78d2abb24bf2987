"""Quantities as people write them: `5m`, `1%`, `shared_buffers=1MB`."""

import re
from dataclasses import dataclass
from decimal import Decimal

from pgverdict.errors import UserError

_DURATION = re.compile(r"(?:([\d.]+)h)?(?:([\d.]+)m)?(?:([\d.]+)s)?")
_NUMBER = re.compile(r"\d+(?:\.\d+)?")


def duration_s(text: str) -> float:
    """Seconds of a duration: `90s`, `5m`, `1h30m`, `1.5h`.

    >>> duration_s("1h30m")
    5400.0
    """
    match = _DURATION.fullmatch(text.strip())
    parts = match.groups() if match else ()
    if not any(parts) or not all(part is None or _NUMBER.fullmatch(part) for part in parts):
        raise UserError(f"not a duration: {text}", hint="write 90s, 5m or 1h30m")
    seconds = sum(float(part) * unit for part, unit in zip(parts, (3600, 60, 1), strict=True) if part)
    if not 0 < seconds < float("inf"):
        raise UserError(f"a duration must be longer than nothing: {text}")
    return seconds


def percentage(text: str, *, what: str) -> float:
    """A fraction between 0 and 1, both excluded, from a percentage.

    The sign is demanded: `0.5` could be meant as half a percent or as a half.

    >>> percentage("99%", what="confidence")
    0.99
    """
    number = text.strip().removesuffix("%").strip()
    if not text.strip().endswith("%") or not _NUMBER.fullmatch(number):
        raise UserError(f"not a {what} in percent: {text}", hint="write 1% or 0.5%")
    value = float(Decimal(number) / 100)
    # Compared as the number that is used: 99.99999999999999999 % would otherwise become certainty.
    if not 0 < value < 1:
        raise UserError(f"a {what} lies between 0 % and 100 %: {text}")
    return value


HANDICAP_NS_MAX = 10**9
"""A second per message: more is a typing error."""


@dataclass(frozen=True)
class HandicapAsked:
    """A slow-down of an arm (None: the candidate), in ns per message or as a share of the arm's typical latency."""

    arm: str | None
    ns: int | None
    share: float | None


def handicap(text: str) -> HandicapAsked:
    """A handicap as people write it: `[ARM:]NS` or `[ARM:]PERCENT`.

    >>> handicap("17#2:2%")
    HandicapAsked(arm='17#2', ns=None, share=0.02)
    >>> handicap("400")
    HandicapAsked(arm=None, ns=400, share=None)
    """
    before, colon, amount = text.strip().rpartition(":")
    arm = before if colon else None
    if amount.endswith("%"):
        return HandicapAsked(arm, None, percentage(amount, what="handicap"))
    if not amount.isascii() or not amount.isdigit() or not 0 < int(amount) <= HANDICAP_NS_MAX:
        raise UserError(f"not a handicap: {text}", hint="write 400 (ns per message) or 2%, or ARM:2%")
    return HandicapAsked(arm, int(amount), None)


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
