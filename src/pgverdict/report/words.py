"""How numbers, metrics, cells and arms are said: the same words in every format.

>>> percent(1.021), percent(0.5), percent(math.nan)
('+2.10 %', '-50.00 %', '-')
>>> quantity(51234.6), quantity(19.624), quantity(0.0051234)
('51,235', '19.62', '0.005123')
"""

import math
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from pgverdict.judge.decide import MORE_ROUNDS_MAX, ROUNDS_MIN
from pgverdict.judge.verdict import WHOLE_CELL, Outcome, Verdict
from pgverdict.records.run import ArmFacts
from pgverdict.spec.cache import Cache
from pgverdict.spec.campaign import CellSpec
from pgverdict.spec.metrics import METRICS, Better
from pgverdict.spec.parameters import spell

if TYPE_CHECKING:
    from pgverdict.judge.trend import Trend  # numpy: a list of runs counts without

NOTHING = "-"

FLOOR_MEANING = "the noise floor: no smaller change is called slower or faster"
"""What the column says."""

RATIO_MAX = 100
"""Limits further out are told as "more than that": so far, noise has only said that it is noise."""

_TITLES = {
    "tps": "throughput",
    "tps_p50": "typical throughput",
    "latency_us_mean": "mean latency",
    "latency_us_p50": "typical latency",
    "latency_us_p95": "95th percentile latency",
    "latency_us_p99": "99th percentile latency",
    "latency_us_stddev": "spread of latency",
    "latency_us_geomean": "geometric mean of latencies",
    "server_cpu_us_per_txn": "CPU per transaction",
    "step_rate_geomean": "throughput, mean of the steps",
    "step_rate": "throughput of a step",
    "step_us_p50": "typical time of a statement",
    "step_us_p95": "95th percentile of a statement",
    "step_us_p99": "99th percentile of a statement",
    "step_cpu_us": "CPU per row or query",
    "step_switches": "context switches per row or query",
    "step_read_bytes": "read from storage per row or query",
    "step_written_bytes": "written to storage per row or query",
    "step_wal_bytes": "WAL per row or query",
    "server_ms_mean": "mean server time",
    "server_ms_stddev": "spread of server time",
}

_STEERING = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
"""Control characters but for tabs and ends of lines."""


def title(metric: str) -> str:
    """What a metric is called in a sentence."""
    return _TITLES.get(metric, metric)


def unit(metric: str) -> str:
    return METRICS[metric].unit if metric in METRICS else ""


def meaning(metric: str) -> str:
    return METRICS[metric].meaning if metric in METRICS else ""


def slowdown(metric: str, effect: float) -> float:
    """The effect so that more than 1 is worse, whichever direction the metric improves in."""
    better = METRICS[metric].better if metric in METRICS else Better.LOWER
    if better is Better.LOWER:
        return effect
    return 1 / effect if effect else math.inf


def change(effect: float) -> str:
    """An effect as a signed change in percent, for columns that say so."""
    if not math.isfinite(effect):
        return NOTHING
    number = (effect - 1) * 100
    text = f"{number:+.2f}" if abs(number) < 100 else f"{number:+.0f}"
    return "0.00" if float(text) == 0 else text


def percent(effect: float) -> str:
    """The same, complete."""
    return f"{change(effect)} %" if math.isfinite(effect) else NOTHING


def has_interval(verdict: "Verdict | Trend") -> bool:
    return verdict.low > 0 and math.isfinite(verdict.high)


def interval(verdict: "Verdict | Trend", to: str = " to ") -> str:
    """The limits of an effect as signed changes in percent."""
    if not has_interval(verdict):
        return NOTHING
    return f"{limit(verdict.low)}{to}{limit(verdict.high)}"


def floor(verdict: Verdict) -> str:
    """The noise floor in percent, without a sign: '0.57'."""
    if not has_interval(verdict):
        return NOTHING
    return limit(1 + verdict.noise_floor).replace("+", "")


def bound(verdict: Verdict) -> str:
    """The largest difference the interval holds, in percent and rounded up: what SAME says there is nothing above."""
    return f"{math.ceil(verdict.bound * 1e4 - 1e-6) / 100:.2f}" if has_interval(verdict) else NOTHING


def limit(effect: float) -> str:
    """One end of an interval.

    >>> limit(0.9856), limit(1e-9), limit(3.8e23)
    ('-1.44', '< -99', '> +9900')
    """
    if effect > RATIO_MAX:
        return f"> {change(RATIO_MAX)}"
    return f"< {(1 / RATIO_MAX - 1) * 100:.0f}" if effect < 1 / RATIO_MAX else change(effect)


