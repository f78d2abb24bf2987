"""Records to rows, and rows back to equal records.

A field that is a plain value has a column of its name; what is nested is taken apart here, by hand.
"""

from collections.abc import Iterable
from dataclasses import fields
from typing import Any

from sqlalchemy import RowMapping

from pgverdict.plan.rounds import Pair, RoundPlan
from pgverdict.records.round import (
    ArmRecord,
    Latency,
    RoundRecord,
    RoundState,
    SliceRecord,
    StatementRecord,
    TableRecord,
)
from pgverdict.records.run import ArmFacts, CellRecord, Purpose, RunRecord, RunState
from pgverdict.spec.campaign import Arm, Campaign, CellSpec, Freeze, Pinning, Role
from pgverdict.spec.regime import Regime

Row = RowMapping
Pairs = tuple[tuple[str, str], ...]


def _plain(record: Any, *apart: str) -> dict[str, Any]:
    """The fields of a record as columns, without those that are taken `apart`."""
    return {field.name: getattr(record, field.name) for field in fields(record) if field.name not in apart}


def _take(kind: Any, row: Row, *apart: str) -> dict[str, Any]:
    """The fields of a record of that kind from a row, without those that are put together elsewhere."""
    return {field.name: row[field.name] for field in fields(kind) if field.name not in apart}


def _pairs(array: Iterable[tuple[str, str]]) -> Pairs:
    return tuple((name, value) for name, value in array)


def run_row(run: RunRecord) -> dict[str, Any]:
    campaign = _plain(run.campaign, "arms", "cells")
    campaign |= {"freeze": run.campaign.freeze.value, "placement": run.campaign.placement.value}
    return {
        **campaign,
        **_plain(run, "state", "campaign", "arms", "cells", "purpose"),
        "state": run.state.value,
        "purpose": run.purpose.value,
    }


def arm_rows(run: RunRecord) -> list[dict[str, Any]]:
    """An arm as it was asked for and as it was found, in one row."""
    rows = []
    for place, (asked, found) in enumerate(zip(run.campaign.arms, run.arms, strict=True)):
        assert (asked.name, asked.role, asked.server) == (found.name, found.role, found.server), (
            asked,
            found,
        )
        rows.append(
            {
                "run_id": run.id,
                "arm": place,
                "chosen": asked.settings,
                "handicap_ns": asked.handicap_ns,
                **_plain(found, "role"),
                "role": found.role.value,
            }
        )
    return rows


def cell_row(run_id: str, ordinal: int, cell: CellRecord) -> dict[str, Any]:
    itself = _plain(cell, "spec", "primary", "rounds")
    asked = {
        **_plain(cell.spec, "primary", "regime"),
        "chosen_primary": cell.spec.primary,
        "chosen_regime": cell.spec.regime.value if cell.spec.regime else None,
    }
    return {"run_id": run_id, "ordinal": ordinal, **asked, "primary_metric": cell.primary, **itself}


def round_row(cell: int, place: int, record: RoundRecord) -> dict[str, Any]:
    plan = _plain(record.plan, "pairs")
    plan["pairs"] = [[pair.order, pair.seed] for pair in record.plan.pairs]
    itself = _plain(record, "plan", "state", "slices", "arms")
    return {"cell": cell, "place": place, "state": record.state.value, **plan, **itself}


def slice_rows(number: int, record: RoundRecord) -> list[dict[str, Any]]:
    return [
        {"round": number, "place": place, **_plain(one, "latency"), **_latency_columns(one.latency)}
        for place, one in enumerate(record.slices)
    ]


def round_arm_rows(number: int, record: RoundRecord) -> list[dict[str, Any]]:
    return [
        {
            "round": number,
            "place": place,
            **_plain(arm, "latency", "statements", "tables"),
            **_latency_columns(arm.latency),
        }
        for place, arm in enumerate(record.arms)
    ]


