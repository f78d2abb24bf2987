"""The JSON that programs read: which keys there are is a promise."""

import dataclasses
import json
import math
from typing import Any

from pgverdict.report.machine import to_json
from pgverdict.report.model import Report, make_report

from . import samples


def strictly_parsed(text: str) -> dict[str, Any]:
    def refuse(constant: str) -> None:
        raise AssertionError(f"not JSON: {constant}")

    parsed: dict[str, Any] = json.loads(text, parse_constant=refuse)
    return parsed


def test_the_keys_are_those_that_were_promised(report: Report) -> None:
    document = strictly_parsed(to_json(report))
    assert document["schema"] == "pgverdict.report/1"
    assert list(document) == [
        "schema",
        "made_by",
        "run",
        "campaign",
        "arms",
        "differences",
        "chosen_settings",
        "known_to_some",
        "cells",
        "steps",
        "trends",
        "beside",
        "curves",
        "partitions",
        "summaries",
    ]
    assert list(document["run"]) == [
        *("id", "state", "started", "seconds", "host", "diagnoses", "notes", "command")
    ]
    assert list(document["arms"][0]) == [
        *("name", "role", "server", "version", "build", "settings", "defaults"),
        *("data_directory", "wal_directory", "notes"),
    ]
    assert list(document["cells"][0]) == [
        *(
            "workload",
            "scale",
            "clients",
            "parameters",
            "own_work",
            "settings",
            "baseline",
            "candidate",
            "primary",
            "regime",
            "cache",
        ),
        *("rounds", "failed_rounds", "pairs", "seconds", "headline", "verdicts"),
        *("round_effects", "conditions", "statements", "placement", "spread", "checks", "notes"),
    ]
    assert list(document["cells"][0]["verdicts"][0]) == [
        *("metric", "subject", "baseline", "candidate", "baseline_value", "candidate_value"),
        *("effect", "low", "high", "confidence", "margin", "detectable"),
        *(
            "rounds",
            "alpha",
            "e_value",
            "round_sd",
            "more_rounds",
            "more_rounds_range",
            "withheld",
            "pulled_in",
        ),
        *("noise_floor", "bound", "verdict"),
    ]


def test_numbers_are_as_they_were_judged(report: Report) -> None:
    cell = strictly_parsed(to_json(report))["cells"][0]
    verdict = samples.READ_ONLY_VERDICTS[0]
    assert (cell["rounds"], cell["pairs"], cell["primary"]) == (24, 288, "latency_us_p50")
    judged = cell["verdicts"][0]
    assert (judged["effect"], judged["low"], judged["high"]) == (verdict.effect, verdict.low, verdict.high)
    assert (judged["verdict"], judged["baseline"], judged["candidate"]) == ("SLOWER", "17", "18")


def test_settings_and_host_are_objects(report: Report) -> None:
    document = strictly_parsed(to_json(report))
    assert document["run"]["host"]["cores"] == "2"
    assert document["arms"][1]["settings"] == {
        "autovacuum": "off",
        "io_method": "sync",
        "shared_buffers": "512MB",
    }


def test_what_is_not_known_is_null() -> None:
    unknown = dataclasses.replace(
        samples.READ_ONLY_VERDICTS[0], effect=math.nan, low=0.0, high=math.inf, e_value=math.nan
    )
    report = make_report(samples.a_run(), (((unknown,),), (samples.FRESH_VERDICTS,)))
    judged = strictly_parsed(to_json(report))["cells"][0]["verdicts"][0]
    assert [judged[name] for name in ("effect", "low", "high", "e_value")] == [None, 0.0, None, None]


def test_a_failed_round_is_there_with_its_story(report: Report) -> None:
    effect = strictly_parsed(to_json(report))["cells"][1]["round_effects"][4]
    assert (effect["number"], effect["effect"], effect["failed"]) == (5, None, True)
    assert effect["story"].startswith("cannot start PostgreSQL 18.1")
