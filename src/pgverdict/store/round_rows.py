"""Rounds, and what they consist of, to rows. Back to records: `loading`."""

import math
from dataclasses import fields
from typing import Any

from pgverdict.records.round import Latency, RoundRecord
from pgverdict.store.fields import plain

_NO_LATENCY = Latency(*(math.nan for _ in fields(Latency)))
"""Of a kind of which no transaction was counted."""


def round_row(cell: int, place: int, record: RoundRecord) -> dict[str, Any]:
    plan = plain(record.plan, "pairs")
    plan["pairs"] = [[pair.order, pair.seed] for pair in record.plan.pairs]
    itself = plain(record, "plan", "state", "slices", "arms", "surroundings", "logs")
    around = plain(record.surroundings) if record.surroundings else {}
    return {"cell": cell, "place": place, "state": record.state.value, **plan, **itself, **around}


def slice_rows(number: int, record: RoundRecord) -> list[dict[str, Any]]:
    return [
        {
            "round": number,
            "place": place,
            **plain(one, "latency", "seconds"),
            **_latency_columns(one.latency),
        }
        for place, one in enumerate(record.slices)
    ]


def round_arm_rows(number: int, record: RoundRecord) -> list[dict[str, Any]]:
    return [
        {
            "round": number,
            "place": place,
            **plain(arm, "latency", "statements", "tables", "kinds", "tasks", "steps", "preliminaries"),
            **_latency_columns(arm.latency),
        }
        for place, arm in enumerate(record.arms)
    ]


def statement_rows(number: int, record: RoundRecord) -> list[dict[str, Any]]:
    return [
        {"round": number, "arm_place": arm_place, "place": place, **plain(statement)}
        for arm_place, arm in enumerate(record.arms)
        for place, statement in enumerate(arm.statements)
    ]


def kind_rows(number: int, record: RoundRecord) -> list[dict[str, Any]]:
    return [
        {
            "round": number,
            "arm_place": arm_place,
            "place": place,
            **plain(kind, "latency"),
            **_latency_columns(kind.latency or _NO_LATENCY),
        }
        for arm_place, arm in enumerate(record.arms)
        for place, kind in enumerate(arm.kinds)
    ]


def step_rows(number: int, record: RoundRecord) -> list[dict[str, Any]]:
    return [
        {
            "round": number,
            "arm_place": arm_place,
            "place": place,
            **plain(step, "latency"),
            **_latency_columns(step.latency or _NO_LATENCY),
        }
        for arm_place, arm in enumerate(record.arms)
        for place, step in enumerate(arm.steps)
    ]


def table_rows(number: int, record: RoundRecord) -> list[dict[str, Any]]:
    return [
        {"round": number, "arm_place": arm_place, "place": place, **plain(table)}
        for arm_place, arm in enumerate(record.arms)
        for place, table in enumerate(arm.tables)
    ]


def task_rows(number: int, record: RoundRecord) -> list[dict[str, Any]]:
    return [
        {"round": number, "arm_place": arm_place, "place": place, **plain(task)}
        for arm_place, arm in enumerate(record.arms)
        for place, task in enumerate(arm.tasks)
    ]


def latency_column(name: str) -> str:
    """The unit stands before the qualifier, so that the columns sort together.

    >>> latency_column("p50_ns")
    'latency_ns_p50'
    """
    return f"latency_ns_{name.removesuffix('_ns')}"


def _latency_columns(latency: Latency) -> dict[str, float]:
    return {latency_column(name): value for name, value in plain(latency).items()}
