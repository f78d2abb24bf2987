"""The tables, in the glossary's words. They describe the newest version; `migrations/` leads there.

    runs ── arms
      └──── cells ── rounds ── round_logs
                        ├───── slices ── slice_seconds
                        └───── round_arms ── statements, kinds, steps, round_tables, round_tasks, preliminaries

An arm, a cell and a round know their place (from 0) in what they belong to; arm 0 is the baseline.
Lists of pairs (settings, placement) are JSON arrays of [name, value], in the order they came.
"""

from pgverdict.store.explaining_tables import preliminaries, round_logs, slice_seconds
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
from pgverdict.store.version import VERSION, VERSION_TABLE

__all__ = [
    "VERSION",
    "VERSION_TABLE",
    "arms",
    "cells",
    "kinds",
    "metadata",
    "preliminaries",
    "round_arms",
    "round_logs",
    "round_tables",
    "round_tasks",
    "rounds",
    "runs",
    "slice_seconds",
    "slices",
    "statements",
    "steps",
]
