"""One round as it was measured: its slices, what they add up to per arm, and its end.

Arms are numbers, 0 the baseline. Times are nanoseconds as the engine counted them; a metric's unit is
made where the metric is computed (`judge.values`).
"""

from dataclasses import dataclass
from enum import Enum

from pgverdict.plan.rounds import RoundPlan
from pgverdict.records.host import Surroundings


class RoundState(Enum):
    """How a round ended. A failed one is kept with its story and repeated under the same ordinal."""

    MEASURED = "measured"
    FAILED = "failed"


@dataclass(frozen=True)
class Latency:
    """Exact figures of a set of transactions, from raw samples."""

    min_ns: float
    mean_ns: float
    sd_ns: float
    p50_ns: float
    p95_ns: float
    p99_ns: float
    max_ns: float


@dataclass(frozen=True)
class SecondsRecord:
    """A slice second by second, by when transactions ended after its begin. The last second is mostly cut short."""

    kind: str | None
    """The kind of transactions it is about; None for all."""
    transactions: tuple[int, ...]
    """Counted and successful."""
    mean_ns: tuple[float | None, ...]
    """Of their times; None where none ended."""


@dataclass(frozen=True)
class SliceRecord:
    """A short stretch in which one arm worked."""

    pair: int
    position: int
    arm: int
    begun_at_ns: int
    ended_at_ns: int
    transactions: int
    failed: int
    discarded: int
    busy_ns: int
    rate_hz: float
    latency: Latency
    server_cpu_ns: int | None
    """CPU of all processes of the arm's server between the slice's boundaries, discarded transactions included; None
    where they are not ours to look at."""
    engine_cpu_ns: int
    engine_run_delay_ns: int
    begin_late_ns_max: int
    drain_ns_max: int
    server_run_delay_ns: int | None = None
    """How long processes of the arm's server waited for a processor while they could have worked, summed.

    This and what follows is between the slice's boundaries, discarded transactions included; None: not counted.
    """
    backend_switches_voluntary: int | None = None
    """How often the clients' server processes gave up their processor, as they do when they wait for a client."""
    backend_switches_involuntary: int | None = None
    """How often it was taken from them."""
    engine_switches_voluntary: int | None = None
    engine_switches_involuntary: int | None = None
    cores_busy_ns: int | None = None
    """How long the placement's cores worked for anybody, in ticks of 10 ms: less server and engine, for others."""
    steal_ns: int | None = None
    """How long the hypervisor kept these cores for other machines, in the same ticks."""
    seconds: tuple[SecondsRecord, ...] = ()
    """Where it lasted longer than a second."""


@dataclass(frozen=True)
class StatementRecord:
    """One SQL statement of the workload over an arm's round, seen from the client and from the server.

    `server_*` come from pg_stat_statements and include the discarded transactions of each slice; None where the
    server did not say.
    """

    text: str
    count: int
    mean_ns: float
    sd_ns: float
    histogram: str
    server_calls: int | None
    server_ms_mean: float | None
    server_ms_stddev: float | None
    server_rows: int | None = None
    """Rows it returned or changed, of all its calls, as the blocks and the WAL below."""
    server_buffers_hit: int | None = None
    server_buffers_read: int | None = None
    """Blocks from outside shared buffers."""
    server_wal_bytes: int | None = None
    """None before release 13, too."""


@dataclass(frozen=True)
class KindRecord:
    """One kind of transaction of a native program over an arm's round."""

    name: str
    count: int
    """Counted and successful; rolled back because they were meant to be included."""
    failed: int
    rolled_back: int
    retried: int
    """How often they were begun again after a serialization failure or a deadlock."""
    latency: Latency | None
    """None where none was counted."""
    histogram: str


@dataclass(frozen=True)
class TableRecord:
    """A table over an arm's stretch in a steady round, as the server saw it. Its indexes are in its size."""

    name: str
    hot: bool
    """Whether rows of it were updated or deleted."""
    vacuums: int
    """Finished by autovacuum within the stretch."""
    bytes_begin: int
    bytes_end: int
    dead_rows_begin: int
    dead_rows_end: int


@dataclass(frozen=True)
class TaskRecord:
    """A transaction of a stream on an arm, in the order of the stream: what was asked for, and how it was planned."""

    client: int
    script: str
    variables: tuple[tuple[str, str], ...]
    plan: str
    """What EXPLAIN (COSTS OFF) said of its statement before the stream; of several, one after the other."""
    answer_sha256: str | None
    """Of its rows, in no order, numbers to two places; None where nobody looked: they are in a cell's first round."""


