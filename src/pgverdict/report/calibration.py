"""What a calibration run says, on one screen, in one line beside the verdicts of other runs, and for programs."""

import json
import math
from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any

from pgverdict import __version__
from pgverdict.judge.calibration import BUDGET_S, Calibration
from pgverdict.judge.levels import Component, Levels, Order
from pgverdict.judge.resolving import Found, Rate
from pgverdict.records.run import RunRecord
from pgverdict.report import words
from pgverdict.report.disturbed import host_notes

SCHEMA = "pgverdict.calibration/1"

HOST_FACTS = ("processor", "cores", "memory_bytes")
"""Hosts that agree in these are taken for the same one."""


def calibration_line(found: Calibration, run: RunRecord) -> str | None:
    """For the reports of other runs: what is found how soon. None if the run was too short to say."""
    if found.alarms is None or not found.slowed:
        return None
    said = []
    for slowed in found.slowed:
        seconds = found.seconds(slowed.found.rounds_p50)
        size = f"{math.expm1(slowed.found.truth) * 100:.1f} %"
        if seconds is None:
            said.append(f"{size} not in {words.duration(BUDGET_S)}")
        else:
            said.append(f"{size} in {words.roughly(seconds)}")
    return (
        f"on this host, calibrated {_day(run.started)} with {_version(run)} {run.cells[0].spec.workload}:"
        f" it finds a slow-down of {', '.join(said)} (median); {words.count(found.alarms.count, 'false alarm')} in"
        f" {found.alarms.runs:,} made-up runs"
    )


def calibration_screen(found: Calibration, run: RunRecord) -> str:
    """The whole of it, as text."""
    campaign, spec = run.campaign, run.cells[0].spec
    measured = f"{words.count(found.rounds, 'round')} of {len(run.arms)} arms"
    if found.round_s:
        measured += f" ({found.round_s:.1f} s each)"
    lines = [
        f"{_version(run)} on {words.cell_title(spec)}, calibrated {_day(run.started)}: {measured},"
        f" {found.short_rounds} of two" + (f" ({found.costs.round_s:.1f} s each)" if found.costs else ""),
        "",
    ]
    if found.alarms is None or found.equal is None:
        lines.append(
            f"too few rounds to say what is found here: {found.rounds + found.short_rounds}; a longer run would"
        )
        return "\n".join([*lines, *host_notes(run.diagnoses), f"run {run.id}"]) + "\n"
    lines += [
        f"comparisons of two arms, {words.confidence_words(campaign.confidence)} sure, margin"
        f" {words.margin_words(campaign.margin)}, of at most {found.rounds_max} rounds"
        f" ({words.duration(BUDGET_S) if found.costs else 'seconds are not known'});"
        f" each made up {found.equal.slower.runs:,} times from these rounds:",
        "",
        *_table(found),
        *_doubt(found.equal, found.margin),
        "",
        f"false alarms, roles flipped by lot: {_rate(found.alarms)}; promised at most {_percent(found.alpha)} %",
    ]
    if found.correlation:
        value, error = found.correlation
        lines.append(f"neighbouring rounds correlate by {value:+.2f} (chance alone: 0 +- {2 * error:.2f})")
    if found.levels:
        lines += _levels(found.levels)
    if found.best_pairs is not None and found.costs and found.levels:
        best = "as many as possible" if math.isinf(found.best_pairs) else f"{found.best_pairs:.0f}"
        lines.append(
            f"a round of two arms takes {found.costs.overhead_s:.2f} s and {found.costs.pair_s:.3f} s a pair:"
            f" {best} pairs would tell most in a given time, {found.levels.pairs} are used"
        )
    if found.failed_rounds:
        lines.append(f"{words.count(found.failed_rounds, 'round')} failed and are in none of this")
    lines += host_notes(run.diagnoses)
    return "\n".join([*lines, f"run {run.id}"]) + "\n"


