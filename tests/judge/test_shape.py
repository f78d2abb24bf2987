"""What stands beside an interval: rarely a false finding, and the shapes that matter are found."""

import dataclasses
from collections import Counter

import numpy as np
import pytest

from pgverdict.judge import shape
from pgverdict.judge.series import Series
from pgverdict.judge.shape import Check, checks, findings

from .cells import a_series
from .simulated import ROUND_SD, Noise, autocorrelated, bimodal, fewest, growing, heavy_tailed, most, normal

CELLS = 1500
TRIED = 120


def found(made: Series, margin: float = 0.01) -> tuple[Check, ...]:
    return findings(checks(made, margin=margin))


def steady(made: Series, *, more_checkpoints: int = 0) -> Series:
    """The same of arms that did not take turns: three checkpoints and vacuums each, the candidate some more."""
    cycles = np.full((2, 2, made.rounds), 3)
    cycles[0, 1] += more_checkpoints
    return dataclasses.replace(
        made, trends=np.full_like(made.trends, np.nan), stalls=np.zeros_like(made.stalls), cycles=cycles
    )


@pytest.mark.parametrize("rounds", [8, 12, 13, 24, 48])
def test_a_stationary_cell_has_a_finding_in_one_of_a_hundred_at_most(rounds: int) -> None:
    random = np.random.default_rng(rounds)
    seen = [found(a_series(random, rounds, plan=i % 20)) for i in range(CELLS)]

    assert sum(map(bool, seen)) <= most(CELLS, shape.FALSE_FINDINGS), Counter(c.name for s in seen for c in s)


def test_heavy_tails_are_told_as_outliers_and_as_nothing_else() -> None:
    random = np.random.default_rng(7)
    seen = Counter(
        c.name for i in range(CELLS) for c in found(a_series(random, 24, noise=heavy_tailed, plan=i % 20))
    )

    others = sum(count for name, count in seen.items() if name != shape.OUTLIER)
    assert others <= most(CELLS, shape.FALSE_FINDINGS), seen


def power(name: str, subject: str, rounds: int, **changes: object) -> int:
    """In how many of TRIED cells it is found."""
    random = np.random.default_rng(11)
    made = (a_series(random, rounds, plan=i % 20, **changes) for i in range(TRIED))  # type: ignore[arg-type]
    return sum(any((c.name, c.subject) == (name, subject) for c in found(one)) for one in made)


def ramp(rounds: int, change: float) -> np.ndarray:
    return np.linspace(-change / 2, change / 2, rounds)


def test_an_effect_that_drifts_by_four_standard_deviations_is_found_in_24_rounds() -> None:
    found_in = power(shape.DRIFT, shape.EFFECT, 24, effect=ramp(24, 4 * ROUND_SD))

    assert found_in >= fewest(TRIED, 0.9)


def test_a_host_that_slows_by_5_percent_is_found_in_both_arms_and_in_no_effect() -> None:
    for subject in (shape.BASELINE_ARM, shape.CANDIDATE_ARM):
        assert power(shape.DRIFT, subject, 24, level=ramp(24, 0.05)) >= fewest(TRIED, 0.8)
    assert power(shape.DRIFT, shape.EFFECT, 24, level=ramp(24, 0.05)) <= most(TRIED, 0.001)


def test_dependence_that_would_spoil_the_error_rate_is_found_in_a_long_run() -> None:
    def dependent(random: np.random.Generator, series: int, rounds: int) -> np.ndarray:
        return autocorrelated(random, series, rounds, r1=0.5)

    assert power(shape.CORRELATION, shape.EFFECT, 100, noise=dependent) >= fewest(TRIED, 0.9)
    assert power(shape.CORRELATION, shape.EFFECT, 24, noise=dependent) >= fewest(TRIED, 0.1)


def test_the_correlation_of_dependent_rounds_is_told_with_its_interval() -> None:
    random = np.random.default_rng(5)
    told = []
    for i in range(200):
        made = a_series(random, 100, noise=lambda r, s, n: autocorrelated(r, s, n, r1=0.3), plan=i % 20)
        (one,) = [c for c in checks(made, margin=0.01) if c.name == shape.CORRELATION]
        assert one.low is not None
        assert one.high is not None
        told.append((one.strength, one.low <= 0.3 <= one.high))

    assert np.mean([strength for strength, _ in told]) == pytest.approx(0.3, abs=0.04)
    assert sum(inside for _, inside in told) >= fewest(200, 0.99)


