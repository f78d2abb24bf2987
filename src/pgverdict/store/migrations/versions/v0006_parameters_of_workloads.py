"""Workloads have parameters, of which partitions are one, or are the user's own; statements say more of the server."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    for column in (
        sa.Column(
            "parameters",
            sa.JSON(),
            nullable=False,
            server_default="{}",
            comment="of the workload, by name, those that differ from its defaults",
        ),
        sa.Column(
            "own_work",
            sa.JSON(none_as_null=True),
            comment="the user's own scripts, schema and data: texts, paths, digests; null: a built-in workload",
        ),
    ):
        op.add_column("cells", column)
    cells = sa.table(
        "cells", sa.column("cell"), sa.column("partitions", sa.Integer()), sa.column("parameters", sa.JSON())
    )
    connection = op.get_bind()
    for cell, partitions in connection.execute(sa.select(cells.c.cell, cells.c.partitions)).all():
        if partitions:
            connection.execute(
                cells.update().where(cells.c.cell == cell).values(parameters={"partitions": partitions})
            )
    op.drop_column("cells", "partitions")
    for counter in (
        sa.Column(
            "server_rows", sa.BigInteger(), comment="pg_stat_statements: rows, of all calls; null: not told"
        ),
        sa.Column(
            "server_buffers_hit", sa.BigInteger(), comment="blocks found in shared buffers, of all calls"
        ),
        sa.Column("server_buffers_read", sa.BigInteger(), comment="blocks from outside shared buffers"),
        sa.Column(
            "server_wal_bytes", sa.BigInteger(), comment="WAL written, of all calls; null: before release 13"
        ),
    ):
        op.add_column("statements", counter)
