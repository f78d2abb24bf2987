"""Rounds that depend on the one before are alike; independent ones are not, however few."""

import numpy as np
import pytest

from pgverdict.judge.estimate import FloatArray
from pgverdict.judge.neighbours import Likeness, likeness

from .simulated import START_EFFECT, autocorrelated, normal, planned_orders


def _found(noise: FloatArray, *, seed: int = 1, lengths: tuple[int, ...] = ()) -> Likeness:
    orders = planned_orders(noise.size, seed)
    found = likeness(0.02 + noise + START_EFFECT * orders[:, 0], orders, lengths=lengths)
    assert found is not None
    return found


@pytest.mark.parametrize("r1", [0.0, 0.3])
def test_dependence_from_round_to_round_is_seen(r1: float) -> None:
    found = _found(autocorrelated(np.random.default_rng(2), 1, 1000, r1=r1)[0])

    assert found.correlation == pytest.approx(r1, abs=4 * found.sd)


def test_few_independent_rounds_scatter_about_no_likeness_as_much_as_is_said() -> None:
    """The correlation of residuals as such would be -0.04 on average here."""
    found = [_found(one, seed=i % 20) for i, one in enumerate(normal(np.random.default_rng(3), 2000, 16))]

    told = np.array([one.correlation / one.sd for one in found])
    assert told.mean() == pytest.approx(0, abs=0.08)
    assert told.std() == pytest.approx(1, abs=0.06)
    assert np.mean([one.p <= 0.1 for one in found]) == pytest.approx(0.1, abs=0.025)


def test_the_last_round_of_a_run_and_the_first_of_the_next_are_no_neighbours() -> None:
    """A step between two runs, of a size that the noise does not have: seen from within, rounds are alike by it."""
    blocks = np.array([1.0, 1.0, -1.0, -1.0] * 50) + 0.01 * normal(np.random.default_rng(4), 1, 200)[0]

    pairs = _found(blocks, lengths=(2,) * 100)
    assert pairs.correlation == pytest.approx(0.5, abs=0.05)
    across = _found(blocks, lengths=(1, *(2,) * 99, 1))
    assert across.correlation == pytest.approx(-0.5, abs=0.05)
    assert abs(_found(blocks).correlation) < 0.1


def test_too_few_rounds_and_such_that_do_not_scatter_say_nothing() -> None:
    assert likeness(np.arange(6.0), planned_orders(6, 1)) is None
    assert likeness(np.zeros(16), planned_orders(16, 1)) is None
    assert likeness(np.arange(16.0), planned_orders(16, 1), lengths=(1,) * 16) is None
