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
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import geometric_mean, median

from pgverdict.judge.verdict import WHOLE_CELL
from pgverdict.records.round import ArmRecord, Latency, RoundRecord, SliceRecord, StatementRecord, StepRecord
from pgverdict.records.run import CellRecord
from pgverdict.spec.metrics import METRICS, OF_STREAMS, Subject, metric

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

    The metrics of the whole cell are always asked, those of a kind of transaction, of a statement and of a step if the
    first measured round has an answer: later rounds add no question, so a verdict that was shown keeps its share of
    alpha.
    """
    primary = Question(cell.primary)
    assert metric(cell.primary).subject is Subject.CELL, f"primary of a statement: {cell.primary}"
    parts = _questions_of_parts(cell, candidate)
    return (primary, *map(Question, metrics_beside(cell)), *parts)


def metrics_beside(cell: CellRecord) -> tuple[str, ...]:
    """The other metrics of the whole cell: none of a chain, whose steps have nothing in common; and the geometric mean
    over queries only of streams."""
    if cell.primary in _STEPS_TOTALS:
        return ()
    others = {cell.primary, *_STEPS_TOTALS}
    if not any(record.is_of_streams for record in cell.measured[:1]):
        others.add(OF_STREAMS)
    return tuple(name for name, m in METRICS.items() if m.subject is Subject.CELL and name not in others)


def _questions_of_parts(cell: CellRecord, candidate: int) -> list[Question]:
    """About kinds of transactions, statements and steps. A kind alone would be the whole cell once more."""
    if not cell.measured:
        return []
    first = cell.measured[0]
    kinds = {kind.name: None for arm in first.arms for kind in arm.kinds}  # a set in order
    texts = {s.text: None for arm in first.arms for s in arm.statements}
    asked = _asked(kinds, Subject.KIND) if len(kinds) > 1 else []
    asked += _asked(texts, Subject.STATEMENT)
    steps = {step.name: None for arm in first.arms for step in arm.steps if step.counts is not None}
    asked += _asked(steps, Subject.STEP)
    return [q for q in asked if values(first, q, clients=1, candidate=candidate) is not None]


def _asked(subjects: Iterable[str], of: Subject) -> list[Question]:
    names = [name for name, m in METRICS.items() if m.subject is of]
    return [Question(name, subject) for subject in subjects for name in names]


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
    OF_STREAMS: lambda arm: _mean_of_all([_mean_ns(kind.latency) for kind in arm.kinds]) / 1e3,
}

_STATEMENT_TOTALS: dict[str, Callable[[StatementRecord], float | None]] = {
    "server_ms_mean": lambda statement: statement.server_ms_mean,
    "server_ms_stddev": lambda statement: statement.server_ms_stddev,
}


_KIND_TOTALS: dict[str, Callable[[Latency], float]] = {
    "kind_us_p50": lambda latency: latency.p50_ns / 1e3,
    "kind_us_p99": lambda latency: latency.p99_ns / 1e3,
}


def _per_operation(amount: float, step: StepRecord) -> float:
    return amount / step.operations if step.operations else math.nan


def _step_latency(figure: Callable[[Latency], float]) -> Callable[[StepRecord], float]:
    return lambda step: math.nan if step.latency is None else figure(step.latency) / 1e3


STEP_TOTALS: dict[str, Callable[[StepRecord], float]] = {
    "step_rate": lambda step: step.operations / step.seconds if step.seconds > 0 else math.nan,
    "step_us_p50": _step_latency(lambda latency: latency.p50_ns),
    "step_us_p95": _step_latency(lambda latency: latency.p95_ns),
    "step_us_p99": _step_latency(lambda latency: latency.p99_ns),
    "step_cpu_us": lambda step: _per_operation(step.server_cpu_ns / 1e3, step),
    "step_switches": lambda step: _per_operation(step.switches, step),
    "step_read_bytes": lambda step: _per_operation(step.storage_read_bytes, step),
    "step_written_bytes": lambda step: _per_operation(step.storage_written_bytes, step),
    "step_wal_bytes": lambda step: _per_operation(step.wal_bytes, step),
}


_STEPS_TOTALS: dict[str, Callable[[ArmRecord], float]] = {
    "step_rate_geomean": lambda arm: _mean_of_all(
        [STEP_TOTALS["step_rate"](step) for step in arm.steps if step.counts is not None]
    )
}
"""Metrics of whole cells that are chains; the others cannot be told of these."""


def _total(record: RoundRecord, arm: ArmRecord, question: Question, clients: int) -> float | None:
    name = question.metric
    if name in _CELL_TOTALS:
        return _CELL_TOTALS[name](arm)
    if name in _STATEMENT_TOTALS:
        found = (s for s in arm.statements if s.text == question.subject)
        statement = next(found, None)
        return None if statement is None else _STATEMENT_TOTALS[name](statement)
    if name in _STEPS_TOTALS:
        return _STEPS_TOTALS[name](arm)
    if name in STEP_TOTALS:
        step = next((step for step in arm.steps if step.name == question.subject), None)
        return None if step is None else STEP_TOTALS[name](step)
    if name in _KIND_TOTALS:
        kind = next((kind for kind in arm.kinds if kind.name == question.subject), None)
        if kind is None or kind.latency is None or (kind.count == 1 and name == "kind_us_p99"):
            return None  # of one transaction all percentiles are the same number
        return _KIND_TOTALS[name](kind.latency)
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
    counted = [s.server_cpu_ns for s in slices if s.server_cpu_ns is not None]
    return sum(counted) / executed / 1e3 if executed and len(counted) == len(slices) else None


def _usable(value: float) -> bool:
    return math.isfinite(value) and value > 0


def _mean_of_all(values: Sequence[float]) -> float:
    """Geometric. NaN where there are none, or one is not usable: the mean of the others would be another mean."""
    return geometric_mean(values) if values and all(map(_usable, values)) else math.nan


def _mean_ns(latency: Latency | None) -> float:
    return latency.mean_ns if latency else math.nan
