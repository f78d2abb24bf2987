"""Native programs have kinds of transactions."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"

_LATENCY = {
    "min": "shortest time of a transaction",
    "mean": "mean time of a transaction",
    "sd": "standard deviation of the times of transactions",
    "p50": "median time of a transaction",
    "p95": "95th percentile of the times of transactions",
    "p99": "99th percentile of the times of transactions",
    "max": "longest time of a transaction",
}


def upgrade() -> None:
    op.create_table(
        "kinds",
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
            "place", sa.Integer(), autoincrement=False, nullable=False, comment="place among the arm's kinds"
        ),
        sa.Column("name", sa.Text(), nullable=False, comment="the kind, as the engine's program calls it"),
        sa.Column("count", sa.BigInteger(), nullable=False, comment="counted and successful, all slices"),
        sa.Column(
            "failed", sa.BigInteger(), nullable=False, comment="counted; serialization failure or deadlock"
        ),
        sa.Column(
            "rolled_back",
            sa.BigInteger(),
            nullable=False,
            comment="of those that succeeded: meant to be rolled back",
        ),
        sa.Column(
            "retried",
            sa.BigInteger(),
            nullable=False,
            comment="begun again after a serialization failure or a deadlock",
        ),
        *(
            sa.Column(f"latency_ns_{name}", sa.Double(), comment=f"{meaning}; null where none was counted")
            for name, meaning in _LATENCY.items()
        ),
        sa.Column(
            "histogram", sa.LargeBinary(), nullable=False, comment="of times in ns: HdrHistogram V2, DEFLATE"
        ),
        sa.ForeignKeyConstraint(
            ["round", "arm_place"], ["round_arms.round", "round_arms.place"], name="kinds_round_fkey"
        ),
        sa.PrimaryKeyConstraint("round", "arm_place", "place", name="kinds_pkey"),
        comment="A kind of transaction of a native program over an arm's round",
    )
