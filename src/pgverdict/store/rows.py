"""Records to rows, and rows back to equal records.

A field that is a plain value has a column of its name; what is nested is taken apart here, by hand.
"""

import math
from collections.abc import Iterable
from dataclasses import asdict, fields
from typing import Any

from sqlalchemy import RowMapping

from pgverdict.plan.rounds import Pair, RoundPlan
from pgverdict.records.host import Diagnosis, Level, Surroundings
from pgverdict.records.round import (
    ArmRecord,
    KindRecord,
    Latency,
    LogRecord,
    PreliminariesRecord,
    RoundRecord,
    RoundState,
    SliceRecord,
    StatementRecord,
    StepRecord,
    TableRecord,
    TaskRecord,
)
from pgverdict.records.run import ArmFacts, CellRecord, Purpose, RunRecord, RunState
from pgverdict.spec.arms import Arm, Role
from pgverdict.spec.cache import Cache
from pgverdict.spec.campaign import Campaign, CellSpec, Defaults, Freeze, Pinning, Written
from pgverdict.spec.own import OwnDump, OwnScript, OwnText, OwnWork
from pgverdict.spec.regime import Regime
from pgverdict.spec.tuning import Disk, Tuning, Use

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


def _cores(array: Iterable[int] | None) -> tuple[int, ...] | None:
    return None if array is None else tuple(array)


def _written(array: tuple[str, str, list[str]] | None) -> Written | None:
    return None if array is None else Written(array[0], array[1], tuple(array[2]))


def run_row(run: RunRecord) -> dict[str, Any]:
    campaign = _plain(run.campaign, "arms", "cells", "written")
    written = run.campaign.written
    campaign |= {
        "file": [written.path, written.text, list(written.options)] if written else None,
        "freeze": run.campaign.freeze.value,
        "placement": run.campaign.placement.value,
        "defaults": run.campaign.defaults.value,
        "tuning": _tuning_pairs(run.campaign.tuning),
    }
    return {
        **campaign,
        **_plain(run, "state", "campaign", "arms", "cells", "purpose", "diagnoses", "left_out"),
        "left_out": run.left_out or None,
        "state": run.state.value,
        "purpose": run.purpose.value,
        "diagnoses": [[one.check, one.level.value, one.found] for one in run.diagnoses],
    }


def arm_rows(run: RunRecord) -> list[dict[str, Any]]:
    """An arm as it was asked for and as it was found, in one row."""
    rows = []
    for place, (asked, found) in enumerate(zip(run.campaign.arms, run.arms, strict=True)):
        assert (asked.name, asked.role, asked.server) == (found.name, found.role, found.server), (
            asked,
            found,
        )
        assert not asked.optional, "settings are settled before a run is kept"
        rows.append(
            {
                "run_id": run.id,
                "arm": place,
                "chosen": asked.settings,
                "handicap_ns": asked.handicap_ns,
                "origins": asked.origins,
                "data_directory": asked.data_directory,
                "wal_directory": asked.wal_directory,
                **_plain(found, "role"),
                "role": found.role.value,
            }
        )
    return rows


def _tuning_pairs(tuning: Tuning | None) -> list[tuple[str, str]] | None:
    if tuning is None:
        return None
    return [
        ("use", tuning.use.value),
        ("memory_bytes", str(tuning.memory_bytes)),
        ("cores", str(tuning.cores)),
        ("disk", tuning.disk.value),
    ]


def _tuning(array: Iterable[tuple[str, str]] | None) -> Tuning | None:
    if array is None:
        return None
    told = dict(_pairs(array))
    return Tuning(Use(told["use"]), int(told["memory_bytes"]), int(told["cores"]), Disk(told["disk"]))


def cell_row(run_id: str, ordinal: int, cell: CellRecord) -> dict[str, Any]:
    itself = _plain(cell, "spec", "primary", "rounds")
    asked = {
        **_plain(cell.spec, "parameters", "primary", "regime", "cache", "own", "settings"),
        "parameters": dict(cell.spec.parameters),
        "own_work": asdict(cell.spec.own) if cell.spec.own else None,
        "settings": cell.spec.settings or None,
        "chosen_primary": cell.spec.primary,
        "chosen_regime": cell.spec.regime.value if cell.spec.regime else None,
        "cache": cell.spec.cache.value,
    }
    return {"run_id": run_id, "ordinal": ordinal, **asked, "primary_metric": cell.primary, **itself}


