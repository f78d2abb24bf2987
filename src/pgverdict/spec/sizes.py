"""How large a dataset is to be, as people say it: `2GB`, `fits shared buffers`, `half of memory`, `3x memory`.

>>> data_size("3x memory").bytes(memory_bytes=1 << 30, shared_buffers_bytes=1 << 27) >> 30
3
"""

import re
from dataclasses import dataclass
from enum import Enum

from pgverdict.errors import UserError
from pgverdict.spec.quantities import is_size, size_bytes

FITS = 0.75
"""Of what it fits into: beside the tables there are catalogs, visibility maps and, in memory, the processes."""

_WORDS = {"half of": 0.5, "a third of": 1 / 3, "a quarter of": 0.25, "as large as": 1.0, "fits": FITS}
_RELATIVE = re.compile(
    rf"(?:(?P<words>{'|'.join(_WORDS)})|(?P<times>\d+(?:\.\d+)?)\s*x|(?P<percent>\d+(?:\.\d+)?)\s*% of)"
    r"\s+(?P<what>memory|shared buffers)",
    re.ASCII,
)
_HINT = "write 2GB, fits shared buffers, half of memory, 3x memory or 30% of memory"


class Whole(Enum):
    """What a relative size is a part, or a multiple, of."""

    MEMORY = "memory"
    SHARED_BUFFERS = "shared buffers"


@dataclass(frozen=True)
class DataSize:
    """Bytes; or, with `of`, a multiple of what a server has of that."""

    number: float
    of: Whole | None = None

    def bytes(self, *, memory_bytes: int, shared_buffers_bytes: int) -> int:
        """How many bytes it is."""
        whole = {Whole.MEMORY: memory_bytes, Whole.SHARED_BUFFERS: shared_buffers_bytes, None: 1}
        return int(self.number * whole[self.of])


def data_size(text: str) -> DataSize:
    """UserError for what is no size.

    >>> data_size("fits shared buffers")
    DataSize(number=0.75, of=<Whole.SHARED_BUFFERS: 'shared buffers'>)
    >>> data_size("2GB")
    DataSize(number=2147483648, of=None)
    """
    said = " ".join(text.split())
    if is_size(said):
        return DataSize(_positive(size_bytes(said), text))
    match = _RELATIVE.fullmatch(said)
    if match is None:
        raise UserError(f"not a size of data: {text}", hint=_HINT)
    if match["words"]:
        number = _WORDS[match["words"]]
    else:
        number = float(match["times"]) if match["times"] else float(match["percent"]) / 100
    return DataSize(_positive(number, text), Whole(match["what"]))


def _positive(number: float, text: str) -> float:
    if number <= 0:
        raise UserError(f"data must have some size: {text}", hint=_HINT)
    return number


def scale_for(bytes_wanted: int, bytes_per_scale: int) -> int:
    """The largest scale, to two digits, whose data is no larger; at least 1.

    Two digits, so that a host that reports a little more or less memory another day makes the same cells.

    >>> [scale_for(size, 16_000_000) for size in (1, 80_000_000, 2_000_000_000, 2_020_000_000)]
    [1, 5, 120, 120]
    """
    scale = max(1, bytes_wanted // bytes_per_scale)
    digits: int = 10 ** max(0, len(str(scale)) - 2)
    return scale // digits * digits
