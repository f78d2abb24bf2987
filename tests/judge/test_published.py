"""Whether our interval agrees with a published ratio."""

import math

import pytest

from pgverdict.judge.published import Agreement, agreement


@pytest.mark.parametrize(
    ("published", "ours", "said"),
    [
        ((1.06, 1.06), (1.04, 1.09), Agreement.AGREES),
        ((1.06, 1.06), (0.99, 1.09), Agreement.ALLOWS),
        ((0.998, 0.998), (0.995, 1.004), Agreement.AGREES),
        ((1.0, 1.0), (0.9, 1.1), Agreement.ALLOWS),
        ((1.20, 1.20), (1.02, 1.05), Agreement.SAME_SIDE),
        ((1.01, 1.01), (1.02, 1.05), Agreement.SAME_SIDE),
        ((0.98, 0.98), (0.80, 0.85), Agreement.SAME_SIDE),
        ((1.20, 1.20), (0.99, 1.03), Agreement.SMALLER),
        ((1.20, 1.20), (0.90, 0.95), Agreement.CONTRADICTS),
        ((0.90, 0.90), (1.02, 1.05), Agreement.CONTRADICTS),
        ((1.06, 1.06), (0.0, math.inf), Agreement.CANNOT_TELL),
    ],
)
def test_a_published_ratio_lies_in_our_interval_or_on_some_side_of_it(
    published: tuple[float, float], ours: tuple[float, float], said: Agreement
) -> None:
    assert agreement(published, ours, 0.01) is said


def test_a_published_ratio_is_held_if_any_that_is_printed_so_is() -> None:
    assert agreement((1.018, 1.054), (1.05, 1.08), 0.01) is Agreement.AGREES
    assert agreement((1.018, 1.049), (1.05, 1.08), 0.01) is Agreement.SAME_SIDE


def test_a_published_no_change_within_its_rounding_is_contradicted_by_a_change() -> None:
    assert agreement((0.98, 1.02), (1.05, 1.08), 0.01) is Agreement.CONTRADICTS
