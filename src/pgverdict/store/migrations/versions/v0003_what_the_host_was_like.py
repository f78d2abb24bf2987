"""Runs keep what was said of their host, and rounds what went on around their slices."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    op.add_column(
        "runs",
        sa.Column(
            "diagnoses",
            sa.JSON(),
            comment="what doctor said of the host: [check, level, found] each; null: nobody looked",
        ),
    )
    for name, comment in (
        ("watched_ns", "from before its first slice to after its last; null: nobody looked at what went on"),
        ("own_cpu_ns", "processor time of pgverdict itself meanwhile, without the engine"),
        ("memory_stalled_ns", "how long some process of the host waited for memory; null: not told"),
        ("io_stalled_ns", "how long some process waited for a disk; null: not told"),
        ("throttles", "how often the placement's cores were slowed down for heat; null: not told"),
    ):
        op.add_column("rounds", sa.Column(name, sa.BigInteger(), comment=comment))
