"""The tables of what rounds measured, down to the slices and statements of an arm."""

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    Double,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    Table,
    Text,
    UniqueConstraint,
)
from sqlalchemy.types import TypeEngine

from pgverdict.store.columns import Histogram, Key, Measured
from pgverdict.store.run_tables import metadata


def _latency() -> list[Column[float]]:
    meanings = {
        "min": "shortest time of a transaction",
        "mean": "mean time of a transaction",
        "sd": "standard deviation of the times of transactions",
        "p50": "median time of a transaction",
        "p95": "95th percentile of the times of transactions",
        "p99": "99th percentile of the times of transactions",
        "max": "longest time of a transaction",
    }
    return [
        Column(f"latency_ns_{name}", Measured, comment=f"{meaning}; null where none was counted")
        for name, meaning in meanings.items()
    ]


def _place_in_arm(place: str, arm_place: str = "place of the arm in the round") -> list[Column[int]]:
    """The key of something of which an arm has several in a round."""

    def column(name: str, kind: TypeEngine[int], comment: str) -> Column[int]:
        return Column(name, kind, primary_key=True, autoincrement=False, comment=comment)

    return [
        column("round", Key, "the round"),
        column("arm_place", Integer(), arm_place),
        column("place", Integer(), place),
    ]


def _belongs_to_arm() -> ForeignKeyConstraint:
    return ForeignKeyConstraint(["round", "arm_place"], ["round_arms.round", "round_arms.place"])


rounds = Table(
    "rounds",
    metadata,
    Column("round", Key, primary_key=True, comment="number given by the store"),
    Column("cell", ForeignKey("cells.cell"), nullable=False, comment="the cell"),
    Column("place", Integer, nullable=False, comment="place among the cell's rounds, failed ones included"),
    Column("state", Text, nullable=False, comment="measured or failed"),
    Column("started", Text, nullable=False, comment="UTC, ISO 8601"),
    Column("seconds", Double, nullable=False, comment="time the round took, starts and stops included"),
    Column(
        "ordinal",
        Integer,
        nullable=False,
        comment="plan: number of the arrangement; a failed round's is repeated",
    ),
    Column("start_order", JSON, nullable=False, comment="plan: arms in the order they were started"),
    Column("connect_order", JSON, nullable=False, comment="plan: arms in the order they were connected to"),
    Column("slots", JSON, nullable=False, comment="plan: per arm, the directory its data lived in"),
    Column("loads", JSON, nullable=False, comment="plan: per arm, the load its data came from, in its pool"),
    Column("installs", JSON, nullable=False, comment="plan: per arm, the copy of its install, in its pool"),
    Column("pairs", JSON, nullable=False, comment="plan: [[arms in the order they work], seed] per pair"),
    Column("placement", JSON, nullable=False, comment="threads, pinning, slice bounds: [name, value] pairs"),
    Column("story", Text, comment="why a failed round failed"),
    Column(
        "blamed", Integer, comment="arm whose server or connection failed; null: not known, or no arm's fault"
    ),
    Column(
        "watched_ns",
        BigInteger,
        comment="from before its first slice to after its last; null: nobody looked at what went on",
    ),
    Column(
        "own_cpu_ns", BigInteger, comment="processor time of pgverdict itself meanwhile, without the engine"
    ),
    Column(
        "memory_stalled_ns",
        BigInteger,
        comment="how long some process of the host waited for memory; null: not told",
    ),
    Column("io_stalled_ns", BigInteger, comment="how long some process waited for a disk; null: not told"),
    Column(
        "throttles",
        BigInteger,
        comment="how often the placement's cores were slowed down for heat; null: not told",
    ),
    UniqueConstraint("cell", "place"),
    Index("rounds_cell_state_idx", "cell", "state"),  # lists count rounds without reading them
    comment="One independent repetition of a cell: the unit of replication",
)

