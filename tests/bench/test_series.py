"""The analyses of series of rounds, against noise whose truth is known."""

import dataclasses
import math

import numpy as np
import pytest

from bench.verdicts.noise import autocorrelation, components, mean_noise
from bench.verdicts.recorded import Round
from bench.verdicts.recovery import proportion, recovery
from bench.verdicts.resampling import cut, looked_at, resampled
from pgverdict.judge.cell import judge_run
from pgverdict.judge.estimate import FloatArray, estimate, order_columns
from pgverdict.judge.interval import Kind, interval
from pgverdict.judge.verdict import Outcome
from pgverdict.plan.rounds import arrange
from tests.judge.made import a_campaign, a_cell
from tests.judge.made import rounds_of as records_of

from . import made


def test_a_looked_at_run_ends_as_the_product_ends_it() -> None:
    """Round by round, the verdicts of the whole judge and those counted here are the same."""
    random = np.random.default_rng(4)
    for effect in (0.0, 0.004, 0.008, 0.02):
        ratios = effect + 0.006 * random.standard_normal(40)
        orders = order_columns([arrange(made.CELL.key, seed=1, ordinal=i) for i in range(40)])
        found = looked_at(ratios[None, :], orders, alpha=0.01, margin=0.01)

        ends = [
            (seen, outcome)
            for seen in range(8, 41)
            if (outcome := _outcome(ratios[:seen])) is not Outcome.UNDECIDED
        ]
        rounds, outcome = ends[0] if ends else (40, Outcome.UNDECIDED)
        assert found.rounds_median == rounds
        assert found.same == (outcome is Outcome.SAME)
        assert found.false_verdicts == (outcome in (Outcome.SLOWER, Outcome.FASTER))


def _outcome(ratios: FloatArray) -> Outcome:
    cell = a_cell(records_of(list(map(float, ratios))))
    from tests.store.made import a_run

    campaign = a_campaign()
    run = dataclasses.replace(a_run(), campaign=campaign, cells=(cell,))
    return judge_run(run)[0][0][0].outcome


def test_made_runs_of_equal_servers_keep_the_promised_rate_and_of_unequal_ones_do_not_see_the_effect() -> (
    None
):
    """Labels are flipped, so a lasting difference of the two servers becomes noise and no false alarm."""
    for effect in (0.0, 0.002):
        rounds = made.rounds_of(effect + made.normal(400))
        found = resampled(
            rounds,
            made.METRIC,
            alpha=0.05,
            margin=0.01,
            runs=1000,
            length=60,
            random=np.random.default_rng(1),
        )

        assert found.runs == 1000
        assert found.ever_different <= 70  # a right method exceeds it once in 500 tests
        assert found.same > 900


def test_an_effect_of_the_order_raises_no_alarm_when_rounds_are_drawn_anew() -> None:
    orders = order_columns([arrange(made.CELL.key, seed=1, ordinal=i) for i in range(400)])
    rounds = made.rounds_of(made.normal(400) + 0.02 * orders[:, 0])
    found = resampled(
        rounds, made.METRIC, alpha=0.05, margin=0.01, runs=1000, length=60, random=np.random.default_rng(1)
    )

    assert found.ever_different <= 70


def test_a_lasting_difference_is_an_alarm_in_the_sequence_as_it_was() -> None:
    calm, off = made.rounds_of(made.normal(30, 0.003)), made.rounds_of(0.02 + made.normal(30, 0.003))
    found = cut([calm, off], made.METRIC, alpha=0.005, margin=0.01)

    assert (found.runs, found.false_verdicts, found.same) == (2, 1, 1)


def test_a_round_without_the_metric_is_left_out() -> None:
    rounds = [dataclasses.replace(r, values={}) if r.ordinal == 3 else r for r in made.rounds_of([0.0] * 40)]

    assert cut([rounds], made.METRIC, alpha=0.005, margin=0.01).same == 1


@pytest.mark.parametrize("r1", [0.0, 0.4])
def test_the_correlation_of_neighbours_is_found_within_runs_only(r1: float) -> None:
    noise = made.normal(600)
    for i in range(1, 600):
        noise[i] = r1 * noise[i - 1] + math.sqrt(1 - r1**2) * noise[i]
    runs = [made.rounds_of(noise[at : at + 50], seed=at) for at in range(0, 600, 50)]
    found = autocorrelation(runs, made.METRIC)

    assert found.neighbours == 12 * 49
    assert found.value == pytest.approx(r1, abs=2 * found.bound)


