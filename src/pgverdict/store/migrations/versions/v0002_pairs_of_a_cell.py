"""How many pairs a cell's rounds have may be chosen, or come from a calibration."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    op.add_column(
        "cells",
        sa.Column(
            "pairs", sa.Integer(), comment="pairs per round that were chosen; null: as many as the regime has"
        ),
    )