@dataclass(frozen=True)
class PreliminariesRecord:
    """What a transaction of a script takes on an arm beside its execution: planning and locks.

    Asked after the slices, of transactions that count nowhere (`conduct.preliminaries`).
    """

    script: str
    transactions: int
    """How many were run for this."""
    plans: int | None
    """How many were made for their statements: 0 where all had kept a plan. None before release 13, or not told."""
    planning_us_mean: float | None
    """Of all statements of a transaction together; None as `plans`."""
    relations_locked: int
    """Tables, partitions and indexes of users that a transaction holds locks on at its end."""
    relations_locked_fast_path: int
    """Those of them whose locks the backend keeps by itself, and not in the lock table that all share."""


@dataclass(frozen=True)
class StepRecord:
    """A step of a chain on an arm, and what its server used from its begin to its end."""

    name: str
    counts: str | None
    """What `operations` are, a `workloads.chain.Operation` by value; None: the step is no subject of metrics."""
    operations: int
    rows: int
    """Inserted in it; 0 where none were."""
    rows_per_second: int | None
    """Those that were to be inserted; None: as many as could be."""
    begun_at_ns: int
    ended_at_ns: int
    latency: Latency | None
    """Of the statements whose throughput is told; None where nothing is."""
    server_cpu_ns: int
    switches: int
    """Of processes that lived at the end of the step."""
    storage_read_bytes: int
    storage_written_bytes: int
    wal_bytes: int
    tables_bytes: int
    """Size of all tables with their indexes at the end."""

    @property
    def seconds(self) -> float:
        return (self.ended_at_ns - self.begun_at_ns) / 1e9


@dataclass(frozen=True)
class ArmRecord:
    """What an arm's slices add up to, and in which state it was."""

    arm: int
    server_version: str
    transactions: int
    failed: int
    busy_ns: int
    latency: Latency
    histogram: str
    statements: tuple[StatementRecord, ...]
    start_ms: float | None
    """From the launch of the server to its first accepted connection; None where it ran already."""
    data_bytes: int
    """Size of the database the workload ran on."""
    buffers_read: int | None
    """Blocks the workload's statements fetched from outside shared buffers; None where the server did not say."""
    storage_read_bytes: int | None
    """Bytes the server's processes had storage read while slices ran: 0 where the page cache held everything; None
    where they are not ours to look at."""
    handicap_messages: int | None = None
    """Messages of clients that the server's handicap met in the slices; None where no arm of the round has one."""
    handicap_spun_ns: int | None = None
    """What the handicap really spun for them; 0 on an arm that only counts."""
    checkpoints: int | None = None
    """Finished within the arm's stretch; None where arms take turns, as below."""
    wal_bytes: int | None = None
    """Written within the stretch."""
    tables: tuple[TableRecord, ...] = ()
    kinds: tuple[KindRecord, ...] = ()
    """Of a native program; none where scripts were run."""
    steps: tuple[StepRecord, ...] = ()
    """Of a chain, in their order."""
    memory_bytes_max: int | None = None
    """The most its server used since it started; None where it was not confined, or the kernel did not say."""
    turnover_s: float | None = None
    """How long it was warmed up until turnover; None where its data was not larger than its memory."""
    huge_pages: bool | None = None
    """Whether its server's shared memory was in huge pages; None where it is not ours to look at, or nobody did."""
    tasks: tuple[TaskRecord, ...] = ()
    """Of all clients' streams; none where slices are cut from a flow of transactions."""
    preliminaries: tuple[PreliminariesRecord, ...] = ()
    """Of its scripts; none where nobody asked."""


@dataclass(frozen=True)
class LogRecord:
    """The end of what an arm's server wrote to its log in a round that failed."""

    arm: int
    text: str


@dataclass(frozen=True)
class RoundRecord:
    """One independent repetition of a cell. A failed round has a story and logs, and neither slices nor arms."""

    plan: RoundPlan
    state: RoundState
    started: str
    """UTC, ISO 8601."""
    seconds: float
    slices: tuple[SliceRecord, ...] = ()
    arms: tuple[ArmRecord, ...] = ()
    placement: tuple[tuple[str, str], ...] = ()
    """How it was placed: threads, pinning, slice bounds; name to value."""
    story: str | None = None
    blamed: int | None = None
    """The arm whose server or connection failed the round; None if that is not known, or no arm's fault."""
    surroundings: Surroundings | None = None
    """What went on around its slices; None where nobody looked, or the round failed."""
    logs: tuple[LogRecord, ...] = ()
    """Of a failed round, in the order of the arms: of the servers that were started and wrote something."""

    @property
    def took_turns(self) -> bool:
        """Whether arms alternated, so that their slices of a pair belong together; not where each works alone."""
        return all(arm.checkpoints is None and not arm.steps for arm in self.arms)

    @property
    def is_of_streams(self) -> bool:
        """Whether its slices are whole transactions, each of another kind than the next."""
        return any(arm.tasks for arm in self.arms)
