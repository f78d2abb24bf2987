"""Campaigns may come from a file, cells have settings of their own, and what could not be prepared is told."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    for table, column in (
        (
            "runs",
            sa.Column(
                "file",
                sa.JSON(none_as_null=True),
                comment="campaign: the file it was read from: path, text, options; null: made from options",
            ),
        ),
        (
            "runs",
            sa.Column(
                "left_out",
                sa.JSON(none_as_null=True),
                comment="arms that could not be had: [spelling, why] pairs; null: none",
            ),
        ),
        (
            "cells",
            sa.Column(
                "settings",
                sa.JSON(none_as_null=True),
                comment="settings that every arm had in this cell: [name, value] pairs; null: none",
            ),
        ),
        (
            "cells",
            sa.Column(
                "trouble", sa.Text(), comment="why it could not be prepared when last tried; null: it could"
            ),
        ),
    ):
        op.add_column(table, column)