def calibration_json(found: Calibration, run: RunRecord) -> str:
    """JSON for programs: numbers are not rounded; what is not known, or infinite, is null. Effects are log ratios."""
    document = {
        "schema": SCHEMA,
        "made_by": f"pgverdict {__version__}",
        "run": {"id": run.id, "state": run.state.value, "started": run.started, "seconds": run.seconds,
                "host": dict(run.host),
                "diagnoses": [{**asdict(one), "level": one.level.value} for one in run.diagnoses]},
        "server": _version(run),
        "cell": {**asdict(run.cells[0].spec), "cache": run.cells[0].spec.cache.value},
        "primary": run.cells[0].primary,
        "handicaps_ns": [arm.handicap_ns for arm in run.campaign.arms],
        "calibration": {**asdict(found), "best_pairs": found.best_pairs},
    }  # fmt: skip
    return json.dumps(_known(document), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _table(found: Calibration) -> list[str]:
    header = (
        "slowed down by",
        "CPU",
        "all rounds say",
        "SLOWER",
        "SAME",
        "other",
        "half / 9 in 10 decided in",
        "held",
    )
    rows = [("nothing", "", found.equal)]
    for slowed in found.slowed:
        share = f"{_percent(math.expm1(slowed.found.truth))} % ({slowed.spun_ns:,.0f} ns)"
        cpu = "" if math.isnan(slowed.cpu_ns) else f"{slowed.cpu_ns:+,.0f} ns"
        rows.append((share, cpu, slowed.found))
    cells = [header, *((name, cpu, *_row(one, found)) for name, cpu, one in rows if one is not None)]
    widths = [max(len(row[column]) for row in cells) for column in range(len(header))]
    lines = [
        "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip()
        for row in cells
    ]
    return [
        *lines,
        "CPU: by the scheduler, per transaction, against the baseline; other: FASTER or undecided;",
        "held: runs whose interval at their end holds what the servers really spun",
    ]


def _doubt(equal: Found, margin: float) -> list[str]:
    """Made-up runs take what all rounds say for the truth, so that should be well known."""
    if (equal.high - equal.low) / 2 < margin / 2:
        return []
    return [
        "these rounds know effects to no better than half the margin, so shares and times are rough: give it longer"
    ]


def _row(one: Found, found: Calibration) -> tuple[str, ...]:
    other = (one.faster.count + one.undecided.count) / one.slower.runs
    times = (_seconds(found, rounds) for rounds in (one.rounds_p50, one.rounds_p90))
    effect, low, high = (math.expm1(value) * 100 for value in (one.effect, one.low, one.high))
    return (
        f"{effect:+.2f} % ({low:+.2f} to {high:+.2f})",
        *(f"{share * 100:.1f} %" for share in (one.slower.share, one.same.share, other)),
        " / ".join(times),
        f"{one.holding.share * 100:.1f} %",
    )


def _seconds(found: Calibration, rounds: float | None) -> str:
    if rounds is None:
        return "never"
    seconds = found.seconds(rounds)
    return f"{rounds:.0f} rounds" if seconds is None else f"{seconds:.0f} s"


def _levels(levels: Levels) -> list[str]:
    members = (("loads", levels.loads), ("installs", levels.installs))
    told = [_component(name, one) for name, one in members if one is not None]
    lines = [
        f"a round scatters by {_percent(levels.round_sd)} %: {_percent(levels.start_sd)} % between starts,"
        f" {_percent(levels.within_sd)} % because its {levels.pairs} pairs are so few"
    ]
    if told:
        lines.append("; ".join(told))
    if levels.orders:
        lines.append(f"an arm is slower for being {', '.join(_order(order) for order in levels.orders)}")
    return lines


def _component(name: str, one: Component) -> str:
    return f"{one.members} {name} differ by {_percent(one.sd)} %, at most {_percent(one.sd_high)} %"


def _order(order: Order) -> str:
    effect, low, high = (math.expm1(value) * 100 for value in (order.effect, order.low, order.high))
    return f"{order.name} by {effect:+.2f} % ({low:+.2f} to {high:+.2f})"


def _rate(rate: Rate) -> str:
    return (
        f"{rate.count} of {rate.runs:,} = {_percent(rate.share)} %"
        f" (exact 95 % limits {_percent(rate.low)} to {_percent(rate.high)} %)"
    )


def _percent(fraction: float) -> str:
    return f"{fraction * 100:.2f}"


def _version(run: RunRecord) -> str:
    return run.arms[0].version


def _day(started: str) -> str:
    return f"{datetime.fromisoformat(started):%Y-%m-%d}"


def _known(value: Any) -> Any:
    """JSON has neither NaN nor infinity."""
    match value:
        case float():
            return value if math.isfinite(value) else None
        case dict():
            return {name: _known(item) for name, item in value.items()}
        case str():
            return value
        case Sequence():
            return [_known(item) for item in value]
    return value
