"""One round as it was measured: its slices, what they add up to per arm, and its end.

Arms are numbers, 0 the baseline. Times are nanoseconds as the engine counted them; a metric's unit is
made where the metric is computed (`judge.values`).
"""

from dataclasses import dataclass
from enum import Enum

from pgverdict.plan.rounds import RoundPlan


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
    server_cpu_ns: int
    """CPU of all processes of the arm's server between the slice's boundaries, discarded transactions included."""
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
    start_ms: float
    """From the launch of the server to its first accepted connection."""
    data_bytes: int
    """Size of the database the workload ran on."""
    buffers_read: int | None
    """Blocks the workload's statements fetched from outside shared buffers; None where the server did not say."""
    storage_read_bytes: int
    """Bytes the server's processes had storage read while slices ran: 0 where the page cache held everything."""
    handicap_messages: int | None = None
    """Messages of clients that the server's handicap met in the slices; None where no arm of the round has one."""
    handicap_spun_ns: int | None = None
    """What the handicap really spun for them; 0 on an arm that only counts."""
    checkpoints: int | None = None
    """Finished within the arm's stretch; None where arms take turns, as below."""
    wal_bytes: int | None = None
    """Written within the stretch."""
    tables: tuple[TableRecord, ...] = ()


@dataclass(frozen=True)
class RoundRecord:
    """One independent repetition of a cell. A failed round has a story and neither slices nor arms."""

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

    @property
    def took_turns(self) -> bool:
        """Whether arms alternated, so that their slices of a pair belong together; not in the steady regime."""
        return all(arm.checkpoints is None for arm in self.arms)
