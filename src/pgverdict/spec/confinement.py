"""What the servers of a campaign are confined to, and how people write it: `2GB`, `0-3,6`.

>>> memory_limit_bytes("2GB"), spell_size(2 << 30)
(2147483648, '2GB')
>>> core_numbers("0-3,6"), spell_cores((0, 1, 2, 3, 6))
((0, 1, 2, 3, 6), '0-3,6')
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from pgverdict.errors import UserError
from pgverdict.spec.quantities import SIZE_UNITS

_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*(kB|MB|GB|TB)", re.ASCII)

MEMORY_BYTES_MIN = 32 << 20
"""With less, no server gets as far as its first transaction."""

MEMORY_BYTES_MAX = 1 << 50
"""More is a typing error."""

CORE_MAX = 8191
"""The largest number Linux gives a core."""


@dataclass(frozen=True)
class Limits:
    """The most that every server may use. None: as much as the host has."""

    memory_bytes: int | None = None
    """Page cache, shared buffers and the processes' own memory together."""
    cores: tuple[int, ...] | None = None

    @property
    def any(self) -> bool:
        """Whether there is a limit at all."""
        return self.memory_bytes is not None or self.cores is not None


def memory_limit_bytes(text: str) -> int:
    """Bytes of a memory limit, down to whole kB; UserError for what is none.

    >>> memory_limit_bytes("1.5GB")
    1610612736
    """
    match = _SIZE.fullmatch(text.strip())
    if match is None:
        raise UserError(f"not an amount of memory: {text}", hint="write 512MB or 2GB")
    found = int(Decimal(match[1]) * SIZE_UNITS[match[2]]) // SIZE_UNITS["kB"] * SIZE_UNITS["kB"]
    if not MEMORY_BYTES_MIN <= found <= MEMORY_BYTES_MAX:
        least, most = spell_size(MEMORY_BYTES_MIN), spell_size(MEMORY_BYTES_MAX)
        raise UserError(f"a server is confined to between {least} and {most} of memory, not to {text}")
    return found


def spell_size(count: int) -> str:
    """A number of whole kB, in the largest unit that divides it.

    >>> spell_size(1536 << 20), spell_size(2 << 40)
    ('1536MB', '2TB')
    """
    unit = next(unit for unit, length in reversed(SIZE_UNITS.items()) if count % length == 0)
    return f"{count // SIZE_UNITS[unit]}{unit}"


def core_numbers(text: str) -> tuple[int, ...]:
    """The cores of a list, in ascending order; UserError for what is no list, or names a core twice.

    >>> core_numbers("4,0-1")
    (0, 1, 4)
    """
    found: list[int] = []
    for part in text.split(","):
        match = re.fullmatch(r"\s*(\d{1,5})(?:-(\d{1,5}))?\s*", part, re.ASCII)
        if match is None:
            raise UserError(f"not a list of cores: {text}", hint="write 0, 0-3 or 0-3,6")
        first, last = int(match[1]), int(match[2] or match[1])
        if last < first or last > CORE_MAX:
            raise UserError(f"not a range of cores: {part.strip()}", hint="write the lower number first")
        found += range(first, last + 1)
    if len(set(found)) != len(found):
        raise UserError(f"a core is named twice: {text}", hint="name each once")
    return tuple(sorted(found))


def spell_cores(cores: Sequence[int]) -> str:
    """A list of cores as the kernel and people write it; cores in ascending order.

    >>> spell_cores((1,)), spell_cores((0, 1, 3))
    ('1', '0-1,3')
    """
    runs: list[list[int]] = []
    for core in cores:
        if runs and core == runs[-1][1] + 1:
            runs[-1][1] = core
        else:
            runs.append([core, core])
    return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in runs)


def require_apart(cores: Sequence[int] | None, engine_cores: Sequence[int] | None) -> None:
    """UserError where the engine is to have cores of its own, and they are not."""
    if engine_cores is None:
        return
    if cores is None:
        said = f"--engine-cores {spell_cores(engine_cores)}"
        raise UserError(
            f"where the engine has cores of its own, servers must have theirs: {said}",
            hint="say which with --cores",
        )
    if shared := sorted(set(cores) & set(engine_cores)):
        raise UserError(
            f"the engine and the servers are to have cores of their own, and would share {spell_cores(shared)}",
            hint="without --engine-cores a client and its server process share a core",
        )