def round_row(cell: int, place: int, record: RoundRecord) -> dict[str, Any]:
    plan = _plain(record.plan, "pairs")
    plan["pairs"] = [[pair.order, pair.seed] for pair in record.plan.pairs]
    itself = _plain(record, "plan", "state", "slices", "arms", "surroundings", "logs")
    around = _plain(record.surroundings) if record.surroundings else {}
    return {"cell": cell, "place": place, "state": record.state.value, **plan, **itself, **around}


def slice_rows(number: int, record: RoundRecord) -> list[dict[str, Any]]:
    return [
        {
            "round": number,
            "place": place,
            **_plain(one, "latency", "seconds"),
            **_latency_columns(one.latency),
        }
        for place, one in enumerate(record.slices)
    ]


def round_arm_rows(number: int, record: RoundRecord) -> list[dict[str, Any]]:
    return [
        {
            "round": number,
            "place": place,
            **_plain(arm, "latency", "statements", "tables", "kinds", "tasks", "steps", "preliminaries"),
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


def kind_rows(number: int, record: RoundRecord) -> list[dict[str, Any]]:
    return [
        {
            "round": number,
            "arm_place": arm_place,
            "place": place,
            **_plain(kind, "latency"),
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
            **_plain(step, "latency"),
            **_latency_columns(step.latency or _NO_LATENCY),
        }
        for arm_place, arm in enumerate(record.arms)
        for place, step in enumerate(arm.steps)
    ]


def table_rows(number: int, record: RoundRecord) -> list[dict[str, Any]]:
    return [
        {"round": number, "arm_place": arm_place, "place": place, **_plain(table)}
        for arm_place, arm in enumerate(record.arms)
        for place, table in enumerate(arm.tables)
    ]


def task_rows(number: int, record: RoundRecord) -> list[dict[str, Any]]:
    return [
        {"round": number, "arm_place": arm_place, "place": place, **_plain(task)}
        for arm_place, arm in enumerate(record.arms)
        for place, task in enumerate(arm.tasks)
    ]


def run_record(row: Row, arm_rows: Iterable[Row], cells: tuple[CellRecord, ...]) -> RunRecord:
    rows = list(arm_rows)
    campaign = Campaign(
        arms=tuple(
            Arm(
                role=Role(r["role"]),
                settings=_pairs(r["chosen"]),
                origins=_pairs(r["origins"]),
                **_take(Arm, r, "role", "settings", "origins", "optional"),
            )
            for r in rows
        ),
        cells=tuple(cell.spec for cell in cells),
        freeze=Freeze(row["freeze"]),
        placement=Pinning(row["placement"]),
        defaults=Defaults(row["defaults"]),
        tuning=_tuning(row["tuning"]),
        cores=_cores(row["cores"]),
        engine_cores=_cores(row["engine_cores"]),
        written=_written(row["file"]),
        **_take(
            Campaign,
            row,
            "written",
            "arms",
            "cells",
            "freeze",
            "placement",
            "defaults",
            "tuning",
            "cores",
            "engine_cores",
        ),
    )
    facts = tuple(
        ArmFacts(
            role=Role(r["role"]),
            build=_pairs(r["build"]),
            settings=_pairs(r["settings"]),
            notes=tuple(r["notes"]),
            defaults=_pairs(r["defaults"]),
            **_take(ArmFacts, r, "role", "build", "settings", "notes", "defaults"),
        )
        for r in rows
    )
    itself = _take(
        RunRecord, row, "state", "campaign", "host", "arms", "cells", "purpose", "diagnoses", "left_out"
    )
    return RunRecord(
        state=RunState(row["state"]),
        campaign=campaign,
        host=_pairs(row["host"]),
        arms=facts,
        cells=cells,
        purpose=Purpose(row["purpose"]),
        diagnoses=tuple(
            Diagnosis(check, Level(level), found) for check, level, found in row["diagnoses"] or ()
        ),
        left_out=_pairs(row["left_out"] or ()),
        **itself,
    )


def cell_record(row: Row, rounds: tuple[RoundRecord, ...]) -> CellRecord:
    return CellRecord(
        spec=CellSpec(
            primary=row["chosen_primary"],
            regime=Regime(row["chosen_regime"]) if row["chosen_regime"] else None,
            cache=Cache(row["cache"] or Cache.WARM.value),
            parameters=tuple(sorted(row["parameters"].items())),
            own=_own(row["own_work"]),
            settings=_pairs(row["settings"] or ()),
            **_take(CellSpec, row, "parameters", "primary", "regime", "cache", "own", "settings"),
        ),
        primary=row["primary_metric"],
        regime=row["regime"],
        rounds=rounds,
        load_pools=tuple(row["load_pools"]),
        install_pools=tuple(row["install_pools"]),
        trouble=row["trouble"],
    )


def _own(kept: dict[str, Any] | None) -> OwnWork | None:
    if kept is None:
        return None
    schema, load, dump = kept["schema"], kept["load"], kept["dump"]
    return OwnWork(
        tuple(OwnScript(**script) for script in kept["scripts"]),
        OwnText(**schema) if schema else None,
        OwnText(**load) if load else None,
        OwnDump(**dump) if dump else None,
        kept["read_only"],
        kept["long"],
        tuple(kept.get("allow", ())),
    )


def round_record(
    row: Row, slices: Iterable[Row], arms: Iterable[ArmRecord], logs: tuple[LogRecord, ...]
) -> RoundRecord:
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
        slices=tuple(
            SliceRecord(latency=_latency(r), **_take(SliceRecord, r, "latency", "seconds")) for r in slices
        ),
        arms=tuple(arms),
        placement=_pairs(row["placement"]),
        surroundings=None if row["watched_ns"] is None else Surroundings(**_take(Surroundings, row)),
        logs=logs,
        **_take(RoundRecord, row, "plan", "state", "slices", "arms", "placement", "surroundings", "logs"),
    )


def arm_record(
    row: Row,
    statements: Iterable[Row],
    tables: Iterable[Row],
    kinds: Iterable[Row],
    tasks: Iterable[Row],
    steps: Iterable[Row],
    preliminaries: tuple[PreliminariesRecord, ...],
) -> ArmRecord:
    return ArmRecord(
        latency=_latency(row),
        statements=tuple(StatementRecord(**_take(StatementRecord, r)) for r in statements),
        tables=tuple(TableRecord(**_take(TableRecord, r)) for r in tables),
        kinds=tuple(
            KindRecord(latency=_latency(r) if r["count"] else None, **_take(KindRecord, r, "latency"))
            for r in kinds
        ),
        tasks=tuple(
            TaskRecord(variables=_pairs(r["variables"]), **_take(TaskRecord, r, "variables")) for r in tasks
        ),
        steps=tuple(
            StepRecord(
                latency=_latency(r) if r["counts"] is not None else None, **_take(StepRecord, r, "latency")
            )
            for r in steps
        ),
        preliminaries=preliminaries,
        **_take(
            ArmRecord, row, "latency", "statements", "tables", "kinds", "tasks", "steps", "preliminaries"
        ),
    )


_NO_LATENCY = Latency(*(math.nan for _ in fields(Latency)))
"""Of a kind of which no transaction was counted."""


def _latency_columns(latency: Latency) -> dict[str, float]:
    return {_latency_column(name): value for name, value in _plain(latency).items()}


def _latency(row: Row) -> Latency:
    return Latency(**{field.name: row[_latency_column(field.name)] for field in fields(Latency)})


def _latency_column(name: str) -> str:
    """The unit stands before the qualifier, so that the columns sort together: p50_ns is latency_ns_p50."""
    return f"latency_ns_{name.removesuffix('_ns')}"
