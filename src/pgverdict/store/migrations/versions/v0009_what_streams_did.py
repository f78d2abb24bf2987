"""Rounds that are streams keep what was asked for in them, and how it was planned."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    op.create_table(
        "round_tasks",
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
            "place", sa.Integer(), autoincrement=False, nullable=False, comment="place among the arm's tasks"
        ),
        sa.Column("client", sa.Integer(), nullable=False, comment="the client whose stream it is in"),
        sa.Column("script", sa.Text(), nullable=False, comment="the script: which query it was"),
        sa.Column(
            "variables", sa.JSON(), nullable=False, comment="values of its variables: [name, value] pairs"
        ),
        sa.Column(
            "plan", sa.Text(), nullable=False, comment="what EXPLAIN (COSTS OFF) said before the stream"
        ),
        sa.Column("answer_sha256", sa.Text(), comment="digest of its rows; null: nobody looked"),
        sa.ForeignKeyConstraint(
            ["round", "arm_place"], ["round_arms.round", "round_arms.place"], name="round_tasks_round_fkey"
        ),
        sa.PrimaryKeyConstraint("round", "arm_place", "place", name="round_tasks_pkey"),
        comment="A transaction of a stream on an arm: what was asked for, and how it was planned",
    )