def quantity(value: float) -> str:
    """A measured value to four digits, in its own unit."""
    if not math.isfinite(value):
        return NOTHING
    if value == 0:
        return "0"
    if abs(value) >= 999.95:
        return f"{value:,.0f}"
    decimals = max(0, 3 - math.floor(math.log10(abs(value))))
    return f"{value:.{decimals}f}"


def count(number: int, noun: str) -> str:
    """
    >>> count(1, "round"), count(2400, "pair")
    ('1 round', '2,400 pairs')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def duration(seconds: float) -> str:
    """
    >>> duration(0.42), duration(71.6), duration(300), duration(5400)
    ('0.4 s', '1 min 12 s', '5 min', '1 h 30 min')
    """
    if seconds < 10:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    hours, minutes, left = whole // 3600, whole // 60 % 60, whole % 60
    parts = [(hours, "h"), (minutes, "min"), (left if not hours else 0, "s")]
    return " ".join(f"{number} {name}" for number, name in parts if number)


def roughly(seconds: float) -> str:
    """A duration that is only a forecast.

    >>> roughly(8.7), roughly(287), roughly(11_000)
    ('9 s', '5 min', '3.1 h')
    """
    if seconds < 60:
        return f"{max(1, seconds):.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


def visible(text: str) -> str:
    """Text that others wrote, for a terminal: characters that would steer it, as Python spells them.

    >>> visible(f"ERROR:  no column {chr(27)}[31mred")
    'ERROR:  no column \\\\x1b[31mred'
    """
    return _STEERING.sub(lambda found: repr(found[0])[1:-1], text)


def listed(words: Iterable[str]) -> str:
    """
    >>> listed(["compiler", "cflags", "configure"])
    'compiler, cflags and configure'
    """
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last


def cell_title(spec: CellSpec) -> str:
    """
    >>> cell_title(CellSpec("select-only", 10, 1, (("partitions", 16),)))
    'select-only, scale 10, 1 client, partitions 16'
    """
    name = f"{spec.workload} (own)" if spec.own else spec.workload
    parts = [name, f"scale {spec.scale:,}", count(spec.clients, "client")]
    parts += [f"{name.replace('_', ' ')} {spell(value)}" for name, value in spec.parameters]
    if spec.regime:
        parts.append(f"{spec.regime.value} regime")
    if spec.cache is Cache.COLD:
        parts.append("cold")
    parts += [f"{name} {value}" for name, value in spec.settings]
    return ", ".join(parts)


def shortened(text: str, width: int) -> str:
    """One line of at most `width` characters."""
    line = " ".join(text.split())
    return line if len(line) <= width else line[: width - 3].rstrip() + "..."


def absent(area: str) -> str:
    """What is said where an arm has no value: of settings, only those are kept that are not at their default."""
    said = {"setting": "default, or not there", "directory": "pgverdict's own"}
    return said.get(area, "not there")


def subject(verdict: Verdict) -> str:
    return "the whole cell" if verdict.subject == WHOLE_CELL else verdict.subject


def arm_label(arm: ArmFacts) -> str:
    """What an arm is called before people: 17 is told as 17.7, and a second 17 as 17.7#2."""
    return arm.version + arm.name.removeprefix(arm.server) if is_exactly(arm) else arm.name


def is_exactly(arm: ArmFacts) -> bool:
    """Whether the user named a line of releases, and the version says which one it was."""
    return arm.version.startswith(f"{arm.server}.") and arm.name.startswith(arm.server)


def rounds_wanted(verdict: Verdict) -> str:
    """How long a run would settle an open verdict, in a word: '~191' rounds; nothing where it is settled."""
    if verdict.outcome is not Outcome.UNDECIDED:
        return ""
    if verdict.more_rounds is not None:
        return f"~{verdict.rounds + verdict.more_rounds:,}"
    return f">{MORE_ROUNDS_MAX:,}" if math.isfinite(verdict.effect) else f">={ROUNDS_MIN}"


def _plain(number: float) -> str:
    """A number the user wrote, without the dust of arithmetic: 99, 99.9."""
    return f"{number:.6g}"


def confidence_words(confidence: float) -> str:
    return f"{_plain(confidence * 100)} %"


def margin_words(margin: float) -> str:
    """
    >>> margin_words(0.01)
    '1 %'
    """
    return f"{_plain(margin * 100)} %"


def has_limits(low: float, high: float) -> bool:
    return low > 0 and math.isfinite(high)
