"""Rounds made by hand: every figure the test does not care about is filled in."""

import dataclasses
from collections.abc import Sequence

from pgverdict.plan.rounds import RoundPlan, arrange
from pgverdict.records.round import (
    ArmRecord,
    Latency,
    RoundRecord,
    RoundState,
    SliceRecord,
    StatementRecord,
)
from pgverdict.records.run import CellRecord
from pgverdict.spec.arms import make_arms
from pgverdict.spec.campaign import Campaign, CellSpec

SPEC = CellSpec("select-only", 10, 1)
PAIRS = 12


def latency(
    p50_us: float,
    *,
    mean_us: float | None = None,
    sd_us: float = 1.0,
    p95_us: float = 30.0,
    p99_us: float = 40.0,
) -> Latency:
    mean = p50_us if mean_us is None else mean_us
    return Latency(1e3, mean * 1e3, sd_us * 1e3, p50_us * 1e3, p95_us * 1e3, p99_us * 1e3, 1e6)


def a_slice(pair: int, arm: int, p50_us: float, *, transactions: int = 100, **changes: object) -> SliceRecord:
    made = SliceRecord(
        pair=pair,
        position=arm,
        arm=arm,
        begun_at_ns=0,
        ended_at_ns=1,
        transactions=transactions,
        failed=0,
        discarded=0,
        busy_ns=round(transactions * p50_us * 1e3),
        rate_hz=1e6 / p50_us,
        latency=latency(p50_us),
        server_cpu_ns=transactions * 10_000,
        engine_cpu_ns=0,
        engine_run_delay_ns=0,
        begin_late_ns_max=0,
        drain_ns_max=0,
    )
    return dataclasses.replace(made, **changes)  # type: ignore[arg-type]


def an_arm(
    arm: int,
    totals: Latency,
    *,
    transactions: int = 1000,
    busy_ns: int = 20_000_000,
    statements: Sequence[StatementRecord] = (),
) -> ArmRecord:
    return ArmRecord(
        arm=arm,
        server_version="17.7",
        transactions=transactions,
        failed=0,
        busy_ns=busy_ns,
        latency=totals,
        histogram="",
        statements=tuple(statements),
        start_ms=100.0,
        data_bytes=1,
        buffers_read=0,
        storage_read_bytes=0,
    )


def a_statement(text: str, mean: float | None, stddev: float | None) -> StatementRecord:
    return StatementRecord(text, 1000, 2e4, 1e3, "", None if mean is None else 1000, mean, stddev)


def a_round(
    plan: RoundPlan,
    *,
    slices: Sequence[SliceRecord] = (),
    arms: Sequence[ArmRecord] = (),
    state: RoundState = RoundState.MEASURED,
) -> RoundRecord:
    return RoundRecord(plan, state, "2026-11-21T12:00:00Z", 3.0, tuple(slices), tuple(arms))


def rounds_of(
    log_ratios: Sequence[float], *, base_us: float = 20.0, seed: int = 1
) -> tuple[RoundRecord, ...]:
    """Planned rounds in which everything that is a time per transaction has the given log ratio."""
    return tuple(
        round_of(arrange(SPEC.key, seed=seed, ordinal=i, pairs=PAIRS), log_ratio, base_us=base_us)
        for i, log_ratio in enumerate(log_ratios)
    )


def round_of(plan: RoundPlan, log_ratio: float, *, base_us: float = 20.0) -> RoundRecord:
    times = (base_us, base_us * float(2.718281828459045**log_ratio))
    return a_round(
        plan,
        slices=[
            a_slice(pair, arm, times[arm], server_cpu_ns=round(1e6 * times[arm]))
            for pair in (0, 1)
            for arm in (0, 1)
        ],
        arms=[
            an_arm(
                arm,
                latency(us, sd_us=us / 4, p95_us=2 * us, p99_us=3 * us),
                busy_ns=round(us * 1e6),
                statements=[a_statement("SELECT 1", us / 1e3, us / 1e4)],
            )
            for arm, us in enumerate(times)
        ],
    )


def a_cell(
    rounds: Sequence[RoundRecord], *, primary: str = "latency_us_p50", spec: CellSpec = SPEC
) -> CellRecord:
    return CellRecord(spec, primary, "read-only", tuple(rounds))


def a_campaign(
    *,
    cells: Sequence[CellSpec] = (SPEC,),
    rounds: int | None = None,
    confidence: float = 0.99,
    margin: float = 0.01,
) -> Campaign:
    return Campaign(
        make_arms(("17", "18")), tuple(cells), margin=margin, confidence=confidence, rounds=rounds
    )
