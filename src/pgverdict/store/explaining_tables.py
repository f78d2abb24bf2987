"""The tables of what explains rounds and is in no metric: why they failed, what comes before execution, seconds."""

from sqlalchemy import (
    JSON,
    BigInteger,
    Column,
    Double,
    ForeignKey,
    ForeignKeyConstraint,
    Integer,
    Table,
    Text,
)

from pgverdict.store.columns import Key
from pgverdict.store.run_tables import metadata

round_logs = Table(
    "round_logs",
    metadata,
    Column("round", ForeignKey("rounds.round"), primary_key=True, comment="the round, which failed"),
    Column("arm", Integer, primary_key=True, autoincrement=False, comment="the arm"),
    Column("text", Text, nullable=False, comment="last whole lines of its server's log, 64 KiB at most"),
    comment="The end of what an arm's server wrote in a round that failed",
)

slice_seconds = Table(
    "slice_seconds",
    metadata,
    Column("round", Key, primary_key=True, autoincrement=False, comment="the round"),
    Column(
        "slice_place",
        Integer,
        primary_key=True,
        autoincrement=False,
        comment="place of the slice in the round",
    ),
    Column(
        "place",
        Integer,
        primary_key=True,
        autoincrement=False,
        comment="0 for all transactions, then by kind",
    ),
    Column("kind", Text, comment="the kind of transactions; null: all"),
    Column(
        "transactions",
        JSON,
        nullable=False,
        comment="counted and successful, by the second in which they ended",
    ),
    Column("mean_ns", JSON, nullable=False, comment="mean time of these, by second; null where none ended"),
    ForeignKeyConstraint(["round", "slice_place"], ["slices.round", "slices.place"]),
    comment="A slice of more than a second, second by second",
)

preliminaries = Table(
    "preliminaries",
    metadata,
    Column("round", Key, primary_key=True, autoincrement=False, comment="the round"),
    Column("arm_place", Integer, primary_key=True, autoincrement=False, comment="place of the arm in the round"),
    Column("place", Integer, primary_key=True, autoincrement=False, comment="place among the scripts"),
    Column("script", Text, nullable=False, comment="the script"),
    Column("transactions", BigInteger, nullable=False, comment="how many of it were run for this, after the slices"),
    Column("plans", BigInteger, comment="plans made for these; null: before release 13, or not told"),
    Column("planning_us_mean", Double, comment="time of planning, per transaction; null as plans"),
    Column("relations_locked", Integer, nullable=False, comment="relations that a transaction has locked at its end"),
    Column(
        "relations_locked_fast_path",
        Integer,
        nullable=False,
        comment="those that are not in the shared lock table",
    ),
    ForeignKeyConstraint(["round", "arm_place"], ["round_arms.round", "round_arms.place"]),
    comment="What a transaction takes beside its execution, asked after the slices: planning and locks",
)  # fmt: skip