def _round_with_pairs(
    r: Round, start: float, within: FloatArray, load_effects: dict[tuple[int, int], float]
) -> Round:
    shift = start + load_effects.get((1, r.loads[1]), 0.0) - load_effects.get((0, r.loads[0]), 0.0)
    slices = made.slices_of([(20.0, 20.0 * math.exp(shift + one)) for one in within])
    ratio = math.log(
        sum(s.busy_us for s in slices if s.arm == 1) / sum(s.busy_us for s in slices if s.arm == 0)
    )
    return dataclasses.replace(
        r, values={"latency_us_mean": (20.0, 20.0 * math.exp(ratio), ratio)}, slices=slices
    )


def test_scatter_is_told_apart_by_pairs_loads_and_starts() -> None:
    random = np.random.default_rng(2)
    load_effects = {(arm, load): 0.006 * random.standard_normal() for arm in (0, 1) for load in range(8)}
    rounds = [
        _round_with_pairs(
            r, 0.006 * random.standard_normal(), 0.02 * random.standard_normal(12), load_effects
        )
        for r in made.rounds_of([0.0] * 800)
    ]
    found = components([made.repetition(rounds)], "latency_us_mean")

    assert found.within_sd == pytest.approx(0.02 / math.sqrt(12), rel=0.1)
    assert found.start_sd == pytest.approx(0.006, rel=0.25)
    drawn = float(np.std(list(load_effects.values()), ddof=1))
    assert found.load_sd == pytest.approx(drawn, rel=0.3)
    assert found.load_sd < found.load_sd_most < 3 * drawn


def test_loads_that_do_not_differ_are_bounded_near_nothing() -> None:
    rounds = [
        _round_with_pairs(r, s, np.zeros(12), {})
        for r, s in zip(made.rounds_of([0.0] * 800), made.normal(800), strict=True)
    ]
    found = components([made.repetition(rounds)], "latency_us_mean")

    assert found.load_sd_most < 0.002
    assert found.within_sd == 0
    assert found.start_sd == pytest.approx(0.008, rel=0.1)


def test_noise_of_the_mean_that_comes_from_single_stalls_goes_with_them() -> None:
    random = np.random.default_rng(3)
    rounds = []
    for r in made.rounds_of([0.0] * 100):
        slices = [
            dataclasses.replace(s, busy_us=s.busy_us + stall, max_us=100.0 + stall)
            for s in made.slices_of([(20.0, 20.0 + p50) for p50 in 0.1 * random.random(12)])
            for stall in [float(20_000.0 * (random.random() < 0.05))]
        ]
        rounds.append(dataclasses.replace(r, slices=tuple(slices)))
    found = mean_noise(rounds)

    assert found.mean_sd > 0.01
    assert found.without_longest_sd < 1e-3
    assert found.median_of_slices_sd < 1e-3
    assert abs(found.correlation) < 0.4
    assert 0.02 < found.longest_share < 0.08


def test_what_was_injected_is_recovered_with_its_part() -> None:
    """Half of the delay disappears, and the candidate is 0.3 % slower anyway."""
    shares = (0.005, 0.011, 0.02, 0.05)
    found = [
        recovery(
            [
                made.repetition(
                    made.rounds_of(
                        0.003 + 0.5 * math.log1p(share) + made.normal(20, 0.002, seed=part),
                        spun_us=20 * share,
                    )
                )
                for part in range(3)
            ]
        )
        for share in shares
    ]
    line = proportion(found)

    assert [one.rounds for one in found] == [60] * 4
    assert [round(one.spun_ns) for one in found] == [100, 220, 400, 1000]
    assert line.share == pytest.approx(0.5, abs=4 * line.share_sd)
    assert line.offset == pytest.approx(0.003, abs=4 * line.offset_sd)
    assert not found[3].held_99
    assert found[3].parts_held_99 == 0


def test_an_interval_over_all_rounds_is_students() -> None:
    rounds = made.rounds_of(0.02 + made.normal(60), spun_us=0.4)
    found = recovery([made.repetition(rounds)])
    orders = order_columns([arrange(made.CELL.key, seed=1, ordinal=i) for i in range(60)])
    low, high = interval(
        estimate(np.array([r.values[made.METRIC][2] for r in rounds]), orders), 0.05, Kind.FIXED
    )

    assert found.estimate - found.half_95 == pytest.approx(float(low))
    assert found.estimate + found.half_95 == pytest.approx(float(high))
    assert found.held_95 == (low <= math.log(1.02) <= high)
