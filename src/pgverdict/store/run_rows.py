"""Runs, their arms and cells to rows, and rows back to equal records. Without SQLAlchemy: a row is any mapping.

A field that is a plain value has a column of its name; what is nested is taken apart here, by hand.
"""

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any

from pgverdict.records.host import Diagnosis, Level
from pgverdict.records.round import RoundRecord
from pgverdict.records.run import ArmFacts, CellRecord, Purpose, RunRecord, RunState
from pgverdict.spec.arms import Arm, Role
from pgverdict.spec.cache import Cache
from pgverdict.spec.campaign import Campaign, CellSpec, Defaults, EventLoop, Freeze, Pinning, Written
from pgverdict.spec.own import OwnDump, OwnScript, OwnText, OwnWork
from pgverdict.spec.regime import Regime
from pgverdict.spec.tuning import Disk, Tuning, Use
from pgverdict.store.fields import pairs, plain, take

Row = Mapping[Any, Any]
"""By the name of the column."""


def _cores(array: Iterable[int] | None) -> tuple[int, ...] | None:
    return None if array is None else tuple(array)


def _written(array: tuple[str, str, list[str]] | None) -> Written | None:
    return None if array is None else Written(array[0], array[1], tuple(array[2]))


def run_row(run: RunRecord) -> dict[str, Any]:
    campaign = plain(run.campaign, "arms", "cells", "written")
    written = run.campaign.written
    campaign |= {
        "file": [written.path, written.text, list(written.options)] if written else None,
        "freeze": run.campaign.freeze.value,
        "placement": run.campaign.placement.value,
        "event_loop": run.campaign.event_loop.value,
        "defaults": run.campaign.defaults.value,
        "tuning": _tuning_pairs(run.campaign.tuning),
    }
    return {
        **campaign,
        **plain(run, "state", "campaign", "arms", "cells", "purpose", "diagnoses", "left_out"),
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
                **plain(found, "role"),
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
    told = dict(pairs(array))
    return Tuning(Use(told["use"]), int(told["memory_bytes"]), int(told["cores"]), Disk(told["disk"]))


def cell_row(run_id: str, ordinal: int, cell: CellRecord) -> dict[str, Any]:
    itself = plain(cell, "spec", "primary", "rounds")
    asked = {
        **plain(cell.spec, "parameters", "primary", "regime", "cache", "own", "settings"),
        "parameters": dict(cell.spec.parameters),
        "own_work": asdict(cell.spec.own) if cell.spec.own else None,
        "settings": cell.spec.settings or None,
        "chosen_primary": cell.spec.primary,
        "chosen_regime": cell.spec.regime.value if cell.spec.regime else None,
        "cache": cell.spec.cache.value,
    }
    return {"run_id": run_id, "ordinal": ordinal, **asked, "primary_metric": cell.primary, **itself}


def run_record(row: Row, arm_rows: Iterable[Row], cells: tuple[CellRecord, ...]) -> RunRecord:
    rows = list(arm_rows)
    campaign = Campaign(
        arms=tuple(
            Arm(
                role=Role(r["role"]),
                settings=pairs(r["chosen"]),
                origins=pairs(r["origins"]),
                **take(Arm, r, "role", "settings", "origins", "optional"),
            )
            for r in rows
        ),
        cells=tuple(cell.spec for cell in cells),
        freeze=Freeze(row["freeze"]),
        placement=Pinning(row["placement"]),
        event_loop=EventLoop(row["event_loop"]),
        defaults=Defaults(row["defaults"]),
        tuning=_tuning(row["tuning"]),
        cores=_cores(row["cores"]),
        engine_cores=_cores(row["engine_cores"]),
        written=_written(row["file"]),
        **take(
            Campaign,
            row,
            "written",
            "arms",
            "cells",
            "freeze",
            "placement",
            "event_loop",
            "defaults",
            "tuning",
            "cores",
            "engine_cores",
        ),
    )
    facts = tuple(
        ArmFacts(
            role=Role(r["role"]),
            build=pairs(r["build"]),
            settings=pairs(r["settings"]),
            notes=tuple(r["notes"]),
            defaults=pairs(r["defaults"]),
            **take(ArmFacts, r, "role", "build", "settings", "notes", "defaults"),
        )
        for r in rows
    )
    itself = take(
        RunRecord, row, "state", "campaign", "host", "arms", "cells", "purpose", "diagnoses", "left_out"
    )
    return RunRecord(
        state=RunState(row["state"]),
        campaign=campaign,
        host=pairs(row["host"]),
        arms=facts,
        cells=cells,
        purpose=Purpose(row["purpose"]),
        diagnoses=tuple(
            Diagnosis(check, Level(level), found) for check, level, found in row["diagnoses"] or ()
        ),
        left_out=pairs(row["left_out"] or ()),
        **itself,
    )


def cell_spec(row: Row) -> CellSpec:
    return CellSpec(
        primary=row["chosen_primary"],
        regime=Regime(row["chosen_regime"]) if row["chosen_regime"] else None,
        cache=Cache(row["cache"] or Cache.WARM.value),
        parameters=tuple(sorted(row["parameters"].items())),
        own=_own(row["own_work"]),
        settings=pairs(row["settings"] or ()),
        **take(CellSpec, row, "parameters", "primary", "regime", "cache", "own", "settings"),
    )


def cell_record(row: Row, rounds: tuple[RoundRecord, ...]) -> CellRecord:
    return CellRecord(
        spec=cell_spec(row),
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
