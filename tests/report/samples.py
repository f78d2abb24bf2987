"""A run as it might be: two cells, one decided and one not. Rounds are drawn around the verdicts, not judged."""

import base64
import dataclasses
import math
import random

from pgverdict.judge.verdict import WHOLE_CELL, Outcome, Verdict
from pgverdict.plan.rounds import RoundPlan, arrange
from pgverdict.records.round import (
    ArmRecord,
    Latency,
    RoundRecord,
    RoundState,
    SliceRecord,
    StatementRecord,
)
from pgverdict.records.run import ArmFacts, CellRecord, RunRecord, RunState
from pgverdict.report.model import Report, make_report
from pgverdict.spec.arms import Arm, Role
from pgverdict.spec.campaign import Campaign, CellSpec

SELECT = "SELECT abalance FROM pgbench_accounts WHERE aid = $1"
UPDATE = "UPDATE pgbench_accounts SET abalance = abalance + $1 WHERE aid = $2"
INSERT = "INSERT INTO pgbench_history (tid, bid, aid, delta, mtime)\n    VALUES ($1, $2, $3, $4, CURRENT_TIMESTAMP)"

READ_ONLY = CellSpec("select-only", 10, 1)
FRESH = CellSpec("simple-update", 10, 1)

CAMPAIGN = Campaign(
    arms=(
        Arm("17", Role.BASELINE, "17", (("shared_buffers", "512MB"),)),
        Arm("18", Role.CANDIDATE, "18", (("shared_buffers", "512MB"), ("io_method", "sync"))),
    ),
    cells=(READ_ONLY, FRESH),
    seed=20_261_121,
)

CFLAGS = "-Wall -Wmissing-prototypes -Wpointer-arith -fno-strict-aliasing -fwrapv -Os"

ARMS = (
    ArmFacts(
        name="17",
        role=Role.BASELINE,
        server="17",
        version="17.7",
        build=(
            ("compiler", "gcc (Debian 4.9.2-10+deb8u2) 4.9.2"),
            ("configure", "'--with-icu' '--with-openssl' '--with-uuid=e2fs'"),
            ("cflags", CFLAGS),
            ("version", "PostgreSQL 17.7 on x86_64-pc-linux-gnu, compiled by gcc 4.9.2, 64-bit"),
            ("block_size", "8192"),
            ("data_checksums", "off"),
        ),
        settings=(("autovacuum", "off"), ("shared_buffers", "512MB")),
        notes=("pg_stat_statements: not in this build, so statements have no times inside the server",),
    ),
    ArmFacts(
        name="18",
        role=Role.CANDIDATE,
        server="18",
        version="18.1",
        build=(
            ("compiler", "gcc (Ubuntu 7.5.0-3ubuntu1~18.04) 7.5.0"),
            ("configure", "'--with-icu' '--with-openssl' '--with-uuid=e2fs'"),
            ("cflags", CFLAGS),
            ("version", "PostgreSQL 18.1 on x86_64-pc-linux-gnu, compiled by gcc 7.5.0, 64-bit"),
            ("block_size", "8192"),
            ("data_checksums", "on"),
        ),
        settings=(("autovacuum", "off"), ("io_method", "sync"), ("shared_buffers", "512MB")),
    ),
)

HOST = (
    ("cpu", "AMD EPYC 7763 64-Core Processor"),
    ("cores", "2"),
    ("memory", "24 GiB"),
    ("kernel", "Linux 6.1.0-28-amd64"),
    ("virtualisation", "kvm"),
)


def a_verdict(metric: str, values: tuple[float, float], effect: tuple[float, float, float], outcome: Outcome,
              **changes: object) -> Verdict:  # fmt: skip
    """The rest of it filled in; `effect` is (low, effect, high)."""
    made = Verdict(
        metric=metric,
        subject=WHOLE_CELL,
        baseline="17",
        candidate="18",
        baseline_value=values[0],
        candidate_value=values[1],
        effect=effect[1],
        low=effect[0],
        high=effect[2],
        confidence=0.99,
        margin=0.01,
        outcome=outcome,
        detectable=False,
        rounds=24,
        alpha=0.0025,
        e_value=1.5,
        round_sd=0.009,
        more_rounds=None,
    )
    return dataclasses.replace(made, **changes)  # type: ignore[arg-type]


