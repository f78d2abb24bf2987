"""How the load engine was to wait for its sockets is the campaign's. Runs of before did by epoll."""

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"


def upgrade() -> None:
    op.add_column(
        "runs",
        sa.Column(
            "event_loop",
            sa.Text(),
            nullable=False,
            server_default="epoll",
            comment="campaign: how the load engine was to wait for its sockets: epoll, io_uring",
        ),
    )