slices = Table(
    "slices",
    metadata,
    Column("round", ForeignKey("rounds.round"), primary_key=True, comment="the round"),
    Column("place", Integer, primary_key=True, autoincrement=False, comment="place among the round's slices"),
    Column("pair", Integer, nullable=False, comment="the pair it belongs to"),
    Column("position", Integer, nullable=False, comment="place in its pair, 0 the first"),
    Column("arm", Integer, nullable=False, comment="the arm that worked"),
    Column("begun_at_ns", BigInteger, nullable=False, comment="on the engine's clock"),
    Column("ended_at_ns", BigInteger, nullable=False, comment="on the engine's clock"),
    Column("transactions", BigInteger, nullable=False, comment="counted and successful"),
    Column("failed", BigInteger, nullable=False, comment="counted; serialization failure or deadlock"),
    Column("discarded", BigInteger, nullable=False, comment="run at the slice's begin and not counted"),
    Column("busy_ns", BigInteger, nullable=False, comment="from first counted to last, summed over clients"),
    Column("rate_hz", Measured, comment="transactions per second of busy time"),
    *_latency(),
    Column("server_cpu_ns", BigInteger, comment="CPU of the arm's server in the whole slice; null: not ours to see"),
    Column("engine_cpu_ns", BigInteger, nullable=False, comment="processor time of the engine"),
    Column("engine_run_delay_ns", BigInteger, nullable=False, comment="the engine's wait for a processor"),
    Column("begin_late_ns_max", BigInteger, nullable=False, comment="how late the last client thread began"),
    Column("drain_ns_max", BigInteger, nullable=False, comment="longest work beyond the slice's bound"),
    Column("server_run_delay_ns", BigInteger, comment="the server's wait for a processor, all its processes"),
    Column("backend_switches_voluntary", BigInteger, comment="backends gave up their processor so often"),
    Column("backend_switches_involuntary", BigInteger, comment="it was taken from them so often"),
    Column("engine_switches_voluntary", BigInteger, comment="the engine gave up its processor so often"),
    Column("engine_switches_involuntary", BigInteger, comment="it was taken from it so often"),
    Column("cores_busy_ns", BigInteger, comment="work of the placement's cores for anybody; ticks of 10 ms"),
    Column("steal_ns", BigInteger, comment="taken from these cores by the hypervisor; ticks of 10 ms"),
    comment="A short stretch in which one arm worked",
)  # fmt: skip

round_arms = Table(
    "round_arms",
    metadata,
    Column("round", ForeignKey("rounds.round"), primary_key=True, comment="the round"),
    Column("place", Integer, primary_key=True, autoincrement=False, comment="place among the round's arms"),
    Column("arm", Integer, nullable=False, comment="the arm"),
    Column("server_version", Text, nullable=False, comment="version the server said on connecting"),
    Column("transactions", BigInteger, nullable=False, comment="counted and successful, all slices"),
    Column("failed", BigInteger, nullable=False, comment="counted; serialization failure or deadlock"),
    Column("busy_ns", BigInteger, nullable=False, comment="busy time of all slices and clients"),
    *_latency(),
    Column("histogram", Histogram, nullable=False, comment="of times in ns: HdrHistogram V2, DEFLATE"),
    Column("start_ms", Double, comment="launch of the server to its first accepted connection; null: it ran"),
    Column("data_bytes", BigInteger, nullable=False, comment="size of the database the workload ran on"),
    Column("buffers_read", BigInteger, comment="blocks from outside shared buffers; null: not told"),
    Column("storage_read_bytes", BigInteger, comment="bytes from storage while slices ran; null: not ours to see"),
    Column("handicap_messages", BigInteger, comment="messages a handicap met in slices; null: none has one"),
    Column("handicap_spun_ns", BigInteger, comment="time the handicap really spun for them"),
    Column("checkpoints", Integer, comment="finished in the arm's stretch; null: not a steady round"),
    Column("wal_bytes", BigInteger, comment="WAL written in the arm's stretch; null: not a steady round"),
    Column("memory_bytes_max", BigInteger, comment="most memory its server used; null: not confined, or not told"),
    Column("turnover_s", Double, comment="warm-up until turnover; null: its data was not larger than its memory"),
    Column("huge_pages", Boolean, comment="shared memory was in huge pages; null: not ours to see, or not looked"),
    comment="What an arm's slices of a round add up to, and in which state it was",
)  # fmt: skip

statements = Table(
    "statements",
    metadata,
    *_place_in_arm("place among the arm's statements", "place of the arm among the round's"),
    Column("text", Text, nullable=False, comment="the SQL"),
    Column("count", BigInteger, nullable=False, comment="how often it ran, counted slices only"),
    Column("mean_ns", Measured, comment="mean time seen by the client"),
    Column("sd_ns", Measured, comment="standard deviation of the time seen by the client"),
    Column("histogram", Histogram, nullable=False, comment="of times in ns: HdrHistogram V2, DEFLATE"),
    Column(
        "server_calls", BigInteger, comment="pg_stat_statements, warm-up included; null where it is not there"
    ),
    Column("server_ms_mean", Double, comment="pg_stat_statements: mean execution time"),
    Column(
        "server_ms_stddev", Double, comment="pg_stat_statements: standard deviation of the execution time"
    ),
    Column("server_rows", BigInteger, comment="pg_stat_statements: rows, of all calls; null: not told"),
    Column("server_buffers_hit", BigInteger, comment="blocks found in shared buffers, of all calls"),
    Column("server_buffers_read", BigInteger, comment="blocks from outside shared buffers"),
    Column("server_wal_bytes", BigInteger, comment="WAL written, of all calls; null: before release 13"),
    _belongs_to_arm(),
    comment="A statement of the workload over an arm's round, seen from the client and from the server",
)