def statement_rows(number: int, record: RoundRecord) -> list[dict[str, Any]]:
    return [
        {"round": number, "arm_place": arm_place, "place": place, **_plain(statement)}
        for arm_place, arm in enumerate(record.arms)
        for place, statement in enumerate(arm.statements)
    ]


def table_rows(number: int, record: RoundRecord) -> list[dict[str, Any]]:
    return [
        {"round": number, "arm_place": arm_place, "place": place, **_plain(table)}
        for arm_place, arm in enumerate(record.arms)
        for place, table in enumerate(arm.tables)
    ]


def run_record(row: Row, arm_rows: Iterable[Row], cells: tuple[CellRecord, ...]) -> RunRecord:
    rows = list(arm_rows)
    campaign = Campaign(
        arms=tuple(
            Arm(r["name"], Role(r["role"]), r["server"], _pairs(r["chosen"]), r["handicap_ns"]) for r in rows
        ),
        cells=tuple(cell.spec for cell in cells),
        freeze=Freeze(row["freeze"]),
        placement=Pinning(row["placement"]),
        **_take(Campaign, row, "arms", "cells", "freeze", "placement"),
    )
    facts = tuple(
        ArmFacts(
            role=Role(r["role"]),
            build=_pairs(r["build"]),
            settings=_pairs(r["settings"]),
            notes=tuple(r["notes"]),
            **_take(ArmFacts, r, "role", "build", "settings", "notes"),
        )
        for r in rows
    )
    itself = _take(RunRecord, row, "state", "campaign", "host", "arms", "cells", "purpose")
    return RunRecord(
        state=RunState(row["state"]),
        campaign=campaign,
        host=_pairs(row["host"]),
        arms=facts,
        cells=cells,
        purpose=Purpose(row["purpose"]),
        **itself,
    )


def cell_record(row: Row, rounds: tuple[RoundRecord, ...]) -> CellRecord:
    return CellRecord(
        spec=CellSpec(
            primary=row["chosen_primary"],
            regime=Regime(row["chosen_regime"]) if row["chosen_regime"] else None,
            **_take(CellSpec, row, "primary", "regime"),
        ),
        primary=row["primary_metric"],
        regime=row["regime"],
        rounds=rounds,
        load_pools=tuple(row["load_pools"]),
        install_pools=tuple(row["install_pools"]),
    )


def round_record(row: Row, slices: Iterable[Row], arms: Iterable[ArmRecord]) -> RoundRecord:
    plan = RoundPlan(
        ordinal=row["ordinal"],
        start_order=tuple(row["start_order"]),
        connect_order=tuple(row["connect_order"]),
        slots=tuple(row["slots"]),
        loads=tuple(row["loads"]),
        installs=tuple(row["installs"]),
        pairs=tuple(Pair(tuple(order), seed) for order, seed in row["pairs"]),
    )
    return RoundRecord(
        plan=plan,
        state=RoundState(row["state"]),
        slices=tuple(SliceRecord(latency=_latency(r), **_take(SliceRecord, r, "latency")) for r in slices),
        arms=tuple(arms),
        placement=_pairs(row["placement"]),
        **_take(RoundRecord, row, "plan", "state", "slices", "arms", "placement"),
    )


def arm_record(row: Row, statements: Iterable[Row], tables: Iterable[Row]) -> ArmRecord:
    return ArmRecord(
        latency=_latency(row),
        statements=tuple(StatementRecord(**_take(StatementRecord, r)) for r in statements),
        tables=tuple(TableRecord(**_take(TableRecord, r)) for r in tables),
        **_take(ArmRecord, row, "latency", "statements", "tables"),
    )


def _latency_columns(latency: Latency) -> dict[str, float]:
    return {_latency_column(name): value for name, value in _plain(latency).items()}


def _latency(row: Row) -> Latency:
    return Latency(**{field.name: row[_latency_column(field.name)] for field in fields(Latency)})


def _latency_column(name: str) -> str:
    """The unit stands before the qualifier, so that the columns sort together: p50_ns is latency_ns_p50."""
    return f"latency_ns_{name.removesuffix('_ns')}"
