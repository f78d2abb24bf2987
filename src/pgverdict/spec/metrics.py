"""The metrics there are: what each measures, in which unit, and which direction is better.

A metric is looked up by name everywhere; nobody else decides whether more is better.
"""

from dataclasses import dataclass
from enum import Enum

from pgverdict.errors import unknown_word


class Better(Enum):
    """The direction in which a metric improves."""

    LOWER = "lower"
    HIGHER = "higher"


class Subject(Enum):
    """What a metric is measured on."""

    CELL = "cell"
    STATEMENT = "statement"
    KIND = "kind"
    STEP = "step"


@dataclass(frozen=True)
class Metric:
    """A thing measured. `meaning` is the sentence reports and the glossary show.

    A typical metric says what most slices, and most rounds, see: rounds far out are pulled in (`judge.pulling`).
    """

    name: str
    unit: str
    better: Better
    subject: Subject
    meaning: str
    typical: bool = False


OF_STREAMS = "latency_us_geomean"
"""The metric that decides a stream, and that nothing else has."""

METRICS: dict[str, Metric] = {
    metric.name: metric
    for metric in (
        Metric("tps", "1/s", Better.HIGHER, Subject.CELL,
               "transactions per second of busy time, all clients"),
        Metric("tps_p50", "1/s", Better.HIGHER, Subject.CELL,
               "typical throughput: the median over slices; blind to rare stalls", typical=True),
        Metric("latency_us_mean", "us", Better.LOWER, Subject.CELL,
               "mean time of a transaction; sees stalls"),
        Metric("latency_us_p50", "us", Better.LOWER, Subject.CELL,
               "typical time of a transaction: the median", typical=True),
        Metric("latency_us_p95", "us", Better.LOWER, Subject.CELL,
               "95th percentile of the time of a transaction, over a round"),
        Metric("latency_us_p99", "us", Better.LOWER, Subject.CELL,
               "99th percentile of the time of a transaction, over a round"),
        Metric("latency_us_stddev", "us", Better.LOWER, Subject.CELL,
               "standard deviation of the time of a transaction, over a round; sees stalls"),
        Metric(OF_STREAMS, "us", Better.LOWER, Subject.CELL,
               "geometric mean of the mean times of each kind of transaction, of the queries of a stream"),
        Metric("server_cpu_us_per_txn", "us", Better.LOWER, Subject.CELL,
               "processor time of all server processes per transaction"),
        Metric("step_rate_geomean", "1/s", Better.HIGHER, Subject.CELL,
               "geometric mean of the throughput of a chain's steps"),
        Metric("step_rate", "1/s", Better.HIGHER, Subject.STEP,
               "throughput of a step: rows inserted, rows indexed or queries per second, from its begin to its end"),
        Metric("step_us_p50", "us", Better.LOWER, Subject.STEP,
               "median time of the step's statements: inserts, making an index, or queries"),
        Metric("step_us_p95", "us", Better.LOWER, Subject.STEP,
               "95th percentile of the time of the step's statements"),
        Metric("step_us_p99", "us", Better.LOWER, Subject.STEP,
               "99th percentile of the time of the step's statements"),
        Metric("step_cpu_us", "us", Better.LOWER, Subject.STEP,
               "processor time of all server processes per row or query of the step"),
        Metric("step_switches", "", Better.LOWER, Subject.STEP,
               "how often server processes gave up or lost their processor, per row or query of the step"),
        Metric("step_read_bytes", "bytes", Better.LOWER, Subject.STEP,
               "read from storage by the server, per row or query of the step"),
        Metric("step_written_bytes", "bytes", Better.LOWER, Subject.STEP,
               "written for storage by the server, per row or query of the step"),
        Metric("step_wal_bytes", "bytes", Better.LOWER, Subject.STEP,
               "WAL written, per row or query of the step"),
        Metric("kind_us_p50", "us", Better.LOWER, Subject.KIND,
               "median time of a transaction of this kind, over a round"),
        Metric("kind_us_p99", "us", Better.LOWER, Subject.KIND,
               "99th percentile of the time of a transaction of this kind, over a round"),
        Metric("server_ms_mean", "ms", Better.LOWER, Subject.STATEMENT,
               "mean execution time inside the server (pg_stat_statements)"),
        Metric("server_ms_stddev", "ms", Better.LOWER, Subject.STATEMENT,
               "standard deviation of the execution time inside the server (pg_stat_statements)"),
    )
}  # fmt: skip


def metric(name: str) -> Metric:
    """The metric of that name; UserError if there is none."""
    try:
        return METRICS[name]
    except KeyError:
        raise unknown_word("metric", name, METRICS) from None
