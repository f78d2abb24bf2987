"""The engine's answers as values; how they look on the wire is engine/PROTOCOL.md's to say."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pgverdict.records.round import Latency

PROTOCOL = 1


@dataclass(frozen=True)
class Hello:
    """Who answered."""

    protocol: int
    version: str
    profile: str
    identity: str
    pid: int
    cpus: tuple[int, ...]


@dataclass(frozen=True)
class Statement:
    """A SQL statement of the scripts: as written, and as it was prepared."""

    script: str
    text: str
    prepared_text: str


@dataclass(frozen=True)
class Ready:
    """What clients will do: statements and kinds of transactions, in the order of their numbers.

    `event_loop`: how the engine's threads wait for their sockets, `epoll` or `io_uring`; of all arms alike.
    """

    event_loop: str
    statements: tuple[Statement, ...]
    kinds: tuple[str, ...]


@dataclass(frozen=True)
class Connected:
    """An arm's connections are open; `backend_pids[i]` serves client i."""

    backend_pids: tuple[int, ...]
    server_version: str


@dataclass(frozen=True)
class Seconds:
    """A slice second by second; of one kind of transactions, by its number, or of all (None)."""

    kind: int | None
    transactions: tuple[int, ...]
    mean_ns: tuple[float | None, ...]


@dataclass(frozen=True)
class SliceDone:
    """A slice ran. `latency` is None where nothing was counted."""

    begun_at_ns: int
    ended_at_ns: int
    transactions: int
    failed: int
    discarded: int
    busy_ns: int
    rate_hz: float
    latency: Latency | None
    engine_cpu_ns: int
    engine_run_delay_ns: int
    begin_late_ns_max: int
    drain_ns_max: int
    seconds: tuple[Seconds, ...] = ()
    """Of all transactions first, then of each kind; none where all ended within the first."""


@dataclass(frozen=True)
class StatementTotals:
    """One statement over an arm's kept slices, as the client saw it; mean and spread are NaN where it never ran."""

    statement: int
    count: int
    mean_ns: float
    sd_ns: float
    histogram: str


@dataclass(frozen=True)
class KindTotals:
    """One kind of transaction over an arm's kept slices. `latency` is None where none was counted."""

    kind: int
    count: int
    failed: int
    rolled_back: int
    retried: int
    latency: Latency | None
    histogram: str


@dataclass(frozen=True)
class Totals:
    """What an arm's kept slices add up to."""

    slices: int
    transactions: int
    failed: int
    busy_ns: int
    latency: Latency | None
    histogram: str
    statements: tuple[StatementTotals, ...]
    kinds: tuple[KindTotals, ...]


@dataclass(frozen=True)
class TableLoaded:
    """Rows sent for one COPY, and the digest of their bytes. `share`: its number and how many there are."""

    rows_of: str
    share: tuple[int, int]
    rows: int
    bytes: int
    sha256: str

    @property
    def name(self) -> str:
        """What was sent: 'pgbench_accounts', 'ycsb 2/4' for the second of four shares."""
        number, of = self.share
        return self.rows_of if of == 1 else f"{self.rows_of} {number + 1}/{of}"


def hello(message: Mapping[str, Any]) -> Hello:
    """From the engine's first line."""
    build = message["build"]
    return Hello(
        message["protocol"], message["version"], build["profile"], build["identity"],
        message["pid"], tuple(message["cpus"]),
    )  # fmt: skip


def ready(message: Mapping[str, Any]) -> Ready:
    """From `ready`."""
    return Ready(
        message["event_loop"],
        tuple(Statement(s["script"], s["text"], s["prepared_text"]) for s in message["statements"]),
        tuple(message["kinds"]),
    )


def connected(message: Mapping[str, Any]) -> Connected:
    """From `connected`."""
    return Connected(tuple(message["backend_pids"]), message["server_version"])


def slice_done(message: Mapping[str, Any]) -> SliceDone:
    """From `slice_done`."""
    engine = message["engine"]
    told = [(None, message["seconds"]), *((one["kind"], one["seconds"]) for one in message["kinds"])]
    return SliceDone(
        begun_at_ns=message["begun_at_ns"],
        ended_at_ns=message["ended_at_ns"],
        transactions=message["transactions"],
        failed=message["failed"],
        discarded=message["discarded"],
        busy_ns=message["busy_ns"],
        rate_hz=message["rate_hz"],
        latency=_latency(message["latency_ns"]),
        engine_cpu_ns=engine["cpu_ns"],
        engine_run_delay_ns=engine["run_delay_ns"],
        begin_late_ns_max=engine["begin_late_ns_max"],
        drain_ns_max=engine["drain_ns_max"],
        seconds=tuple(
            Seconds(kind, tuple(seconds["transactions"]), tuple(seconds["mean_ns"]))
            for kind, seconds in told
            if seconds is not None
        ),
    )


def totals(message: Mapping[str, Any]) -> Totals:
    """From `totals`."""
    return Totals(
        slices=message["slices"],
        transactions=message["transactions"],
        failed=message["failed"],
        busy_ns=message["busy_ns"],
        latency=_latency(message["latency_ns"]),
        histogram=message["histogram"],
        statements=tuple(
            StatementTotals(
                s["statement"], s["count"], _number(s["mean_ns"]), _number(s["sd_ns"]), s["histogram"]
            )
            for s in message["statements"]
        ),
        kinds=tuple(
            KindTotals(
                kind=k["kind"],
                count=k["count"],
                failed=k["failed"],
                rolled_back=k["rolled_back"],
                retried=k["retried"],
                latency=_latency(k["latency_ns"]),
                histogram=k["histogram"],
            )
            for k in message["kinds"]
        ),
    )


def tables_loaded(message: Mapping[str, Any]) -> tuple[TableLoaded, ...]:
    """From `loaded`."""
    return tuple(
        TableLoaded(
            t["rows_of"], (t["share"]["number"], t["share"]["of"]), t["rows"], t["bytes"], t["sha256"]
        )
        for t in message["tables"]
    )


def _number(figure: float | None) -> float:
    return math.nan if figure is None else figure


def _latency(figures: Mapping[str, float] | None) -> Latency | None:
    if figures is None:
        return None
    return Latency(
        min_ns=figures["min"], mean_ns=figures["mean"], sd_ns=figures["sd"], p50_ns=figures["p50"],
        p95_ns=figures["p95"], p99_ns=figures["p99"], max_ns=figures["max"],
    )  # fmt: skip
