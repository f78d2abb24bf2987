"""Where things lie in the pictures."""

import dataclasses
import math

import pytest

from pgverdict.report.model import Report
from pgverdict.report.plot import Axis, forest, strip

from . import samples


def test_no_change_lies_in_the_middle_and_slower_to_the_right() -> None:
    axis = Axis(limit=1.1, margin=0.01)
    assert (axis.at(1 / 1.1), axis.at(1.0), axis.at(1.1)) == pytest.approx((0.0, 0.5, 1.0))


def test_what_lies_outside_is_at_the_edge() -> None:
    axis = Axis(limit=1.1, margin=0.01)
    assert (axis.at(0.0), axis.at(0.2), axis.at(5.0), axis.at(math.inf)) == (0.0, 0.0, 1.0, 1.0)


@pytest.mark.parametrize(
    ("limit", "changes"),
    [
        (1.021, [-2, -1, 0, 1, 2]),
        (1.06, [-5, 0, 5]),
        (1.3, [-20, 0, 20]),
        (1.0035, [-0.2, 0, 0.2]),
        (9.0, [-500, 0, 500]),
        (100.0, [-5000, 0, 5000]),
    ],
)
def test_ticks_are_round_numbers(limit: float, changes: list[float]) -> None:
    assert [tick.change for tick in Axis(limit, 0.01).ticks(2)] == changes


def test_less_throughput_and_more_latency_lie_on_the_same_side(report: Report) -> None:
    typical, throughput, *_ = forest(report.cells[0]).rows
    assert typical.at > 0.5
    assert throughput.at > 0.5
    assert throughput.low < throughput.at < throughput.high


def test_the_primary_metric_and_the_margin_are_in_full_view(report: Report) -> None:
    for cell in report.cells:
        drawn = forest(cell)
        assert not drawn.rows[0].beyond_low
        assert not drawn.rows[0].beyond_high
        assert 0 < drawn.axis.band[0] < 0.5 < drawn.axis.band[1] < 1


def test_an_interval_that_goes_on_outside_says_so(report: Report) -> None:
    tail = forest(report.cells[1]).rows[4]
    assert (tail.beyond_low, tail.beyond_high) == (True, True)


def test_what_is_not_known_is_not_drawn(report: Report) -> None:
    assert not forest(report.cells[1]).rows[-1].known


def test_every_round_is_in_full_view_and_a_failed_one_has_no_height(report: Report) -> None:
    drawn = strip(report.cells[1])
    assert [dot.y is None for dot in drawn.dots] == [number == 4 for number in range(13)]
    assert all(0 < dot.y < 1 for dot in drawn.dots if dot.y is not None)


def test_slower_is_up(report: Report) -> None:
    for cell in report.cells:
        drawn = strip(cell)
        assert drawn.estimate is not None
        assert drawn.estimate < 0.5


def test_pictures_of_nothing_can_be_drawn(report: Report) -> None:
    unknown = dataclasses.replace(samples.READ_ONLY_VERDICTS[0], effect=math.nan, low=0.0, high=math.inf)
    cell = dataclasses.replace(report.cells[0], verdicts=(unknown,), round_effects=())
    assert not forest(cell).rows[0].known
    assert (strip(cell).dots, strip(cell).interval, strip(cell).estimate) == ((), None, None)


def test_limits_without_measure_do_not_stretch_the_axis(report: Report) -> None:
    wild = dataclasses.replace(report.cells[0].verdicts[0], low=1e-300, high=1e300)
    cell = dataclasses.replace(report.cells[0], verdicts=(wild,))
    drawn = forest(cell)
    assert drawn.axis.limit == pytest.approx(100)
    assert strip(cell).axis.limit == pytest.approx(100)
    assert len(drawn.axis.ticks(2)) == 3
    assert (drawn.rows[0].beyond_low, drawn.rows[0].beyond_high) == (True, True)
