"""The tables of what is known of a run before its rounds: the campaign, its arms and its cells."""

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    Double,
    ForeignKey,
    Integer,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
)

from pgverdict.store.columns import Key

metadata = MetaData(
    naming_convention={
        "pk": "%(table_name)s_pkey",
        "fk": "%(table_name)s_%(column_0_name)s_fkey",
        "uq": "%(table_name)s_%(column_0_N_name)s_key",
    }
)


runs = Table(
    "runs",
    metadata,
    Column("id", Text, primary_key=True, comment="day and a few random digits: short, sorts by day"),
    Column("state", Text, nullable=False, comment="running, done, stopped; a killed run stays running"),
    Column("started", Text, nullable=False, comment="UTC, ISO 8601"),
    Column(
        "seconds", Double, nullable=False, comment="first round's start to last one's end; 0 while running"
    ),
    Column("host", JSON, nullable=False, comment="the host it ran on: [name, value] pairs"),
    Column("budget_s", Double, nullable=False, comment="campaign: time it may take"),
    Column(
        "margin", Double, nullable=False, comment="campaign: smallest effect anyone cares about, a fraction"
    ),
    Column("confidence", Double, nullable=False, comment="campaign: how sure a verdict must be, a fraction"),
    Column("seed", BigInteger, nullable=False, comment="campaign: what every random order is drawn from"),
    Column("rounds", Integer, comment="campaign: rounds per cell; null where rounds are added until decided"),
    Column(
        "freeze",
        Text,
        nullable=False,
        comment="campaign: what kept the idle arm from working: off, signal, cgroup",
    ),
    Column(
        "placement", Text, nullable=False, comment="campaign: whether clients were to be pinned: pinned, free"
    ),
    Column(
        "event_loop",
        Text,
        nullable=False,
        server_default="epoll",
        comment="campaign: how the load engine was to wait for its sockets: epoll, io_uring",
    ),
    Column("purpose", Text, nullable=False, comment="why it was made: compare or calibrate"),
    Column(
        "diagnoses",
        JSON,
        comment="what doctor said of the host: [check, level, found] each; null: nobody looked",
    ),
    Column(
        "defaults",
        Text,
        nullable=False,
        comment="campaign: whose defaults the arms have: shipped (each its own) or aligned (the baseline's)",
    ),
    Column(
        "tuning",
        JSON(none_as_null=True),
        comment="campaign: what settings were tuned for, [name, value] pairs; null: nothing",
    ),
    Column(
        "debug_builds",
        Boolean,
        nullable=False,
        comment="campaign: whether builds with assertions or without optimisation were allowed",
    ),
    Column(
        "memory_bytes",
        BigInteger,
        comment="campaign: what every server might use at most; null: all there is",
    ),
    Column("cores", JSON(none_as_null=True), comment="campaign: cores of every server; null: any"),
    Column(
        "engine_cores",
        JSON(none_as_null=True),
        comment="campaign: the engine's own cores; null: the servers'",
    ),
    Column(
        "file",
        JSON(none_as_null=True),
        comment="campaign: the file it was read from: path, text, options; null: made from options",
    ),
    Column(
        "left_out",
        JSON(none_as_null=True),
        comment="arms that could not be had: [spelling, why] pairs; null: none",
    ),
    comment="One execution of a campaign, and the campaign",
)

arms = Table(
    "arms",
    metadata,
    Column("run_id", ForeignKey("runs.id"), primary_key=True, comment="the run"),
    Column("arm", Integer, primary_key=True, autoincrement=False, comment="place of the arm, 0 the baseline"),
    Column("name", Text, nullable=False, comment="what the arm is called everywhere"),
    Column("role", Text, nullable=False, comment="baseline or candidate"),
    Column("server", Text, nullable=False, comment="where the server comes from, as the user spelt it"),
    Column("chosen", JSON, nullable=False, comment="settings the user chose: [name, value] pairs"),
    Column("handicap_ns", BigInteger, nullable=False, comment="known slow-down: spun per message received"),
    Column("version", Text, nullable=False, comment="version the server said"),
    Column("build", JSON, nullable=False, comment="how it was built: [name, value] pairs"),
    Column(
        "settings",
        JSON,
        nullable=False,
        comment="settings unlike the built-in defaults, or chosen: [name, value] pairs",
    ),
    Column("notes", JSON, nullable=False, comment="what was left out on this arm, and why: array of text"),
    Column(
        "origins",
        JSON,
        nullable=False,
        comment="chosen settings that the user did not give: [name, tuned or aligned] pairs",
    ),
    Column("data_directory", Text, comment="the user's directory its data was put below; null: none"),
    Column("wal_directory", Text, comment="the same for its WAL"),
    Column("defaults", JSON, nullable=False, comment="defaults that not all arms share: [name, value] pairs"),
    comment="One server under test: its build, its settings",
)

cells = Table(
    "cells",
    metadata,
    Column("cell", Key, primary_key=True, comment="number given by the store"),
    Column("run_id", ForeignKey("runs.id"), nullable=False, comment="the run"),
    Column("ordinal", Integer, nullable=False, comment="place of the cell in its run"),
    Column("workload", Text, nullable=False, comment="entry of the catalogue"),
    Column("scale", BigInteger, nullable=False, comment="size of the dataset, as the workload counts it"),
    Column("clients", Integer, nullable=False, comment="connections that work at once"),
    Column(
        "parameters",
        JSON,
        nullable=False,
        comment="of the workload, by name, those that differ from its defaults",
    ),
    Column("chosen_primary", Text, comment="the primary metric the user chose; null: the workload's"),
    Column(
        "primary_metric",
        Text,
        nullable=False,
        comment="the metric that decides the cell, declared before it ran",
    ),
    Column(
        "regime",
        Text,
        nullable=False,
        comment="read-only (data in place), fresh (fresh copies every round) or steady (aged copies, arms alone)",
    ),
    Column(
        "chosen_regime", Text, comment="campaign: the regime that was asked for; null: the workload's own"
    ),
    Column("load_pools", JSON, nullable=False, comment="per arm, the pool that its loads are drawn from"),
    Column("install_pools", JSON, nullable=False, comment="per arm, the pool of copies of its install"),
    Column("pairs", Integer, comment="pairs per round that were chosen; null: as many as the regime has"),
    Column("cache", Text, comment="warm or cold: whether rounds began with their data in memory; null: warm"),
    Column(
        "own_work",
        JSON(none_as_null=True),
        comment="the user's own scripts, schema and data: texts, paths, digests; null: a built-in workload",
    ),
    Column(
        "settings",
        JSON(none_as_null=True),
        comment="settings that every arm had in this cell: [name, value] pairs; null: none",
    ),
    Column("trouble", Text, comment="why it could not be prepared when last tried; null: it could"),
    UniqueConstraint("run_id", "ordinal"),
    comment="One point of the matrix, the same for all arms",
)
