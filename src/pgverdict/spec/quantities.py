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
        raise UserError(f"a duration must be longer than nothing: {text}", hint="write 90s, 5m or 1h30m")
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
        raise UserError(f"a {what} lies between 0 % and 100 %: {text}", hint="write 1% or 0.5%, 99% or 99.9%")
    return value


_SIZE = re.compile(r"(\d+)\s*(kB|MB|GB|TB)")
SIZE_UNITS = {"kB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30, "TB": 1 << 40}
"""As PostgreSQL's settings have them: spelt exactly so, and powers of 1024."""


def is_size(text: str) -> bool:
    """Whether `size_bytes` can read it."""
    return _SIZE.fullmatch(text.strip()) is not None


def size_bytes(text: str) -> int:
    """Bytes of a size as PostgreSQL writes it: `512MB`, `4GB`.

    >>> size_bytes("4GB")
    4294967296
    """
    match = _SIZE.fullmatch(text.strip())
    if match is None:
        raise UserError(f"not a size: {text}", hint="write 512MB or 4GB")
    return int(match[1]) * SIZE_UNITS[match[2]]


def placed(text: str, *, where: str) -> tuple[str, str]:
    """(arm, directory) of `ARM:DIR`; `where` is the option that says it.

    >>> placed("candidate:/mnt/fast", where="--data-directory")
    ('candidate', '/mnt/fast')
    """
    arm, _, directory = text.strip().partition(":")
    if not arm or not directory.startswith("/"):
        raise UserError(
            f"not an arm and the full path of a directory in {where}: {text}",
            hint=f"write {where} candidate:/mnt/fast",
        )
    return arm, directory


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


_SETTING = re.compile(r"(?:(?P<arm>[^=:]+):)?(?P<name>[A-Za-z_][\w.]*\??)\s*=(?P<value>.*)", re.DOTALL)

_SETTING_OF_SPELLING = re.compile(
    r"(?P<arm>\S*?[:=].*?):(?P<name>[A-Za-z_][\w.]*\??)\s*=(?P<value>.*)", re.DOTALL
)
"""Of an arm without a name of its own, whose spelling has colons or equals signs: git:.@HEAD,patch=a.patch:jit=off"""


def setting(text: str) -> tuple[str | None, str, str]:
    """(arm or None, name, value) of `[ARM:]NAME=VALUE`. The value may be empty or hold anything.

    A question mark at the end of the name is kept: such a setting is left out on arms that do not know it.

    >>> setting("candidate:work_mem=4MB")
    ('candidate', 'work_mem', '4MB')
    >>> setting("git:.@HEAD,patch=a.patch:jit=off")
    ('git:.@HEAD,patch=a.patch', 'jit', 'off')
    >>> setting("jit?=off")
    (None, 'jit?', 'off')
    """
    match = _SETTING.fullmatch(text) or _SETTING_OF_SPELLING.fullmatch(text)
    if match is None:
        raise UserError(f"not a setting: {text}", hint="write NAME=VALUE or ARM:NAME=VALUE")
    return match["arm"], match["name"].lower(), match["value"].strip()
