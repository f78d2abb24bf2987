"""Repetitions made by hand, on planned orders; every figure the test does not care about is filled in."""

import dataclasses
import math
from collections.abc import Sequence

import numpy as np

from bench.verdicts.recorded import Cell, Repetition, Round, SliceFigures
from pgverdict.judge.estimate import FloatArray
from pgverdict.plan.rounds import arrange

METRIC = "latency_us_p50"

CELL = Cell(
    key="select-only scale=10 clients=1",
    primary=METRIC,
    threads=1,
    load_pools=(0, 1),
    install_pools=(0, 1),
    alpha=0.005,
    outcome="SLOWER",
    effect=1.02,
    low=1.01,
    high=1.03,
)


def rounds_of(
    ratios: Sequence[float] | FloatArray,
    *,
    seed: int = 1,
    spun_us: float | None = None,
    base_us: float = 20.0,
    metrics: Sequence[str] = (METRIC, "latency_us_mean"),
) -> tuple[Round, ...]:
    made = []
    for ordinal, ratio in enumerate(ratios):
        plan = arrange(CELL.key, seed=seed, ordinal=ordinal)
        values = (base_us, base_us * math.exp(ratio), float(ratio))
        made.append(
            Round(
                cell=0,
                ordinal=ordinal,
                state="measured",
                seconds=2.5,
                start_order=plan.start_order,
                connect_order=plan.connect_order,
                slots=plan.slots,
                loads=plan.loads,
                installs=plan.installs,
                values=dict.fromkeys(metrics, values),
                spun_us=None if spun_us is None else (0.0, spun_us),
                messages=1.0,
            )
        )
    return tuple(made)


def repetition(rounds: Sequence[Round] = (), *, cell: Cell = CELL, **changes: object) -> Repetition:
    made = Repetition(
        line="typical-2",
        begun="2026-11-21T12:00:00.000+00:00",
        revision="0123456789ab",
        command="pgverdict compare 17.7 17.7",
        host={"processor": "a processor", "cores": "2", "memory_bytes": str(2**33), "system": "Linux 6"},
        servers=("17.7", "17.7"),
        engine="0.1.0",
        seed=7,
        margin=0.005,
        confidence=0.99,
        budget_s=180.0,
        fixed_rounds=None,
        injected=0.02,
        handicap_ns=400,
        seconds=2.5 * len(rounds),
        failure=None,
        cells=(cell,),
        rounds=tuple(rounds),
    )
    return dataclasses.replace(made, **changes)  # type: ignore[arg-type]


def ended(outcome: str, seconds: float) -> Repetition:
    return repetition(cell=dataclasses.replace(CELL, outcome=outcome), seconds=seconds)


def normal(count: int, sd: float = 0.008, *, seed: int = 1) -> FloatArray:
    return sd * np.random.default_rng(seed).standard_normal(count)


def slices_of(us: Sequence[tuple[float, float]], *, longest_us: float = 100.0) -> tuple[SliceFigures, ...]:
    """A pair per entry, of slices of a thousand transactions whose median and mean are these."""
    return tuple(
        SliceFigures(pair, arm, 1000, 1000 * one, one, 2 * one, longest_us)
        for pair, both in enumerate(us)
        for arm, one in enumerate(both)
    )
