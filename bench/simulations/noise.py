"""What a round's log ratio may scatter like: noise of known kind, for simulated campaigns.

A noise is a function (random, shape) -> array; the last axis of `shape` runs over rounds, the one before, where
there is one, over the cells of a campaign, which may share noise. All have mean 0 (over a campaign, where they
drift) and about standard deviation ROUND_SD, that of real rounds (METHODOLOGY.md#noise).
"""

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
Noise = Callable[[np.random.Generator, tuple[int, ...]], FloatArray]

ROUND_SD = 0.0087


def normal(random: np.random.Generator, shape: tuple[int, ...]) -> FloatArray:
    """Independent, normal."""
    return np.asarray(ROUND_SD * random.standard_normal(shape))


def autocorrelated(random: np.random.Generator, shape: tuple[int, ...], *, r1: float) -> FloatArray:
    """AR(1): every round inherits r1 of the one before."""
    noise = random.standard_normal(shape)
    for i in range(1, shape[-1]):
        noise[..., i] = r1 * noise[..., i - 1] + np.sqrt(1 - r1**2) * noise[..., i]
    return np.asarray(ROUND_SD * noise)


def shared(random: np.random.Generator, shape: tuple[int, ...], *, correlation: float = 0.5) -> FloatArray:
    """Normal, independent from round to round; cells of a campaign are correlated, as candidates of one cell are."""
    common = random.standard_normal((*shape[:-2], 1, shape[-1]))
    own = random.standard_normal(shape)
    return np.asarray(ROUND_SD * (np.sqrt(correlation) * common + np.sqrt(1 - correlation) * own))


def linear_drift(random: np.random.Generator, shape: tuple[int, ...]) -> FloatArray:
    """The log ratio itself drifts by one standard deviation in 50 rounds, alike in all cells, up or down."""
    sign = random.choice([-1.0, 1.0], (*shape[:-2], 1, 1))
    return normal(random, shape) + ROUND_SD * sign * (np.arange(shape[-1]) / 50 - 0.5)


def slow_wave(random: np.random.Generator, shape: tuple[int, ...]) -> FloatArray:
    """A sinus of 20 rounds with an amplitude of half a standard deviation, alike in all cells."""
    phase = random.uniform(0, 2 * np.pi, (*shape[:-2], 1, 1))
    wave = np.sin(2 * np.pi * np.arange(shape[-1]) / 20 + phase)
    return normal(random, shape) + ROUND_SD * 0.5 * wave


def heavy_tailed(random: np.random.Generator, shape: tuple[int, ...]) -> FloatArray:
    """Student's t with 3 degrees of freedom."""
    return np.asarray(ROUND_SD / np.sqrt(3.0) * random.standard_t(3, shape))


def skewed(random: np.random.Generator, shape: tuple[int, ...]) -> FloatArray:
    """To one side, exponential."""
    return np.asarray(ROUND_SD * (random.standard_exponential(shape) - 1))


def lognormal(random: np.random.Generator, shape: tuple[int, ...], *, s: float = 0.5) -> FloatArray:
    """To one side, with a longer tail: exp of a normal with standard deviation s."""
    mean, sd = np.exp(s**2 / 2), np.exp(s**2 / 2) * np.sqrt(np.expm1(s**2))
    return np.asarray(ROUND_SD * (np.exp(s * random.standard_normal(shape)) - mean) / sd)


def lognormal_arms(random: np.random.Generator, shape: tuple[int, ...], *, s: float = 1.0) -> FloatArray:
    """Both arms have such a tail, alike: what equal servers on exchangeable data can show."""
    return np.asarray((lognormal(random, shape, s=s) - lognormal(random, shape, s=s)) / np.sqrt(2.0))


def bimodal(random: np.random.Generator, shape: tuple[int, ...]) -> FloatArray:
    """A start lands in one of two modes 1.6 standard deviations apart, equally often."""
    modes = 0.8 * random.choice([-1.0, 1.0], shape)
    return np.asarray(ROUND_SD * (modes + 0.6 * random.standard_normal(shape)))


def rare_mode(random: np.random.Generator, shape: tuple[int, ...]) -> FloatArray:
    """One start in ten lands in a mode 3 standard deviations further up: skewed as well."""
    far = (random.random(shape) < 0.1) - 0.1
    return np.asarray(ROUND_SD * (3 * far + random.standard_normal(shape)) / np.sqrt(1 + 9 * 0.09))


def outliers(random: np.random.Generator, shape: tuple[int, ...]) -> FloatArray:
    """One round in twenty scatters ten times as far, to either side (the sd counts them)."""
    scale = np.where(random.random(shape) < 0.05, 10.0, 1.0)
    return np.asarray(ROUND_SD * scale * random.standard_normal(shape) / np.sqrt(0.95 + 0.05 * 100))


def growing(random: np.random.Generator, shape: tuple[int, ...]) -> FloatArray:
    """The host becomes noisier: three times the scatter at the end."""
    return np.asarray(normal(random, shape) * np.linspace(0.5, 1.5, shape[-1]))


NOISES: dict[str, Noise] = {
    "normal": normal,
    "cells correlated 0.5": shared,
    "AR(1) 0.1": partial(autocorrelated, r1=0.1),
    "AR(1) 0.3": partial(autocorrelated, r1=0.3),
    "linear drift": linear_drift,
    "slow wave": slow_wave,
    "growing": growing,
    "t3": heavy_tailed,
    "lognormal, arms alike": lognormal_arms,
    "lognormal, one-sided": lognormal,
    "exponential, one-sided": skewed,
    "bimodal": bimodal,
    "rare mode": rare_mode,
    "outliers": outliers,
}