SLOWER, FASTER, SAME, UNDECIDED = Outcome.SLOWER, Outcome.FASTER, Outcome.SAME, Outcome.UNDECIDED

READ_ONLY_VERDICTS = (
    a_verdict("latency_us_p50", (19.62, 20.03), (1.0163, 1.0209, 1.0255), SLOWER, e_value=88_431.0),
    a_verdict("tps", (50_318.2, 49_377.9), (0.9712, 0.9813, 0.9915), SLOWER, e_value=4_120.0),
    a_verdict("latency_us_mean", (19.87, 20.25), (1.0086, 1.0191, 1.0297), SLOWER, e_value=4_120.0),
    a_verdict("latency_us_p95", (22.84, 23.11), (0.9951, 1.0118, 1.0288), UNDECIDED, more_rounds=31),
    a_verdict("latency_us_p99", (27.11, 26.71), (0.9342, 0.9853, 1.0392), UNDECIDED, more_rounds=640),
    a_verdict("server_cpu_us_per_txn", (13.02, 13.04), (0.9944, 1.0016, 1.0089), SAME),
    a_verdict("server_ms_mean", (0.005120, 0.005284), (1.0208, 1.0320, 1.0434), SLOWER, subject=SELECT),
    a_verdict("server_ms_stddev", (0.00214, 0.00213), (0.9731, 0.9953, 1.0180), UNDECIDED, subject=SELECT,
              more_rounds=96),
)  # fmt: skip

FRESH_VERDICTS = (
    a_verdict("tps", (5_212.4, 5_173.1), (0.9838, 0.9925, 1.0012), UNDECIDED, rounds=12, more_rounds=20),
    a_verdict("latency_us_mean", (191.8, 193.3), (0.9941, 1.0076, 1.0213), UNDECIDED, rounds=12, more_rounds=41),
    a_verdict("latency_us_p50", (171.2, 172.2), (1.0014, 1.0056, 1.0098), SAME, rounds=12, detectable=True),
    a_verdict("latency_us_p95", (268.4, 271.3), (0.9823, 1.0108, 1.0401), UNDECIDED, rounds=12, more_rounds=77),
    a_verdict("latency_us_p99", (512.9, 530.8), (0.9377, 1.0349, 1.1422), UNDECIDED, rounds=12, more_rounds=310),
    a_verdict("server_cpu_us_per_txn", (98.4, 94.1), (0.9391, 0.9563, 0.9738), FASTER, rounds=12),
    a_verdict("server_ms_mean", (0.0412, 0.0415), (0.9902, 1.0073, 1.0247), UNDECIDED, subject=UPDATE, rounds=12,
              more_rounds=58),
    a_verdict("server_ms_mean", (0.0121, 0.0119), (math.nan,) * 3, UNDECIDED, subject=INSERT, rounds=3,
              low=0.0, high=math.inf),
)  # fmt: skip

VERDICTS = ((READ_ONLY_VERDICTS,), (FRESH_VERDICTS,))

_HISTOGRAM = base64.b64encode(bytes(range(48))).decode()


def a_measured_round(
    spec: CellSpec, ordinal: int, *, p50_us: float, log_effect: float, seconds: float
) -> RoundRecord:
    """A round whose candidate is slower by that much than its baseline."""
    plan = arrange(spec.key, seed=CAMPAIGN.seed, ordinal=ordinal, pairs=12)
    draw = random.Random(f"{spec.key}/{ordinal}")
    times_ns = (p50_us * 1e3, p50_us * 1e3 * math.exp(log_effect))
    return RoundRecord(
        plan=plan,
        state=RoundState.MEASURED,
        started=f"2026-11-21T10:{ordinal:02}:00.000+00:00",
        seconds=seconds + draw.uniform(-0.1, 0.1),
        slices=tuple(
            _slice(number, position, arm, times_ns[arm] * draw.gauss(1, 0.004))
            for number, pair in enumerate(plan.pairs)
            for position, arm in enumerate(pair.order)
        ),
        arms=tuple(_arm(spec, arm, times_ns[arm], draw) for arm in (0, 1)),
        placement=(
            ("threads", "1"),
            ("cpus", "1"),
            ("bound_duration_us", "50000"),
            ("discard_duration_us", "5000"),
        ),
    )


