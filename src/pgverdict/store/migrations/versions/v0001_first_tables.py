"""The first tables."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    op.create_table(
        "runs",
        sa.Column(
            "id", sa.Text(), nullable=False, comment="day and a few random digits: short, sorts by day"
        ),
        sa.Column(
            "state", sa.Text(), nullable=False, comment="running, done, stopped; a killed run stays running"
        ),
        sa.Column("started", sa.Text(), nullable=False, comment="UTC, ISO 8601"),
        sa.Column(
            "seconds",
            sa.Double(),
            nullable=False,
            comment="first round's start to last one's end; 0 while running",
        ),
        sa.Column("host", sa.JSON(), nullable=False, comment="the host it ran on: [name, value] pairs"),
        sa.Column("budget_s", sa.Double(), nullable=False, comment="campaign: time it may take"),
        sa.Column(
            "margin",
            sa.Double(),
            nullable=False,
            comment="campaign: smallest effect anyone cares about, a fraction",
        ),
        sa.Column(
            "confidence",
            sa.Double(),
            nullable=False,
            comment="campaign: how sure a verdict must be, a fraction",
        ),
        sa.Column(
            "seed", sa.BigInteger(), nullable=False, comment="campaign: what every random order is drawn from"
        ),
        sa.Column(
            "rounds",
            sa.Integer(),
            nullable=True,
            comment="campaign: rounds per cell; null where rounds are added until decided",
        ),
        sa.Column(
            "freeze",
            sa.Text(),
            nullable=False,
            comment="campaign: what kept the idle arm from working: off, signal, cgroup",
        ),
        sa.Column(
            "placement",
            sa.Text(),
            nullable=False,
            comment="campaign: whether clients were to be pinned: pinned, free",
        ),
        sa.Column("purpose", sa.Text(), nullable=False, comment="why it was made: compare or calibrate"),
        sa.PrimaryKeyConstraint("id", name="runs_pkey"),
        comment="One execution of a campaign, and the campaign",
    )
    op.create_table(
        "arms",
        sa.Column("run_id", sa.Text(), nullable=False, comment="the run"),
        sa.Column(
            "arm",
            sa.Integer(),
            autoincrement=False,
            nullable=False,
            comment="place of the arm, 0 the baseline",
        ),
        sa.Column("name", sa.Text(), nullable=False, comment="what the arm is called everywhere"),
        sa.Column("role", sa.Text(), nullable=False, comment="baseline or candidate"),
        sa.Column(
            "server", sa.Text(), nullable=False, comment="where the server comes from, as the user spelt it"
        ),
        sa.Column(
            "chosen", sa.JSON(), nullable=False, comment="settings the user chose: [name, value] pairs"
        ),
        sa.Column(
            "handicap_ns",
            sa.BigInteger(),
            nullable=False,
            comment="known slow-down: spun per message received",
        ),
        sa.Column("version", sa.Text(), nullable=False, comment="version the server said"),
        sa.Column("build", sa.JSON(), nullable=False, comment="how it was built: [name, value] pairs"),
        sa.Column(
            "settings",
            sa.JSON(),
            nullable=False,
            comment="settings unlike the built-in defaults, or chosen: [name, value] pairs",
        ),
        sa.Column(
            "notes",
            sa.JSON(),
            nullable=False,
            comment="what was left out on this arm, and why: array of text",
        ),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name="arms_run_id_fkey"),
        sa.PrimaryKeyConstraint("run_id", "arm", name="arms_pkey"),
        comment="One server under test: its build, its settings",
    )
    op.create_table(
        "cells",
        sa.Column(
            "cell",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            nullable=False,
            comment="number given by the store",
        ),
        sa.Column("run_id", sa.Text(), nullable=False, comment="the run"),
        sa.Column("ordinal", sa.Integer(), nullable=False, comment="place of the cell in its run"),
        sa.Column("workload", sa.Text(), nullable=False, comment="entry of the catalogue"),
        sa.Column(
            "scale", sa.BigInteger(), nullable=False, comment="size of the dataset, as the workload counts it"
        ),
        sa.Column("clients", sa.Integer(), nullable=False, comment="connections that work at once"),
        sa.Column(
            "partitions", sa.Integer(), nullable=False, comment="partitions of the largest table, 0 for none"
        ),
        sa.Column(
            "chosen_primary",
            sa.Text(),
            nullable=True,
            comment="the primary metric the user chose; null: the workload's",
        ),
        sa.Column(
            "primary_metric",
            sa.Text(),
            nullable=False,
            comment="the metric that decides the cell, declared before it ran",
        ),
        sa.Column(
            "regime",
            sa.Text(),
            nullable=False,
            comment="read-only (data in place), fresh (fresh copies every round) or steady (aged copies, arms alone)",
        ),
        sa.Column(
            "chosen_regime",
            sa.Text(),
            nullable=True,
            comment="campaign: the regime that was asked for; null: the workload's own",
        ),
        sa.Column(
            "load_pools",
            sa.JSON(),
            nullable=False,
            comment="per arm, the pool that its loads are drawn from",
        ),
        sa.Column(
            "install_pools",
            sa.JSON(),
            nullable=False,
            comment="per arm, the pool of copies of its install",
        ),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name="cells_run_id_fkey"),
        sa.PrimaryKeyConstraint("cell", name="cells_pkey"),
        sa.UniqueConstraint("run_id", "ordinal", name="cells_run_id_ordinal_key"),
        comment="One point of the matrix, the same for all arms",
    )
    op.create_table(
        "rounds",
        sa.Column(
            "round",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            nullable=False,
            comment="number given by the store",
        ),
        sa.Column(
            "cell", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False, comment="the cell"
        ),
        sa.Column(
            "place",
            sa.Integer(),
            nullable=False,
            comment="place among the cell's rounds, failed ones included",
        ),
        sa.Column("state", sa.Text(), nullable=False, comment="measured or failed"),
        sa.Column("started", sa.Text(), nullable=False, comment="UTC, ISO 8601"),
        sa.Column(
            "seconds", sa.Double(), nullable=False, comment="time the round took, starts and stops included"
        ),
        sa.Column(
            "ordinal",
            sa.Integer(),
            nullable=False,
            comment="plan: number of the arrangement; a failed round's is repeated",
        ),
        sa.Column(
            "start_order", sa.JSON(), nullable=False, comment="plan: arms in the order they were started"
        ),
        sa.Column(
            "connect_order",
            sa.JSON(),
            nullable=False,
            comment="plan: arms in the order they were connected to",
        ),
        sa.Column(
            "slots", sa.JSON(), nullable=False, comment="plan: per arm, the directory its data lived in"
        ),
        sa.Column(
            "loads",
            sa.JSON(),
            nullable=False,
            comment="plan: per arm, the load its data came from, in its pool",
        ),
        sa.Column(
            "installs",
            sa.JSON(),
            nullable=False,
            comment="plan: per arm, the copy of its install, in its pool",
        ),
        sa.Column(
            "pairs", sa.JSON(), nullable=False, comment="plan: [[arms in the order they work], seed] per pair"
        ),
        sa.Column(
            "placement",
            sa.JSON(),
            nullable=False,
            comment="threads, pinning, slice bounds: [name, value] pairs",
        ),
        sa.Column("story", sa.Text(), nullable=True, comment="why a failed round failed"),
        sa.Column(
            "blamed",
            sa.Integer(),
            nullable=True,
            comment="arm whose server or connection failed; null: not known, or no arm's fault",
        ),
        sa.ForeignKeyConstraint(["cell"], ["cells.cell"], name="rounds_cell_fkey"),
        sa.PrimaryKeyConstraint("round", name="rounds_pkey"),
        sa.UniqueConstraint("cell", "place", name="rounds_cell_place_key"),
        comment="One independent repetition of a cell: the unit of replication",
    )
    op.create_table(
        "round_arms",
        sa.Column(
            "round", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False, comment="the round"
        ),
        sa.Column(
            "place", sa.Integer(), autoincrement=False, nullable=False, comment="place among the round's arms"
        ),
        sa.Column("arm", sa.Integer(), nullable=False, comment="the arm"),
        sa.Column(
            "server_version", sa.Text(), nullable=False, comment="version the server said on connecting"
        ),
        sa.Column(
            "transactions", sa.BigInteger(), nullable=False, comment="counted and successful, all slices"
        ),
        sa.Column(
            "failed", sa.BigInteger(), nullable=False, comment="counted; serialization failure or deadlock"
        ),
        sa.Column("busy_ns", sa.BigInteger(), nullable=False, comment="busy time of all slices and clients"),
        sa.Column(
            "latency_ns_min",
            sa.Double(),
            nullable=True,
            comment="shortest time of a transaction; null where none was counted",
        ),
        sa.Column(
            "latency_ns_mean",
            sa.Double(),
            nullable=True,
            comment="mean time of a transaction; null where none was counted",
        ),
        sa.Column(
            "latency_ns_sd",
            sa.Double(),
            nullable=True,
            comment="standard deviation of the times of transactions; null where none was counted",
        ),
        sa.Column(
            "latency_ns_p50",
            sa.Double(),
            nullable=True,
            comment="median time of a transaction; null where none was counted",
        ),
        sa.Column(
            "latency_ns_p95",
            sa.Double(),
            nullable=True,
            comment="95th percentile of the times of transactions; null where none was counted",
        ),
        sa.Column(
            "latency_ns_p99",
            sa.Double(),
            nullable=True,
            comment="99th percentile of the times of transactions; null where none was counted",
        ),
        sa.Column(
            "latency_ns_max",
            sa.Double(),
            nullable=True,
            comment="longest time of a transaction; null where none was counted",
        ),
        sa.Column(
            "histogram", sa.LargeBinary(), nullable=False, comment="of times in ns: HdrHistogram V2, DEFLATE"
        ),
        sa.Column(
            "start_ms",
            sa.Double(),
            nullable=True,
            comment="launch of the server to its first accepted connection",
        ),
        sa.Column(
            "data_bytes", sa.BigInteger(), nullable=False, comment="size of the database the workload ran on"
        ),
        sa.Column(
            "buffers_read",
            sa.BigInteger(),
            nullable=True,
            comment="blocks from outside shared buffers; null: not told",
        ),
        sa.Column(
            "storage_read_bytes",
            sa.BigInteger(),
            nullable=False,
            comment="bytes from storage while slices ran",
        ),
        sa.Column(
            "handicap_messages",
            sa.BigInteger(),
            nullable=True,
            comment="messages a handicap met in slices; null: none has one",
        ),
        sa.Column(
            "handicap_spun_ns",
            sa.BigInteger(),
            nullable=True,
            comment="time the handicap really spun for them",
        ),
        sa.Column(
            "checkpoints",
            sa.Integer(),
            nullable=True,
            comment="finished in the arm's stretch; null: not a steady round",
        ),
        sa.Column(
            "wal_bytes",
            sa.BigInteger(),
            nullable=True,
            comment="WAL written in the arm's stretch; null: not a steady round",
        ),
        sa.ForeignKeyConstraint(["round"], ["rounds.round"], name="round_arms_round_fkey"),
        sa.PrimaryKeyConstraint("round", "place", name="round_arms_pkey"),
        comment="What an arm's slices of a round add up to, and in which state it was",
    )
    op.create_table(
        "slices",
        sa.Column(
            "round", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False, comment="the round"
        ),
        sa.Column(
            "place",
            sa.Integer(),
            autoincrement=False,
            nullable=False,
            comment="place among the round's slices",
        ),
        sa.Column("pair", sa.Integer(), nullable=False, comment="the pair it belongs to"),
        sa.Column("position", sa.Integer(), nullable=False, comment="place in its pair, 0 the first"),
        sa.Column("arm", sa.Integer(), nullable=False, comment="the arm that worked"),
        sa.Column("begun_at_ns", sa.BigInteger(), nullable=False, comment="on the engine's clock"),
        sa.Column("ended_at_ns", sa.BigInteger(), nullable=False, comment="on the engine's clock"),
        sa.Column("transactions", sa.BigInteger(), nullable=False, comment="counted and successful"),
        sa.Column(
            "failed", sa.BigInteger(), nullable=False, comment="counted; serialization failure or deadlock"
        ),
        sa.Column(
            "discarded", sa.BigInteger(), nullable=False, comment="run at the slice's begin and not counted"
        ),
        sa.Column(
            "busy_ns",
            sa.BigInteger(),
            nullable=False,
            comment="from first counted to last, summed over clients",
        ),
        sa.Column("rate_hz", sa.Double(), nullable=True, comment="transactions per second of busy time"),
        sa.Column(
            "latency_ns_min",
            sa.Double(),
            nullable=True,
            comment="shortest time of a transaction; null where none was counted",
        ),
        sa.Column(
            "latency_ns_mean",
            sa.Double(),
            nullable=True,
            comment="mean time of a transaction; null where none was counted",
        ),
        sa.Column(
            "latency_ns_sd",
            sa.Double(),
            nullable=True,
            comment="standard deviation of the times of transactions; null where none was counted",
        ),
        sa.Column(
            "latency_ns_p50",
            sa.Double(),
            nullable=True,
            comment="median time of a transaction; null where none was counted",
        ),
        sa.Column(
            "latency_ns_p95",
            sa.Double(),
            nullable=True,
            comment="95th percentile of the times of transactions; null where none was counted",
        ),
        sa.Column(
            "latency_ns_p99",
            sa.Double(),
            nullable=True,
            comment="99th percentile of the times of transactions; null where none was counted",
        ),
        sa.Column(
            "latency_ns_max",
            sa.Double(),
            nullable=True,
            comment="longest time of a transaction; null where none was counted",
        ),
        sa.Column(
            "server_cpu_ns",
            sa.BigInteger(),
            nullable=False,
            comment="CPU of the arm's server in the whole slice",
        ),
        sa.Column("engine_cpu_ns", sa.BigInteger(), nullable=False, comment="processor time of the engine"),
        sa.Column(
            "engine_run_delay_ns",
            sa.BigInteger(),
            nullable=False,
            comment="the engine's wait for a processor",
        ),
        sa.Column(
            "begin_late_ns_max",
            sa.BigInteger(),
            nullable=False,
            comment="how late the last client thread began",
        ),
        sa.Column(
            "drain_ns_max", sa.BigInteger(), nullable=False, comment="longest work beyond the slice's bound"
        ),
        sa.Column(
            "server_run_delay_ns",
            sa.BigInteger(),
            nullable=True,
            comment="the server's wait for a processor, all its processes",
        ),
        sa.Column(
            "backend_switches_voluntary",
            sa.BigInteger(),
            nullable=True,
            comment="backends gave up their processor so often",
        ),
        sa.Column(
            "backend_switches_involuntary",
            sa.BigInteger(),
            nullable=True,
            comment="it was taken from them so often",
        ),
        sa.Column(
            "engine_switches_voluntary",
            sa.BigInteger(),
            nullable=True,
            comment="the engine gave up its processor so often",
        ),
        sa.Column(
            "engine_switches_involuntary",
            sa.BigInteger(),
            nullable=True,
            comment="it was taken from it so often",
        ),
        sa.Column(
            "cores_busy_ns",
            sa.BigInteger(),
            nullable=True,
            comment="work of the placement's cores for anybody; ticks of 10 ms",
        ),
        sa.Column(
            "steal_ns",
            sa.BigInteger(),
            nullable=True,
            comment="taken from these cores by the hypervisor; ticks of 10 ms",
        ),
        sa.ForeignKeyConstraint(["round"], ["rounds.round"], name="slices_round_fkey"),
        sa.PrimaryKeyConstraint("round", "place", name="slices_pkey"),
        comment="A short stretch in which one arm worked",
    )
    op.create_table(
        "statements",
        sa.Column(
            "round",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            autoincrement=False,
            nullable=False,
            comment="the round",
        ),
        sa.Column(
            "arm_place",
            sa.Integer(),
            autoincrement=False,
            nullable=False,
            comment="place of the arm among the round's",
        ),
        sa.Column(
            "place",
            sa.Integer(),
            autoincrement=False,
            nullable=False,
            comment="place among the arm's statements",
        ),
        sa.Column("text", sa.Text(), nullable=False, comment="the SQL"),
        sa.Column("count", sa.BigInteger(), nullable=False, comment="how often it ran, counted slices only"),
        sa.Column("mean_ns", sa.Double(), nullable=True, comment="mean time seen by the client"),
        sa.Column(
            "sd_ns", sa.Double(), nullable=True, comment="standard deviation of the time seen by the client"
        ),
        sa.Column(
            "histogram", sa.LargeBinary(), nullable=False, comment="of times in ns: HdrHistogram V2, DEFLATE"
        ),
        sa.Column(
            "server_calls",
            sa.BigInteger(),
            nullable=True,
            comment="pg_stat_statements, warm-up included; null where it is not there",
        ),
        sa.Column(
            "server_ms_mean", sa.Double(), nullable=True, comment="pg_stat_statements: mean execution time"
        ),
        sa.Column(
            "server_ms_stddev",
            sa.Double(),
            nullable=True,
            comment="pg_stat_statements: standard deviation of the execution time",
        ),
        sa.ForeignKeyConstraint(
            ["round", "arm_place"], ["round_arms.round", "round_arms.place"], name="statements_round_fkey"
        ),
        sa.PrimaryKeyConstraint("round", "arm_place", "place", name="statements_pkey"),
        comment="A statement of the workload over an arm's round, seen from the client and from the server",
    )
    op.create_table(
        "round_tables",
        sa.Column(
            "round",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            autoincrement=False,
            nullable=False,
            comment="the round",
        ),
        sa.Column(
            "arm_place",
            sa.Integer(),
            autoincrement=False,
            nullable=False,
            comment="place of the arm in the round",
        ),
        sa.Column(
            "place", sa.Integer(), autoincrement=False, nullable=False, comment="place among the arm's tables"
        ),
        sa.Column("name", sa.Text(), nullable=False, comment="the table"),
        sa.Column("hot", sa.Boolean(), nullable=False, comment="rows were updated or deleted in the stretch"),
        sa.Column("vacuums", sa.Integer(), nullable=False, comment="finished by autovacuum in the stretch"),
        sa.Column(
            "bytes_begin",
            sa.BigInteger(),
            nullable=False,
            comment="table and indexes when the stretch began",
        ),
        sa.Column(
            "bytes_end", sa.BigInteger(), nullable=False, comment="table and indexes when the stretch ended"
        ),
        sa.Column(
            "dead_rows_begin",
            sa.BigInteger(),
            nullable=False,
            comment="dead rows when the stretch began, estimated",
        ),
        sa.Column(
            "dead_rows_end",
            sa.BigInteger(),
            nullable=False,
            comment="dead rows when the stretch ended, estimated",
        ),
        sa.ForeignKeyConstraint(
            ["round", "arm_place"], ["round_arms.round", "round_arms.place"], name="round_tables_round_fkey"
        ),
        sa.PrimaryKeyConstraint("round", "arm_place", "place", name="round_tables_pkey"),
        comment="A table over the stretch of an arm in a steady round",
    )
