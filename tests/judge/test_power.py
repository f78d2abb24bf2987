"""How many rounds a verdict takes: the table of METHODOLOGY.md#power, held here."""

import numpy as np
import pytest

from pgverdict.judge.estimate import FloatArray

from .simulated import NEVER, ROUND_SD, START_EFFECT, decided_after, fewest, simulate

PRIMARY_ALPHA = 0.01
"""One cell at the default confidence of 99 %."""

SERIES = 2000


def decided(effect: float, sd: float = ROUND_SD, *, rounds: int = 100) -> tuple[FloatArray, FloatArray]:
    def noise(random: np.random.Generator, series: int, rounds: int) -> FloatArray:
        return sd * random.standard_normal((series, rounds))

    many = simulate(noise, effect=effect, start_effect=START_EFFECT, series=SERIES, rounds=rounds)
    return decided_after(many, alpha=PRIMARY_ALPHA)


@pytest.mark.parametrize(
    ("effect", "sd", "median", "ninth"),
    [
        (0.005, 0.0087, 41, 76),
        (0.01, 0.007, 13, 18),
        (0.01, 0.0087, 16, 24),
        (0.01, 0.011, 21, 34),
        (0.02, 0.0087, 10, 12),
        (0.05, 0.0087, 9, 9),
    ],
)
def test_a_difference_is_found_in_so_many_rounds(effect: float, sd: float, median: int, ninth: int) -> None:
    different, _ = decided(effect, sd, rounds=140)

    assert np.median(different) == pytest.approx(median, abs=1)
    assert np.quantile(different, 0.9) == pytest.approx(ninth, abs=3)


@pytest.mark.parametrize(("sd", "median", "ninth"), [(0.007, 15, 20), (0.0087, 19, 27), (0.011, 27, 39)])
def test_equal_servers_are_called_the_same_in_so_many_rounds(sd: float, median: int, ninth: int) -> None:
    _, same = decided(0.0, sd)

    assert np.median(same) == pytest.approx(median, abs=1)
    assert np.quantile(same, 0.9) == pytest.approx(ninth, abs=2)
    assert (same < NEVER).sum() >= fewest(SERIES, 0.999)


def test_nothing_is_decided_in_fewer_rounds_than_can_be_evidence_enough() -> None:
    different, same = decided(1.0)

    assert set(different.tolist()) == {9}
    assert (same == NEVER).all()
