"""What a workload and its dataset are."""

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from enum import Enum

from pgverdict.spec.own import OwnDump
from pgverdict.spec.parameters import Parameter, Value
from pgverdict.spec.regime import Regime
from pgverdict.workloads.chain import Chain
from pgverdict.workloads.partitions import Partitioning

Parameters = tuple[tuple[str, Value], ...]
"""Of the engine's programs and rows: engine/PROTOCOL.md."""

STATEMENT_S = 60.0
"""How long the engine waits for an answer unless it is told otherwise (engine/PROTOCOL.md)."""

LONG_STATEMENT_S = 3600.0


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
class Task:
    """One transaction of a stream: a script by its name, and values for its variables."""

    script: str
    variables: tuple[tuple[str, Value], ...]


@dataclass(frozen=True)
class Check:
    """A question that no row may answer: neither of the data as it was loaded nor after any work on it, or, of the
    refresh of streams, after a round."""

    name: str
    about: str
    """What holds as long as no row answers, without a full stop."""
    sql: str


@dataclass(frozen=True)
class Refresh:
    """Of streams whose data changes while they are asked: tasks that insert and delete, in sets each done once.

    The only client's stream has the first set's first task before all others and the last one behind them. Where there
    are several, a connection of its own works through a set for each, one after the other.
    """

    tasks: Callable[[int], tuple[Task, ...]]
    """Of a set, which are numbered from 1."""
    sets: int
    done: Callable[[int], Check]
    """That the first so many sets were done, each whole."""


@dataclass(frozen=True)
class Streams:
    """Of work that is not cut into time: its transactions are drawn as whole streams, each script once.

    `draw` gives a stream from a seed and a scale: always the same for the same two.
    """

    draw: Callable[[int, int], tuple[Task, ...]]
    length: int
    """How many transactions the stream of an only client has, those of a refresh among them."""
    warm_up: bool
    """Whether every client works through its stream once, uncounted, before it counts; never through a refresh."""
    analyze: bool
    """Whether the servers take new samples of their tables (ANALYZE) before every round."""
    refresh: Refresh | None = None
    """None: the data is only read."""

    def connections(self, clients: int) -> int:
        """How many connections so many clients have."""
        return clients + 1 if self.refresh is not None and clients > 1 else clients


@dataclass(frozen=True)
class Table:
    """A table loaded by COPY; `rows` names the generator in the engine, which also gets the scale."""

    name: str
    rows: str
    parameters: Parameters = ()
    shares: int = 1
    """Parts that are loaded on their own, where the dataset has several lanes."""


@dataclass(frozen=True)
class Program:
    """A native program of the engine, in place of scripts, with all its parameters; it also gets the scale."""

    name: str
    parameters: Parameters = ()
    mixed: bool = False
    """Whether its transactions are of several kinds."""


@dataclass(frozen=True)
class Need:
    """What of a dataset or workload releases before major release `since` do not have, in words."""

    since: int
    what: str


@dataclass(frozen=True)
class Dataset:
    """The data of a workload before a size is chosen. A template's key has the name, a digest of what is loaded, and
    `revision`: whoever changes what the engine's rows are raises it."""

    name: str
    revision: int
    tables_sql: str
    indexes_sql: str
    tables: tuple[Table, ...]
    bytes_per_scale: int
    """Disk space of heap and indexes per unit of scale, about; for plans and space checks only."""
    partitioning: Partitioning | None = None
    needs: tuple[Need, ...] = ()
    rows_sql: str = ""
    """SQL that fills tables, after the engine's rows."""
    dump: OwnDump | None = None
    """A user's dump, restored after that and before `indexes_sql`."""
    checks: tuple[Check, ...] = ()
    """Asked when it is loaded, and of every arm after every round."""
    lanes: int = 1
    """Connections that load side by side. With one, all tables are filled in one transaction, in their order."""

    def tables_sql_at(self, scale: int) -> str:
        """What makes the tables, before the data."""
        return self.tables_sql + (self.partitioning.sql_at(scale) if self.partitioning else "")

    def digest(self, scale: int) -> str:
        """Of everything that is loaded at a scale: different whenever that would be."""
        tables = [asdict(table) for table in self.tables]
        dump = self.dump.sha256 if self.dump else None
        parts = (
            self.revision,
            self.tables_sql_at(scale),
            self.indexes_sql,
            tables,
            self.lanes,
            self.rows_sql,
            dump,
        )
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


@dataclass(frozen=True)
class Room:
    """For how many clients a workload has room at a scale, because each wants a thing of its own.

    `of` is what such a thing is called, in the plural; `otherwise` how to do with fewer of them, or to have more, a
    hint. `clients`: at any scale, beside those that come with it.
    """

    clients_per_scale: int
    of: str
    otherwise: str
    clients: int = 0

    def at(self, scale: int) -> int:
        """For how many."""
        return self.clients + self.clients_per_scale * scale


@dataclass(frozen=True)
class Workload:
    """Schema, data and transactions, and how they are to be measured."""

    name: str
    about: str
    dataset: Dataset
    regime: Regime
    """The one it is measured in unless a cell says otherwise."""
    bound: SliceBound
    scripts: tuple[Script, ...] = ()
    program: Program | None = None
    """In place of scripts."""
    chain: Callable[[int, int], Chain] | None = None
    """In place of both: from scale and clients, the steps of a round."""
    has_workers: bool = False
    """Whether other processes of the server may work for a client (parallel plans, io workers): never pinned then."""
    room: Room | None = None
    """None: any number of clients may work at any scale."""
    is_long: bool = False
    """Whether a transaction may take seconds or minutes: it is given an hour, and few make a cold round."""
    is_paced: bool = False
    """Whether its transactions come at a rate of their own, so that throughput says little of a server."""
    pairs: int | None = None
    """Per round, where its transactions are too long for the number that its regime has."""
    allow: tuple[str, ...] = ()
    """What its scripts may do that the engine else refuses: `spec.own.RISKS`."""
    streams: Streams | None = None
    """None: a slice is cut from a flow of transactions that are all alike, by time or by number."""

    def __post_init__(self) -> None:
        work = (bool(self.scripts), self.program is not None, self.chain is not None)
        assert work.count(True) == 1, "a workload has scripts, a program or a chain"

    @property
    def is_mix(self) -> bool:
        """Whether its transactions are of several kinds, so that none is typical."""
        return self.program.mixed if self.program else len(self.scripts) > 1

    @property
    def statement_s(self) -> float:
        """How long a server may take for an answer before it is taken for frozen."""
        return LONG_STATEMENT_S if self.is_long else STATEMENT_S


@dataclass(frozen=True)
class Entry:
    """An entry of the catalogue: `make` gives the workload from the values of all its parameters, by name.

    UserError where values are allowed one by one and contradict each other.
    """

    name: str
    parameters: tuple[Parameter, ...]
    make: Callable[[Mapping[str, Value]], Workload]
