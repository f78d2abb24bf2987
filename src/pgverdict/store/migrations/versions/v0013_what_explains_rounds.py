"""Failed rounds come with their servers' logs, and rounds may tell of planning and locks."""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"


def upgrade() -> None:
    key = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
    op.create_table(
        "round_logs",
        sa.Column("round", key, nullable=False, comment="the round, which failed"),
        sa.Column("arm", sa.Integer(), autoincrement=False, nullable=False, comment="the arm"),
        sa.Column(
            "text", sa.Text(), nullable=False, comment="last whole lines of its server's log, 64 KiB at most"
        ),
        sa.ForeignKeyConstraint(["round"], ["rounds.round"], name="round_logs_round_fkey"),
        sa.PrimaryKeyConstraint("round", "arm", name="round_logs_pkey"),
        comment="The end of what an arm's server wrote in a round that failed",
    )
    op.create_table(
        "preliminaries",
        sa.Column("round", key, autoincrement=False, nullable=False, comment="the round"),
        sa.Column(
            "arm_place",
            sa.Integer(),
            autoincrement=False,
            nullable=False,
            comment="place of the arm in the round",
        ),
        sa.Column(
            "place", sa.Integer(), autoincrement=False, nullable=False, comment="place among the scripts"
        ),
        sa.Column("script", sa.Text(), nullable=False, comment="the script"),
        sa.Column(
            "transactions",
            sa.BigInteger(),
            nullable=False,
            comment="how many of it were run for this, after the slices",
        ),
        sa.Column(
            "plans", sa.BigInteger(), comment="plans made for these; null: before release 13, or not told"
        ),
        sa.Column(
            "planning_us_mean", sa.Double(), comment="time of planning, per transaction; null as plans"
        ),
        sa.Column(
            "relations_locked",
            sa.Integer(),
            nullable=False,
            comment="relations that a transaction has locked at its end",
        ),
        sa.Column(
            "relations_locked_fast_path",
            sa.Integer(),
            nullable=False,
            comment="those that are not in the shared lock table",
        ),
        sa.ForeignKeyConstraint(
            ["round", "arm_place"], ["round_arms.round", "round_arms.place"], name="preliminaries_round_fkey"
        ),
        sa.PrimaryKeyConstraint("round", "arm_place", "place", name="preliminaries_pkey"),
        comment="What a transaction takes beside its execution, asked after the slices: planning and locks",
    )
