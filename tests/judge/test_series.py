"""From records to the arrays that the checks of a cell's shape look at."""

import dataclasses
import math

import numpy as np
import pytest

from pgverdict.judge.series import series, stall_ns
from pgverdict.plan.rounds import arrange
from pgverdict.records.round import RoundRecord, TableRecord

from .made import a_cell, a_round, a_slice, an_arm, latency, rounds_of

PLAN = arrange("made", seed=1, ordinal=0)


def round_of_medians(baseline: list[float], candidate: list[float]) -> RoundRecord:
    slices = [
        a_slice(i, arm, us) for arm, all_ in enumerate((baseline, candidate)) for i, us in enumerate(all_)
    ]
    return a_round(PLAN, slices=slices, arms=[an_arm(arm, latency(20.0)) for arm in (0, 1)])


def stalled(record: RoundRecord, arm: int, max_ns: float) -> RoundRecord:
    slices = list(record.slices)
    place = next(i for i, s in enumerate(slices) if s.arm == arm)
    slices[place] = dataclasses.replace(
        slices[place], latency=dataclasses.replace(slices[place].latency, max_ns=max_ns)
    )
    return dataclasses.replace(record, slices=tuple(slices))


def test_levels_and_ratios_are_logs_of_the_primary_metric() -> None:
    found = series(a_cell(rounds_of([0.01, -0.02])))

    assert found.levels == pytest.approx(np.log([[20.0, 20.0], [20 * math.exp(0.01), 20 * math.exp(-0.02)]]))
    assert found.log_ratios == pytest.approx([0.01, -0.02])
    assert found.orders.shape == (2, 3)


def test_a_trend_is_the_change_over_the_pairs_of_a_round() -> None:
    found = series(a_cell([round_of_medians([20.0] * 5, [20 * math.exp(-0.01 * i) for i in range(5)])]))

    assert found.trends[:, 0] == pytest.approx([0.0, -0.04])


def test_two_slices_are_no_trend() -> None:
    assert np.isnan(series(a_cell([round_of_medians([20.0, 21.0], [20.0, 21.0])])).trends).all()


def steady(record: RoundRecord, checkpoints: tuple[int, int], vacuums: tuple[int, int]) -> RoundRecord:
    arms = tuple(
        dataclasses.replace(
            arm,
            checkpoints=finished,
            tables=(TableRecord("a", True, came, 1, 1, 0, 0), TableRecord("history", False, 9, 1, 1, 0, 0)),
        )
        for arm, finished, came in zip(record.arms, checkpoints, vacuums, strict=True)
    )
    return dataclasses.replace(record, arms=arms)


def test_where_arms_did_not_take_turns_there_are_cycles_and_neither_trends_nor_stalls() -> None:
    moving = round_of_medians([20.0] * 5, [20 * math.exp(-0.01 * i) for i in range(5)])
    hit = stalled(moving, 1, 1e9)

    found = series(a_cell([steady(moving, (2, 3), (5, 4)), steady(hit, (2, 2), (0, 1))]))

    assert np.isnan(found.trends).all()
    assert not found.stalls.any()
    assert found.cycles.tolist() == [[[2, 2], [3, 2]], [[5, 0], [4, 1]]]


def test_arms_that_took_turns_have_no_cycles() -> None:
    assert not series(a_cell(rounds_of([0.01, -0.02]))).cycles.any()


def test_a_stall_is_five_times_the_usual_longest_and_a_millisecond() -> None:
    rounds = rounds_of([0.0] * 4)  # whose longest transactions took 1 ms
    hit = [stalled(rounds[0], 1, 5.1e6), stalled(rounds[1], 0, 4.9e6), *rounds[2:]]

    assert stall_ns(a_cell(hit)) == 5e6
    assert series(a_cell(hit)).stalls.tolist() == [[0, 0, 0, 0], [1, 0, 0, 0]]


def test_short_of_a_millisecond_nothing_is_a_stall() -> None:
    quick = [
        dataclasses.replace(
            r,
            slices=tuple(
                dataclasses.replace(s, latency=dataclasses.replace(s.latency, max_ns=1e5)) for s in r.slices
            ),
        )
        for r in rounds_of([0.0] * 3)
    ]

    assert stall_ns(a_cell(quick)) == 1e6
    assert series(a_cell([stalled(quick[0], 0, 9e5), *quick[1:]])).stalls.sum() == 0


def test_rounds_that_never_told_their_longest_have_no_stalls() -> None:
    untold = [stalled(stalled(r, 0, math.nan), 1, math.nan) for r in rounds_of([0.0])]
    mute = [dataclasses.replace(r, slices=tuple(s for s in r.slices if s.pair == 0)) for r in untold]

    assert stall_ns(a_cell(mute)) == math.inf
    assert series(a_cell(mute)).stalls.sum() == 0


def test_a_cell_without_rounds_is_an_empty_series() -> None:
    found = series(a_cell([]))

    assert (found.rounds, found.levels.shape, found.stalls.shape) == (0, (2, 0), (2, 0))
