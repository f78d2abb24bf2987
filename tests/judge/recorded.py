"""Rounds of real servers, recorded by the prototype (tests/data/rounds/README.md)."""

import csv
import gzip
import math
import random
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from pathlib import Path
from statistics import fmean, median

from pgverdict.plan.rounds import RoundPlan
from pgverdict.records.round import ArmRecord, Latency, RoundRecord, SliceRecord

from .made import a_round, a_slice, an_arm

FOLDER = Path(__file__).parents[1] / "data" / "rounds"


@dataclass(frozen=True)
class RecordedRound:
    """One round of a series. Servers are 0 = a and 1 = b, whichever role they play later."""

    series: str
    connected_first: int
    slices: tuple[dict[str, float], ...]


@cache
def recorded(file: str) -> tuple[RecordedRound, ...]:
    with gzip.open(FOLDER / f"{file}.csv.gz", "rt", newline="") as lines:
        rows = list(csv.DictReader(lines))
    return tuple(_round(tag, slices) for tag, slices in groupby(rows, key=lambda row: row["tag"]))


def _round(tag: str, rows: Iterable[dict[str, str]]) -> RecordedRound:
    match = re.fullmatch(r"(\w+)_r\d+(s?)", tag)
    assert match is not None, tag
    swapped = match[2] == "s"
    slices = [{name: float(value) for name, value in row.items() if name != "tag"} for row in rows]
    for s in slices:
        s["server"] = 1 - s["arm"] if swapped else s["arm"]
    return RecordedRound(match[1], int(swapped), tuple(slices))


def series(file: str, name: str) -> list[RecordedRound]:
    return [r for r in recorded(file) if r.series == name]


def as_record(
    measured: RecordedRound,
    ordinal: int,
    *,
    baseline: int = 0,
    started_first: int | None = None,
    directory_belongs_to_server: bool = False,
    dummy: random.Random | None = None,
) -> RoundRecord:
    """The round as the product would have recorded it, with server `baseline` as the baseline.

    What was not recorded or not varied (None, False) is drawn: an order that has nothing to do with what was
    measured, as the plan's would be.
    """
    draw = dummy or random.Random(ordinal)
    arm_of = {baseline: 0, 1 - baseline: 1}
    started = arm_of[started_first] if started_first is not None else draw.randrange(2)
    directories = (baseline, 1 - baseline) if directory_belongs_to_server else draw.choice([(0, 1), (1, 0)])
    connected = arm_of[measured.connected_first]
    plan = RoundPlan(
        ordinal=ordinal,
        start_order=(started, 1 - started),
        connect_order=(connected, 1 - connected),
        slots=directories,
        loads=(0, 0),
        installs=(0, 0),
        pairs=(),
    )
    slices = [_slice(s, arm_of[int(s["server"])]) for s in measured.slices]
    return a_round(plan, slices=slices, arms=[_totals(slices, arm) for arm in (0, 1)])


def _slice(row: dict[str, float], arm: int) -> SliceRecord:
    transactions = int(row["n"])
    return a_slice(
        int(row["pair"]),
        arm,
        row["p50"],
        transactions=transactions,
        position=int(row["pos"]),
        busy_ns=round(row["mean"] * transactions * 1e3),
        server_cpu_ns=round(row["cpu"] * transactions + row["bg"] * 1e3),
    )


def _totals(slices: list[SliceRecord], arm: int) -> ArmRecord:
    mine = [s for s in slices if s.arm == arm]
    transactions = sum(s.transactions for s in mine)
    busy_ns = sum(s.busy_ns for s in mine)
    missing = math.nan  # percentiles of a round were not recorded
    return an_arm(
        arm,
        Latency(
            missing,
            busy_ns / transactions,
            missing,
            median(s.latency.p50_ns for s in mine),
            missing,
            missing,
            missing,
        ),
        transactions=transactions,
        busy_ns=busy_ns,
    )


def pair_log_ratios(measured: RecordedRound) -> list[float]:
    """b / a of the slice medians, pair by pair."""
    pairs: dict[float, dict[float, float]] = {}
    for s in measured.slices:
        pairs.setdefault(s["pair"], {})[s["server"]] = s["p50"]
    return [math.log(p[1.0] / p[0.0]) for p in pairs.values() if len(p) == 2]


def log_ratio(measured: RecordedRound) -> float:
    return median(pair_log_ratios(measured))


def centred(rounds: list[RecordedRound]) -> list[float]:
    """The log ratios of a series without its effect."""
    ratios = [log_ratio(r) for r in rounds]
    mean = fmean(ratios)
    return [r - mean for r in ratios]
