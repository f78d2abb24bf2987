"""Cells as `judge.series` sees them, with a known truth: stationary, or with one thing that is wrong."""

import numpy as np

from pgverdict.judge.estimate import FloatArray
from pgverdict.judge.series import Series

from .simulated import ROUND_SD, START_EFFECT, Noise, normal, planned_orders

ARM_SD = ROUND_SD / np.sqrt(2.0)
TREND_SD = 0.004
STALLED_SHARE = 0.1


def a_series(
    random: np.random.Generator,
    rounds: int,
    *,
    noise: Noise = normal,
    plan: int = 0,
    host_sd: float = 0.01,
    candidate_scatter: float = 1.0,
    effect: FloatArray | float = 0.0,
    level: FloatArray | float = 0.0,
    trends: tuple[float, float] = (0.0, 0.0),
    stalled: tuple[float, float] = (STALLED_SHARE, STALLED_SHARE),
) -> Series:
    """Both arms share the host's luck; the rest of a round's scatter is their own, by `noise`."""
    orders = planned_orders(rounds, plan)
    own = noise(random, 2, rounds) * (ARM_SD / ROUND_SD)
    host = host_sd * random.standard_normal(rounds) + level
    log_ratios = effect + START_EFFECT * orders[:, 0] + candidate_scatter * own[1] - own[0]
    levels = np.array(
        [host + own[0], host + effect + START_EFFECT * orders[:, 0] + candidate_scatter * own[1]]
    )
    return Series(
        levels=levels,
        log_ratios=np.asarray(log_ratios),
        orders=orders,
        trends=np.array(trends)[:, None] + TREND_SD * random.standard_normal((2, rounds)),
        stalls=(random.random((2, rounds)) < np.array(stalled)[:, None]).astype(np.int64),
    )
