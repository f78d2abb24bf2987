"""Rounds may be chains of steps."""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"

_LATENCY = {
    "min": "shortest time of a transaction",
    "mean": "mean time of a transaction",
    "sd": "standard deviation of the times of transactions",
    "p50": "median time of a transaction",
    "p95": "95th percentile of the times of transactions",
    "p99": "99th percentile of the times of transactions",
    "max": "longest time of a transaction",
}

_COUNTED = {
    "server_cpu_ns": "CPU of the arm's server in the step",
    "switches": "its processes gave up or lost their processor so often",
    "storage_read_bytes": "read from storage by the server",
    "storage_written_bytes": "given to the kernel to write to storage",
    "wal_bytes": "WAL written",
    "tables_bytes": "tables and indexes at the end of the step",
}


def upgrade() -> None:
    op.create_table(
        "steps",
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
        sa.Column("place", sa.Integer(), autoincrement=False, nullable=False, comment="place in the chain"),
        sa.Column("name", sa.Text(), nullable=False, comment="the step"),
        sa.Column("counts", sa.Text(), comment="what its operations are; null: it is no subject of metrics"),
        sa.Column(
            "operations", sa.BigInteger(), nullable=False, comment="rows inserted, rows indexed or queries"
        ),
        sa.Column("rows", sa.BigInteger(), nullable=False, comment="rows inserted"),
        sa.Column(
            "rows_per_second",
            sa.BigInteger(),
            comment="rows that were to be inserted a second; null: as many as could be",
        ),
        sa.Column("begun_at_ns", sa.BigInteger(), nullable=False, comment="on the engine's clock"),
        sa.Column("ended_at_ns", sa.BigInteger(), nullable=False, comment="on the engine's clock"),
        *(
            sa.Column(f"latency_ns_{name}", sa.Double(), comment=f"{meaning}; null where none was counted")
            for name, meaning in _LATENCY.items()
        ),
        *(
            sa.Column(name, sa.BigInteger(), nullable=False, comment=meaning)
            for name, meaning in _COUNTED.items()
        ),
        sa.ForeignKeyConstraint(
            ["round", "arm_place"], ["round_arms.round", "round_arms.place"], name="steps_round_fkey"
        ),
        sa.PrimaryKeyConstraint("round", "arm_place", "place", name="steps_pkey"),
        comment="A step of a chain on an arm",
    )
