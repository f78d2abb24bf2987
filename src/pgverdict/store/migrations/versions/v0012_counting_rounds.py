"""Rounds are counted without being read."""

from alembic import op

revision = "0012"
down_revision = "0011"


def upgrade() -> None:
    op.create_index("rounds_cell_state_idx", "rounds", ["cell", "state"])