def _slice(pair: int, position: int, arm: int, time_ns: float) -> SliceRecord:
    transactions = round(45e6 / time_ns)
    return SliceRecord(
        pair, position, arm, 0, 50_000_000, transactions, 0, 200, 45_000_000, 1e9 / time_ns, _latency(time_ns),
        transactions * 13_000, 14_000_000, 0, 4000, 18_000,
    )  # fmt: skip


def _arm(spec: CellSpec, arm: int, time_ns: float, draw: random.Random) -> ArmRecord:
    transactions = round(12 * 45e6 / time_ns)
    texts = (SELECT,) if spec is READ_ONLY else (UPDATE, INSERT)
    return ArmRecord(
        arm=arm,
        server_version=ARMS[arm].version,
        transactions=transactions,
        failed=0,
        busy_ns=round(transactions * time_ns),
        latency=_latency(time_ns),
        histogram=_HISTOGRAM,
        statements=tuple(
            StatementRecord(
                text,
                transactions,
                time_ns,
                time_ns / 9,
                _HISTOGRAM,
                transactions,
                time_ns / 4e6,
                0.002,
                transactions,
                transactions * (4 + arm),
                0,
                None if arm == 0 else transactions * 150,
            )
            for text in texts
        ),
        start_ms=draw.uniform(118, 142),
        data_bytes=167_772_160 + arm * 212_992,
        buffers_read=0 if spec is READ_ONLY else 12,
        storage_read_bytes=0,
    )


def _latency(time_ns: float) -> Latency:
    return Latency(
        time_ns * 0.8, time_ns * 1.01, time_ns / 9, time_ns, time_ns * 1.16, time_ns * 1.4, time_ns * 9
    )


def a_failed_round(plan: RoundPlan) -> RoundRecord:
    return RoundRecord(
        plan,
        RoundState.FAILED,
        "2026-11-21T10:31:00.000+00:00",
        4.2,
        story="cannot start PostgreSQL 18.1: it did not accept connections within 30 s",
        blamed=1,
    )


def _rounds(
    spec: CellSpec, rounds: int, *, p50_us: float, effect: float, sd: float, seconds: float
) -> list[RoundRecord]:
    draw = random.Random(spec.key)
    # Balanced around the effect, so that the picture agrees with the verdict above it.
    noise = [draw.gauss(0, sd) for _ in range(rounds)]
    shift = sum(noise) / rounds
    return [
        a_measured_round(
            spec, n, p50_us=p50_us, log_effect=math.log(effect) + noise[n] - shift, seconds=seconds
        )
        for n in range(rounds)
    ]


def a_run() -> RunRecord:
    read_only = _rounds(READ_ONLY, 24, p50_us=19.62, effect=1.0209, sd=0.009, seconds=2.9)
    fresh = _rounds(FRESH, 12, p50_us=191.8, effect=1 / 0.9925, sd=0.010, seconds=8.6)
    fresh.insert(4, a_failed_round(fresh[4].plan))
    return RunRecord(
        id="2026-11-21-1002-3f9a",
        state=RunState.DONE,
        started="2026-11-21T10:02:11.482+00:00",
        seconds=178.4,
        campaign=CAMPAIGN,
        host=HOST,
        arms=ARMS,
        cells=(
            CellRecord(READ_ONLY, "latency_us_p50", "read-only", tuple(read_only)),
            CellRecord(FRESH, "tps", "fresh", tuple(fresh)),
        ),
    )


def a_report() -> Report:
    return make_report(a_run(), VERDICTS)
