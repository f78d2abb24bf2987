"""Slices of more than a second are kept second by second."""

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"


def upgrade() -> None:
    op.create_table(
        "slice_seconds",
        sa.Column(
            "round",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            autoincrement=False,
            nullable=False,
            comment="the round",
        ),
        sa.Column(
            "slice_place",
            sa.Integer(),
            autoincrement=False,
            nullable=False,
            comment="place of the slice in the round",
        ),
        sa.Column(
            "place",
            sa.Integer(),
            autoincrement=False,
            nullable=False,
            comment="0 for all transactions, then by kind",
        ),
        sa.Column("kind", sa.Text(), comment="the kind of transactions; null: all"),
        sa.Column(
            "transactions",
            sa.JSON(),
            nullable=False,
            comment="counted and successful, by the second in which they ended",
        ),
        sa.Column(
            "mean_ns",
            sa.JSON(),
            nullable=False,
            comment="mean time of these, by second; null where none ended",
        ),
        sa.ForeignKeyConstraint(
            ["round", "slice_place"], ["slices.round", "slices.place"], name="slice_seconds_round_fkey"
        ),
        sa.PrimaryKeyConstraint("round", "slice_place", "place", name="slice_seconds_pkey"),
        comment="A slice of more than a second, second by second",
    )
