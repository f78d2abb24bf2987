"""Whether the shared memory of an arm's server was in huge pages. Of rounds of before it is not known."""

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"


def upgrade() -> None:
    op.add_column(
        "round_arms",
        sa.Column(
            "huge_pages",
            sa.Boolean(),
            comment="shared memory was in huge pages; null: not ours to see, or not looked",
        ),
    )
