"""What a workload and its dataset are."""

from dataclasses import dataclass
from enum import Enum

from pgverdict.spec.regime import Regime


class SliceBound(Enum):
    """What ends a slice. Work that changes data is bounded by an equal number of transactions on every arm."""

    TIME = "time"
    TRANSACTIONS = "transactions"


@dataclass(frozen=True)
class Script:
    """A pgbench script by name, with its weight in the mix."""

    name: str
    text: str
    weight: int = 1


@dataclass(frozen=True)
class Table:
    """A table loaded by COPY; `rows` names the generator in the engine."""

    name: str
    rows: str


@dataclass(frozen=True)
class Dataset:
    """The data of a workload before a size is chosen. The name and `revision` are part of a template's key:
    whoever changes what is loaded raises the revision."""

    name: str
    revision: int
    tables_sql: str
    indexes_sql: str
    tables: tuple[Table, ...]
    bytes_per_scale: int
    """Disk space of heap and indexes per unit of scale, about; for plans and space checks only."""


@dataclass(frozen=True)
class Workload:
    """Schema, data and transactions, and how they are to be measured."""

    name: str
    about: str
    dataset: Dataset
    scripts: tuple[Script, ...]
    regime: Regime
    """The one it is measured in unless a cell says otherwise."""
    bound: SliceBound
    has_workers: bool = False
    """Whether other processes of the server may work for a client (parallel plans, io workers): never pinned then."""