def test_two_modes_six_standard_deviations_apart_are_found_in_100_rounds() -> None:
    def modes(random: np.random.Generator, series: int, rounds: int) -> np.ndarray:
        # One arm alone has them: its starts land in one of two modes.
        noise = np.zeros((series, rounds))
        noise[1] = ROUND_SD * (3.0 * random.choice([-1.0, 1.0], rounds) + random.standard_normal(rounds))
        return noise

    assert power(shape.MODES, shape.EFFECT, 100, noise=modes) >= fewest(TRIED, 0.8)


def test_two_modes_that_overlap_are_no_finding() -> None:
    assert power(shape.MODES, shape.EFFECT, 24, noise=bimodal) <= most(TRIED, 0.01)


def test_a_warm_up_of_one_arm_is_found_in_the_arm_and_in_the_effect() -> None:
    for subject in (shape.CANDIDATE_ARM, shape.EFFECT):
        assert power(shape.TREND, subject, 12, trends=(0.0, -0.02)) >= fewest(TRIED, 0.9)
    assert power(shape.TREND, shape.BASELINE_ARM, 12, trends=(0.0, -0.02)) <= most(TRIED, 0.001)


def test_a_trend_of_both_arms_within_the_margin_is_no_finding() -> None:
    assert power(shape.TREND, shape.BASELINE_ARM, 48, trends=(-0.008, -0.008)) == 0


def test_a_round_far_from_the_others_is_found_and_named() -> None:
    made = a_series(np.random.default_rng(3), 24)
    made.log_ratios[17] += 12 * ROUND_SD

    (outlier,) = [c for c in found(made) if c.name == shape.OUTLIER]
    assert outlier.at == 17


def test_stalls_of_one_arm_are_found_once_enough_rounds_were_hit() -> None:
    assert power(shape.STALLS, shape.EFFECT, 48, stalled=(0.02, 0.5)) >= fewest(TRIED, 0.9)


def test_stalls_are_compared_exactly() -> None:
    made = a_series(np.random.default_rng(3), 24, stalled=(0.0, 0.0))
    made.stalls[1, :11] = 2
    (stalls,) = [c for c in checks(made, margin=0.01) if c.name == shape.STALLS]

    assert [stalls.strength, stalls.p] == pytest.approx([11.0, 2 * 0.5**11])
    assert stalls.found


def test_rounds_in_which_one_arm_goes_through_more_are_found() -> None:
    made = steady(a_series(np.random.default_rng(3), 12), more_checkpoints=1)

    by_name = {(c.name, c.subject): c for c in checks(made, margin=0.01)}

    checkpoints = by_name[shape.CYCLES, shape.CHECKPOINTS]
    assert (checkpoints.strength, checkpoints.found) == (1.0, True)
    assert checkpoints.p == pytest.approx(2 * 0.5**12)
    assert not by_name[shape.CYCLES, shape.VACUUMS].found
    assert not {shape.TREND, shape.STALLS} & {name for name, _ in by_name}


@pytest.mark.parametrize("rounds", [8, 24])
def test_a_stationary_steady_cell_has_a_finding_in_one_of_a_hundred_at_most(rounds: int) -> None:
    random = np.random.default_rng(rounds)
    seen = []
    for i in range(CELLS):
        made = steady(a_series(random, rounds, plan=i % 20))
        made.cycles[:] = random.poisson(3.0, made.cycles.shape)
        seen.append(found(made))

    assert sum(map(bool, seen)) <= most(CELLS, shape.FALSE_FINDINGS), Counter(c.name for s in seen for c in s)


@pytest.mark.parametrize("noise", [normal, heavy_tailed, growing])
def test_nothing_is_said_with_fewer_rounds_than_a_verdict_takes(noise: Noise) -> None:
    assert checks(a_series(np.random.default_rng(1), 7, noise=noise), margin=0.01) == ()


def test_swapping_the_arms_swaps_what_is_found() -> None:
    made = a_series(np.random.default_rng(9), 24, level=ramp(24, 0.1), trends=(0.0, -0.05))
    swapped = Series(made.levels[::-1], -made.log_ratios, -made.orders, made.trends[::-1], made.stalls[::-1])
    names = {shape.EFFECT: shape.EFFECT, shape.BASELINE_ARM: shape.CANDIDATE_ARM}
    names |= {there: here for here, there in names.items()}

    mirrored = {(c.name, names[c.subject]): c for c in checks(swapped, margin=0.01)}

    for one in checks(made, margin=0.01):
        other = mirrored[one.name, one.subject]
        assert other.p == pytest.approx(one.p, abs=1e-12)
        assert other.found is one.found


def test_rounds_that_do_not_scatter_have_no_shape() -> None:
    made = a_series(np.random.default_rng(1), 12)
    still = Series(
        np.zeros_like(made.levels), np.zeros_like(made.log_ratios), made.orders, np.zeros_like(made.trends),
        np.zeros_like(made.stalls),
    )  # fmt: skip

    assert found(still) == ()
