"""Of a server that somebody else runs some things are not counted, and it is not started."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"

COUNTED = (
    ("slices", "server_cpu_ns", "CPU of the arm's server in the whole slice; null: not ours to see"),
    ("round_arms", "storage_read_bytes", "bytes from storage while slices ran; null: not ours to see"),
)


def upgrade() -> None:
    for table, column, comment in COUNTED:
        if op.get_bind().dialect.name == "sqlite":
            # SQLite cannot take NOT NULL from a column, and a table that others refer to is not to be replaced.
            op.add_column(table, sa.Column(f"{column}_or_null", sa.BigInteger()))
            op.execute(f"UPDATE {table} SET {column}_or_null = {column}")
            op.execute(f"ALTER TABLE {table} DROP COLUMN {column}")
            op.execute(f"ALTER TABLE {table} RENAME COLUMN {column}_or_null TO {column}")
        else:
            op.alter_column(table, column, nullable=True, comment=comment)
    if op.get_bind().dialect.name != "sqlite":
        op.alter_column(
            "round_arms",
            "start_ms",
            comment="launch of the server to its first accepted connection; null: it ran",
        )