kinds = Table(
    "kinds",
    metadata,
    *_place_in_arm("place among the arm's kinds"),
    Column("name", Text, nullable=False, comment="the kind, as the engine's program calls it"),
    Column("count", BigInteger, nullable=False, comment="counted and successful, all slices"),
    Column("failed", BigInteger, nullable=False, comment="counted; serialization failure or deadlock"),
    Column("rolled_back", BigInteger, nullable=False, comment="of those that succeeded: meant to be rolled back"),
    Column("retried", BigInteger, nullable=False, comment="begun again after a serialization failure or a deadlock"),
    *_latency(),
    Column("histogram", Histogram, nullable=False, comment="of times in ns: HdrHistogram V2, DEFLATE"),
    _belongs_to_arm(),
    comment="A kind of transaction of a native program over an arm's round",
)  # fmt: skip

steps = Table(
    "steps",
    metadata,
    *_place_in_arm("place in the chain"),
    Column("name", Text, nullable=False, comment="the step"),
    Column("counts", Text, comment="what its operations are; null: it is no subject of metrics"),
    Column("operations", BigInteger, nullable=False, comment="rows inserted, rows indexed or queries"),
    Column("rows", BigInteger, nullable=False, comment="rows inserted"),
    Column("rows_per_second", BigInteger, comment="rows that were to be inserted a second; null: as many as could be"),
    Column("begun_at_ns", BigInteger, nullable=False, comment="on the engine's clock"),
    Column("ended_at_ns", BigInteger, nullable=False, comment="on the engine's clock"),
    *_latency(),
    Column("server_cpu_ns", BigInteger, nullable=False, comment="CPU of the arm's server in the step"),
    Column("switches", BigInteger, nullable=False, comment="its processes gave up or lost their processor so often"),
    Column("storage_read_bytes", BigInteger, nullable=False, comment="read from storage by the server"),
    Column("storage_written_bytes", BigInteger, nullable=False, comment="given to the kernel to write to storage"),
    Column("wal_bytes", BigInteger, nullable=False, comment="WAL written"),
    Column("tables_bytes", BigInteger, nullable=False, comment="tables and indexes at the end of the step"),
    _belongs_to_arm(),
    comment="A step of a chain on an arm",
)  # fmt: skip

round_tables = Table(
    "round_tables",
    metadata,
    *_place_in_arm("place among the arm's tables"),
    Column("name", Text, nullable=False, comment="the table"),
    Column("hot", Boolean, nullable=False, comment="rows were updated or deleted in the stretch"),
    Column("vacuums", Integer, nullable=False, comment="finished by autovacuum in the stretch"),
    Column("bytes_begin", BigInteger, nullable=False, comment="table and indexes when the stretch began"),
    Column("bytes_end", BigInteger, nullable=False, comment="table and indexes when the stretch ended"),
    Column("dead_rows_begin", BigInteger, nullable=False, comment="dead rows when the stretch began, estimated"),
    Column("dead_rows_end", BigInteger, nullable=False, comment="dead rows when the stretch ended, estimated"),
    _belongs_to_arm(),
    comment="A table over the stretch of an arm in a steady round",
)  # fmt: skip

round_tasks = Table(
    "round_tasks",
    metadata,
    *_place_in_arm("place among the arm's tasks"),
    Column("client", Integer, nullable=False, comment="the client whose stream it is in"),
    Column("script", Text, nullable=False, comment="the script: which query it was"),
    Column("variables", JSON, nullable=False, comment="values of its variables: [name, value] pairs"),
    Column("plan", Text, nullable=False, comment="what EXPLAIN (COSTS OFF) said before the stream"),
    Column("answer_sha256", Text, comment="digest of its rows; null: nobody looked"),
    _belongs_to_arm(),
    comment="A transaction of a stream on an arm: what was asked for, and how it was planned",
)  # fmt: skip
