"""What a server is to be tuned for: the kind of use, and what it may take of the host."""

from dataclasses import dataclass
from enum import Enum

from pgverdict.errors import UserError

MEMORY_BYTES_MIN = 256 << 20
"""With less there is nothing to share out: the rules give every part its smallest size."""


class Use(Enum):
    """Who works with the server."""

    OLTP = "oltp"
    WEB = "web"
    DW = "dw"
    MIXED = "mixed"
    DESKTOP = "desktop"


class Disk(Enum):
    """What the data lies on."""

    SSD = "ssd"
    HDD = "hdd"
    SAN = "san"
    NVME = "nvme"


@dataclass(frozen=True)
class Tuning:
    """The rules that make settings of it are in `plan.tuning`."""

    use: Use
    memory_bytes: int
    cores: int
    disk: Disk

    def __post_init__(self) -> None:
        if self.memory_bytes < MEMORY_BYTES_MIN:
            raise UserError(
                f"too little memory to tune a server for: {self.memory_bytes >> 20} MB",
                hint=f"--tune-memory takes {MEMORY_BYTES_MIN >> 20}MB or more",
            )
        if self.cores < 1:
            raise UserError(
                f"a server cannot be tuned for so many cores: {self.cores}",
                hint="--tune-cores takes 1 or more",
            )
