"""The tables, in the glossary's words. They describe the newest version; `migrations/` leads there.

    runs ── arms
      └──── cells ── rounds ── slices
                        └───── round_arms ── statements, kinds, steps, round_tables, round_tasks

An arm, a cell and a round know their place (from 0) in what they belong to; arm 0 is the baseline.
Lists of pairs (settings, placement) are JSON arrays of [name, value], in the order they came.
"""

from pgverdict.store.round_tables import (
    kinds,
    round_arms,
    round_tables,
    round_tasks,
    rounds,
    slices,
    statements,
    steps,
)
from pgverdict.store.run_tables import arms, cells, metadata, runs

VERSION = "0012"
"""The newest migration, which these tables agree with (a test holds it). Versions sort as text."""

VERSION_TABLE = "store_version"

__all__ = [
    "VERSION",
    "VERSION_TABLE",
    "arms",
    "cells",
    "kinds",
    "metadata",
    "round_arms",
    "round_tables",
    "round_tasks",
    "rounds",
    "runs",
    "slices",
    "statements",
    "steps",
]
