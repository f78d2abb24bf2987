"""JSON for programs: schema `pgverdict.report/1`. Numbers are not rounded; what is not known is null.

Keys may be added within a version; none is removed or changes its meaning. A cell is listed once per candidate.
"""

import json
import math
from dataclasses import asdict
from typing import Any

from pgverdict.judge.verdict import Verdict
from pgverdict.report.cells import CellReport
from pgverdict.report.curves import CurvesReport, segments
from pgverdict.report.model import Report, TrendReport
from pgverdict.report.partitions import PartitionsReport
from pgverdict.report.steps import StepsReport
from pgverdict.spec.tuning import Tuning

SCHEMA = "pgverdict.report/1"


def to_json(report: Report) -> str:
    """One strict JSON document with a newline at its end."""
    return json.dumps(_known(_document(report)), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _document(report: Report) -> dict[str, Any]:
    campaign = report.campaign
    return {
        "schema": SCHEMA,
        "made_by": report.made_by,
        "run": {
            "id": report.id,
            "state": report.state.value,
            "started": report.started,
            "seconds": report.seconds,
            "host": dict(report.host),
            "diagnoses": [{**asdict(one), "level": one.level.value} for one in report.diagnoses],
            "notes": report.notes,
            "command": report.command,
        },
        "campaign": {
            "margin": campaign.margin,
            "confidence": campaign.confidence,
            "promise": report.promise,
            "budget_s": campaign.budget_s,
            "rounds": campaign.rounds,
            "freeze": campaign.freeze.value,
            "placement": campaign.placement.value,
            "event_loop": campaign.event_loop.value,
            "defaults": campaign.defaults.value,
            "tuning": _tuning(campaign.tuning),
            "memory_bytes": campaign.memory_bytes,
            "cores": campaign.cores,
            "engine_cores": campaign.engine_cores,
            "seed": campaign.seed,
            "file": campaign.written.path if campaign.written else None,
        },
        "arms": [
            {
                "name": arm.name,
                "role": arm.role.value,
                "server": arm.server,
                "version": arm.version,
                "build": dict(arm.build),
                "settings": dict(arm.settings),
                "defaults": dict(arm.defaults),
                "data_directory": asked.data_directory,
                "wal_directory": asked.wal_directory,
                "notes": arm.notes,
            }
            for arm, asked in zip(report.arms, campaign.arms, strict=True)
        ],
        "differences": [asdict(difference) for difference in report.differences],
        "chosen_settings": [asdict(chosen) for chosen in report.chosen],
        "known_to_some": report.known_to_some,
        "cells": [_cell(cell) for cell in report.cells],
        "steps": [_steps(steps) for steps in report.steps],
        "trends": [_trend(trend) for trend in report.trends],
        "beside": _beside(report),
        "curves": [_curves(one) for one in report.curves],
        "partitions": [_partitions(one) for one in report.partitions],
        "summaries": [{"sentence": one.sentence, **asdict(one.summary)} for one in report.summaries],
    }


def _beside(report: Report) -> dict[str, Any] | None:
    if report.beside is None:
        return None
    told = asdict(report.beside)
    for table, shown in zip(report.beside.tables, told["tables"], strict=True):
        for row, one in zip(table.rows, shown["rows"], strict=True):
            one["agreement"] = row.agreement.name.lower()
    return {**told, "counts": dict(report.beside.counts), "sentence": report.beside.sentence}


def _curves(report: CurvesReport) -> dict[str, Any]:
    return {
        "cell": report.title,
        "confidence": report.confidence,
        "curves": [{"arm": label, **asdict(one), "sentence": segments(one)} for label, one in report.curves],
    }


def _partitions(report: PartitionsReport) -> dict[str, Any]:
    return {
        "cell": report.title,
        "penalties": [{**asdict(one), "sentence": one.sentence} for one in report.penalties],
    }


def _tuning(tuning: Tuning | None) -> dict[str, Any] | None:
    if tuning is None:
        return None
    return {**asdict(tuning), "use": tuning.use.value, "disk": tuning.disk.value}


def _cell(cell: CellReport) -> dict[str, Any]:
    return {
        "workload": cell.spec.workload,
        "scale": cell.spec.scale,
        "clients": cell.spec.clients,
        "parameters": dict(cell.spec.parameters),
        "own_work": asdict(cell.spec.own) if cell.spec.own else None,
        "settings": dict(cell.spec.settings),
        "baseline": cell.arms[0],
        "candidate": cell.arms[1],
        "primary": cell.primary,
        "regime": cell.regime,
        "cache": cell.spec.cache.value,
        "rounds": cell.rounds,
        "failed_rounds": cell.failed_rounds,
        "pairs": cell.pairs,
        "seconds": cell.seconds,
        "headline": cell.headline,
        "verdicts": [_verdict(verdict) for verdict in cell.verdicts],
        "round_effects": [asdict(effect) for effect in cell.round_effects],
        "conditions": [asdict(condition) for condition in cell.conditions],
        "statements": [asdict(statement) for statement in cell.statements],
        "placement": dict(cell.placement),
        "spread": asdict(cell.spread) if cell.spread else None,
        "checks": [asdict(check) for check in cell.checks],
        "notes": cell.notes,
    }


def _steps(steps: StepsReport) -> dict[str, Any]:
    return {
        "workload": steps.spec.workload,
        "scale": steps.spec.scale,
        "clients": steps.spec.clients,
        "parameters": dict(steps.spec.parameters),
        "arms": steps.labels,
        "rounds": steps.rounds,
        "steps": [asdict(row) for row in steps.rows],
        "notes": steps.notes,
    }


def _trend(trend: TrendReport) -> dict[str, Any]:
    return {
        "workload": trend.spec.workload,
        "scale": trend.spec.scale,
        "clients": trend.spec.clients,
        "parameters": dict(trend.spec.parameters),
        "arms": trend.arms,
        "sentence": trend.sentence,
        "per_release": [asdict(one) for one in trend.trends],
    }


def _verdict(verdict: Verdict) -> dict[str, Any]:
    facts = asdict(verdict)
    outcome = facts.pop("outcome")
    return {**facts, "noise_floor": verdict.noise_floor, "bound": verdict.bound, "verdict": outcome.value}


def _known(value: Any) -> Any:
    """JSON has neither NaN nor infinity."""
    match value:
        case float():
            return value if math.isfinite(value) else None
        case dict():
            return {name: _known(item) for name, item in value.items()}
        case list() | tuple():
            return [_known(item) for item in value]
    return value
