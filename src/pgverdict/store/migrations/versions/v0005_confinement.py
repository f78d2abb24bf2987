"""Servers may be confined in memory and cores, the engine have cores of its own, and cells may be cold."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    for column in (
        sa.Column(
            "memory_bytes",
            sa.BigInteger(),
            comment="campaign: what every server might use at most; null: all there is",
        ),
        sa.Column("cores", sa.JSON(none_as_null=True), comment="campaign: cores of every server; null: any"),
        sa.Column(
            "engine_cores",
            sa.JSON(none_as_null=True),
            comment="campaign: the engine's own cores; null: the servers'",
        ),
    ):
        op.add_column("runs", column)
    op.add_column(
        "cells",
        sa.Column(
            "cache",
            sa.Text(),
            comment="warm or cold: whether rounds began with their data in memory; null: warm",
        ),
    )
    for column in (
        sa.Column(
            "memory_bytes_max",
            sa.BigInteger(),
            comment="most memory its server used; null: not confined, or not told",
        ),
        sa.Column(
            "turnover_s",
            sa.Double(),
            comment="warm-up until turnover; null: its data was not larger than its memory",
        ),
    ):
        op.add_column("round_arms", column)
