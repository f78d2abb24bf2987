"""Defaults may be aligned and settings tuned; arms may have directories of their own."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    for column in (
        sa.Column(
            "defaults",
            sa.Text(),
            nullable=False,
            server_default="shipped",
            comment="campaign: whose defaults the arms have: shipped (each its own) or aligned (the baseline's)",
        ),
        sa.Column(
            "tuning",
            sa.JSON(),
            comment="campaign: what settings were tuned for, [name, value] pairs; null: nothing",
        ),
        sa.Column(
            "debug_builds",
            sa.Boolean(),
            nullable=False,
            server_default=sa.false(),
            comment="campaign: whether builds with assertions or without optimisation were allowed",
        ),
    ):
        op.add_column("runs", column)
    for column in (
        sa.Column(
            "origins",
            sa.JSON(),
            nullable=False,
            server_default="[]",
            comment="chosen settings that the user did not give: [name, tuned or aligned] pairs",
        ),
        sa.Column(
            "data_directory", sa.Text(), comment="the user's directory its data was put below; null: none"
        ),
        sa.Column("wal_directory", sa.Text(), comment="the same for its WAL"),
        sa.Column(
            "defaults",
            sa.JSON(),
            nullable=False,
            server_default="[]",
            comment="defaults that not all arms share: [name, value] pairs",
        ),
    ):
        op.add_column("arms", column)
