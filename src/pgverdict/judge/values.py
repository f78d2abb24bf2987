"""What one round says about one question: both arms' values, and the log of their ratio.

A question is a metric and its subject. A value that is missing, zero or not finite leaves the round out
of that question and of no other; how many rounds were used is part of every verdict. What the values of
many rounds add up to is not here (`judge.estimate`).

    "latency_us_p50" is the median, over the pairs of the round, of log(slice median candidate / slice median
    baseline), "tps_p50" the same of the slices' throughput. Arms that worked whole and alone have no pairs: there
    they are ratios, of the medians of all samples and of the medians of the slices' throughput;
    everything else is a ratio of totals, one per arm and round
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median

from pgverdict.judge.verdict import WHOLE_CELL
from pgverdict.records.round import ArmRecord, RoundRecord, SliceRecord, StatementRecord
from pgverdict.records.run import CellRecord
from pgverdict.spec.metrics import METRICS, Subject, metric

BASELINE = 0


@dataclass(frozen=True)
class Question:
    """A metric and what it is measured on: one verdict answers one question."""

    metric: str
    subject: str = WHOLE_CELL


@dataclass(frozen=True)
class Values:
    """One round's answer, in the metric's unit; the log ratio is candidate / baseline."""

    baseline: float
    candidate: float
    log_ratio: float


def questions(cell: CellRecord, candidate: int = 1) -> tuple[Question, ...]:
    """All questions about a candidate of a cell, the primary one first.

    The metrics of the whole cell are always asked, those of a statement if the first measured round has an answer:
    later rounds add no question, so a verdict that was shown keeps its share of alpha.
    """
    primary = Question(cell.primary)
    assert metric(cell.primary).subject is Subject.CELL, f"primary of a statement: {cell.primary}"
    whole = [Question(name) for name, m in METRICS.items() if m.subject is Subject.CELL]
    return (primary, *(q for q in whole if q != primary), *_statement_questions(cell, candidate))


def _statement_questions(cell: CellRecord, candidate: int) -> list[Question]:
    if not cell.measured:
        return []
    first = cell.measured[0]
    texts = {s.text: None for arm in first.arms for s in arm.statements}  # a set in order
    names = [name for name, m in METRICS.items() if m.subject is Subject.STATEMENT]
    asked = [Question(name, text) for text in texts for name in names]
    return [q for q in asked if values(first, q, clients=1, candidate=candidate) is not None]


def values(record: RoundRecord, question: Question, *, clients: int, candidate: int = 1) -> Values | None:
    """What a measured round says of a candidate and the baseline; None where it says nothing."""
    told = side_by_side(record, question, clients=clients)
    both = [by_arm for by_arm in told if BASELINE in by_arm and candidate in by_arm]
    if not both:
        return None
    return Values(
        median(by_arm[BASELINE] for by_arm in both),
        median(by_arm[candidate] for by_arm in both),
        median(math.log(by_arm[candidate] / by_arm[BASELINE]) for by_arm in both),
    )


def side_by_side(record: RoundRecord, question: Question, *, clients: int) -> list[dict[int, float]]:
    """Values to be compared with each other, by arm: one set per pair where the question is about pairs, else one.
    There are no pairs where arms did not take turns.

    An arm whose value is missing or impossible is left out of its set: so is half of a pair, or a slice in which
    nothing ended.
    """
    if question.metric in _CELL_TYPICALS and record.took_turns:
        return _by_pair(record.slices, _CELL_TYPICALS[question.metric], clients)
    totals = {arm.arm: _total(record, arm, question, clients) for arm in record.arms}
    return [{arm: value for arm, value in totals.items() if value is not None and _usable(value)}]


def _by_pair(
    slices: tuple[SliceRecord, ...], figure: Callable[[SliceRecord, int], float], clients: int
) -> list[dict[int, float]]:
    found: dict[int, dict[int, float]] = {}
    for s in slices:
        if _usable(value := figure(s, clients)):
            found.setdefault(s.pair, {})[s.arm] = value
    return list(found.values())


# busy_ns is summed over clients, so a client's own rate is what the division gives.
_CELL_TYPICALS: dict[str, Callable[[SliceRecord, int], float]] = {
    "latency_us_p50": lambda s, _: s.latency.p50_ns / 1e3,
    "tps_p50": lambda s, clients: clients * 1e9 * s.transactions / s.busy_ns if s.busy_ns else math.nan,
}

_CELL_TOTALS: dict[str, Callable[[ArmRecord], float]] = {
    "latency_us_p50": lambda arm: arm.latency.p50_ns / 1e3,
    "latency_us_mean": lambda arm: arm.latency.mean_ns / 1e3,
    "latency_us_p95": lambda arm: arm.latency.p95_ns / 1e3,
    "latency_us_p99": lambda arm: arm.latency.p99_ns / 1e3,
    "latency_us_stddev": lambda arm: arm.latency.sd_ns / 1e3,
}

_STATEMENT_TOTALS: dict[str, Callable[[StatementRecord], float | None]] = {
    "server_ms_mean": lambda statement: statement.server_ms_mean,
    "server_ms_stddev": lambda statement: statement.server_ms_stddev,
}


def _total(record: RoundRecord, arm: ArmRecord, question: Question, clients: int) -> float | None:
    name = question.metric
    if name in _CELL_TOTALS:
        return _CELL_TOTALS[name](arm)
    if name in _STATEMENT_TOTALS:
        found = (s for s in arm.statements if s.text == question.subject)
        statement = next(found, None)
        return None if statement is None else _STATEMENT_TOTALS[name](statement)
    if name == "tps_p50":
        return _typical_tps([s for s in record.slices if s.arm == arm.arm], clients)
    if name == "tps":
        return clients * 1e9 * arm.transactions / arm.busy_ns if arm.busy_ns else None
    assert name == "server_cpu_us_per_txn", f"no rule for metric: {name}"
    return _cpu_us_per_transaction([s for s in record.slices if s.arm == arm.arm])


def _typical_tps(slices: list[SliceRecord], clients: int) -> float | None:
    rates = [rate for s in slices if _usable(rate := _CELL_TYPICALS["tps_p50"](s, clients))]
    return median(rates) if rates else None


def _cpu_us_per_transaction(slices: list[SliceRecord]) -> float | None:
    # The processor time covers the whole slice, so what was discarded or failed is divided by as well.
    executed = sum(s.transactions + s.failed + s.discarded for s in slices)
    return sum(s.server_cpu_ns for s in slices) / executed / 1e3 if executed else None


def _usable(value: float) -> bool:
    return math.isfinite(value) and value > 0
