"""What one round says about one question: both arms' values, and the log of their ratio.

A question is a metric and its subject. A value that is missing, zero or not finite leaves the round out
of that question and of no other; how many rounds were used is part of every verdict. What the values of
many rounds add up to is not here (`judge.estimate`).

    "p50" is the median, over the pairs of the round, of log(slice median candidate / slice median baseline),
    where arms took turns; arms that worked whole and alone have no pairs, and it is a ratio of totals
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
from pgverdict.spec.regime import Regime

BASELINE, CANDIDATE = 0, 1


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


def questions(cell: CellRecord) -> tuple[Question, ...]:
    """All questions of a cell, the primary one first.

    The metrics of the whole cell are always asked, those of a statement if the first measured round has an answer:
    later rounds add no question, so a verdict that was shown keeps its share of alpha.
    """
    primary = Question(cell.primary)
    assert metric(cell.primary).subject is Subject.CELL, f"primary of a statement: {cell.primary}"
    whole = [Question(name) for name, m in METRICS.items() if m.subject is Subject.CELL]
    return (primary, *(q for q in whole if q != primary), *_statement_questions(cell))


def _statement_questions(cell: CellRecord) -> list[Question]:
    if not cell.measured:
        return []
    first = cell.measured[0]
    texts = {s.text: None for arm in first.arms for s in arm.statements}  # a set in order
    names = [name for name, m in METRICS.items() if m.subject is Subject.STATEMENT]
    asked = [Question(name, text) for text in texts for name in names]
    return [q for q in asked if values(first, q, clients=1, regime=cell.regime) is not None]


def values(
    record: RoundRecord, question: Question, *, clients: int, regime: str = Regime.READ_ONLY.value
) -> Values | None:
    """What a measured round says; None where it says nothing. The `regime` tells whether its arms took turns."""
    arms = {arm.arm: arm for arm in record.arms}
    if BASELINE not in arms or CANDIDATE not in arms:
        return None
    if question.metric == "latency_us_p50" and regime != Regime.STEADY.value:
        return _typical(record.slices)
    both = [_total(record, arms[arm], question, clients) for arm in (BASELINE, CANDIDATE)]
    baseline, candidate = both
    if not (_usable(baseline) and _usable(candidate)):
        return None
    assert baseline is not None
    assert candidate is not None
    return Values(baseline, candidate, math.log(candidate / baseline))


def _typical(slices: tuple[SliceRecord, ...]) -> Values | None:
    """Half a pair, or a slice in which nothing ended, says nothing: the pair is left out."""
    medians: dict[int, dict[int, float]] = {}
    for s in slices:
        if _usable(s.latency.p50_ns):
            medians.setdefault(s.pair, {})[s.arm] = s.latency.p50_ns
    pairs = [p for p in medians.values() if BASELINE in p and CANDIDATE in p]
    if not pairs:
        return None
    return Values(
        median(p[BASELINE] for p in pairs) / 1e3,
        median(p[CANDIDATE] for p in pairs) / 1e3,
        median(math.log(p[CANDIDATE] / p[BASELINE]) for p in pairs),
    )


_CELL_TOTALS: dict[str, Callable[[ArmRecord], float]] = {
    "latency_us_p50": lambda arm: arm.latency.p50_ns / 1e3,
    "latency_us_mean": lambda arm: arm.latency.mean_ns / 1e3,
    "latency_us_p95": lambda arm: arm.latency.p95_ns / 1e3,
    "latency_us_p99": lambda arm: arm.latency.p99_ns / 1e3,
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
    if name == "tps":
        # busy_ns is summed over clients, so a client's own rate is what the division gives.
        return clients * 1e9 * arm.transactions / arm.busy_ns if arm.busy_ns else None
    assert name == "server_cpu_us_per_txn", f"no rule for metric: {name}"
    return _cpu_us_per_transaction([s for s in record.slices if s.arm == arm.arm])


def _cpu_us_per_transaction(slices: list[SliceRecord]) -> float | None:
    # The processor time covers the whole slice, so what was discarded or failed is divided by as well.
    executed = sum(s.transactions + s.failed + s.discarded for s in slices)
    return sum(s.server_cpu_ns for s in slices) / executed / 1e3 if executed else None


def _usable(value: float | None) -> bool:
    return value is not None and math.isfinite(value) and value > 0
