"""The analyses of series of rounds, against noise whose truth is known."""

import dataclasses
import math

import numpy as np
import pytest

from bench.verdicts.noise import components, mean_noise, neighbours
from bench.verdicts.recorded import Round
from bench.verdicts.recovery import proportion, recovery
from bench.verdicts.resampling import cut, resampled
from pgverdict.judge.cell import judge_run
from pgverdict.judge.estimate import FloatArray, estimate, order_columns
from pgverdict.judge.interval import Kind, interval
from pgverdict.judge.verdict import Outcome
from pgverdict.plan.rounds import arrange
from tests.judge.made import a_campaign, a_cell
from tests.judge.made import rounds_of as records_of

from . import made


@pytest.mark.parametrize("effect", [0.0, 0.004, 0.008, 0.02])
def test_a_measured_run_ends_as_the_product_ends_it(effect: float) -> None:
    """Round by round, the verdicts of the whole judge and those counted here are the same."""
    ratios = effect + made.normal(40, 0.006, seed=4)
    found = cut([made.rounds_of(ratios)], made.METRIC, alpha=0.01, margin=0.01)

    ends = [
        (seen, outcome)
        for seen in range(8, 41)
        if (outcome := _outcome(ratios[:seen])) is not Outcome.UNDECIDED
    ]
    rounds, outcome = ends[0] if ends else (None, Outcome.UNDECIDED)
    assert found is not None
    assert found.rounds_p50 == rounds
    assert found.same.count == (outcome is Outcome.SAME)
    assert found.false_verdicts.count == (outcome in (Outcome.SLOWER, Outcome.FASTER))


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

        assert found is not None
        assert found.ever_different.runs == 1000
        assert found.false_verdicts.count <= found.ever_different.count
        assert found.ever_different.count <= 70  # a right method exceeds it once in 500 tests
        assert found.same.count > 900


def test_an_effect_of_the_order_raises_no_alarm_when_rounds_are_drawn_anew() -> None:
    orders = order_columns([arrange(made.CELL.key, seed=1, ordinal=i) for i in range(400)])
    rounds = made.rounds_of(made.normal(400) + 0.02 * orders[:, 0])
    found = resampled(
        rounds, made.METRIC, alpha=0.05, margin=0.01, runs=1000, length=60, random=np.random.default_rng(1)
    )

    assert found is not None
    assert 0 < found.ever_different.count <= 70


def test_a_lasting_difference_is_an_alarm_in_the_sequence_as_it_was() -> None:
    calm, off = made.rounds_of(made.normal(30, 0.003)), made.rounds_of(0.02 + made.normal(30, 0.003))
    found = cut([calm, off], made.METRIC, alpha=0.005, margin=0.01)

    assert found is not None
    assert (found.same.runs, found.false_verdicts.count, found.same.count) == (2, 1, 1)


def test_a_run_that_differed_before_it_fitted_the_margin_is_counted_as_ever_different() -> None:
    """A difference that is small beside the margin, and detectable."""
    found = cut([made.rounds_of(0.004 + made.normal(30, 0.001))], made.METRIC, alpha=0.005, margin=0.01)

    assert found is not None
    assert (found.same.count, found.false_verdicts.count, found.ever_different.count) == (1, 0, 1)


def test_runs_too_short_for_a_verdict_are_no_runs() -> None:
    assert cut([made.rounds_of([0.0] * 7)], made.METRIC, alpha=0.005, margin=0.01) is None


def test_a_round_without_the_metric_is_left_out() -> None:
    rounds = [dataclasses.replace(r, values={}) if r.ordinal == 3 else r for r in made.rounds_of([0.0] * 40)]

    found = cut([rounds], made.METRIC, alpha=0.005, margin=0.01)
    assert found is not None
    assert found.same.count == 1


@pytest.mark.parametrize("r1", [0.0, 0.4])
def test_the_correlation_of_neighbours_is_found_within_runs_only(r1: float) -> None:
    noise = made.normal(600)
    for i in range(1, 600):
        noise[i] = r1 * noise[i - 1] + math.sqrt(1 - r1**2) * noise[i]
    runs = [made.rounds_of(noise[at : at + 50], seed=at) for at in range(0, 600, 50)]
    found = neighbours(runs, made.METRIC)

    assert found is not None
    assert found.correlation == pytest.approx(r1, abs=4 * found.sd)
    assert found.sd == pytest.approx(math.sqrt(12 * 49) / 600, rel=0.01)


def test_a_lasting_difference_of_a_run_makes_its_rounds_alike() -> None:
    runs = [made.rounds_of(shift + made.normal(30), seed=n) for n, shift in enumerate([0.02, -0.02] * 3)]
    found = neighbours(runs, made.METRIC)

    assert found is not None
    assert found.correlation > 0.5


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
    drawn = float(np.std(list(load_effects.values()), ddof=1))
    rounds = [
        _round_with_pairs(
            r, 0.006 * random.standard_normal(), 0.02 * random.standard_normal(12), load_effects
        )
        for r in made.rounds_of([0.0] * 800)
    ]
    found = components([made.repetition(rounds)], "latency_us_mean")

    assert found.within_sd == pytest.approx(0.02 / math.sqrt(12), rel=0.1)
    assert found.start_sd == pytest.approx(math.hypot(0.006, math.sqrt(2) * drawn), rel=0.25)
    assert found.loads is not None
    assert found.loads.sd == pytest.approx(drawn, rel=0.3)
    assert found.loads.sd < found.loads.sd_high < 3 * drawn
    assert found.installs is None, "there was one of each"


def test_installs_that_differ_are_told_from_starts() -> None:
    install_effects = {0: 0.004, 1: -0.003, 2: -0.001}
    shared = dataclasses.replace(made.CELL, install_pools=(0, 0))
    rounds = []
    for r, noise in zip(made.rounds_of([0.0] * 400), made.normal(400, 0.006), strict=True):
        installs = (r.ordinal % 3, (r.ordinal // 3) % 3)
        ratio = install_effects[installs[1]] - install_effects[installs[0]] + noise
        rounds.append(
            dataclasses.replace(r, installs=installs, values={made.METRIC: (20.0, 20.0, float(ratio))})
        )
    found = components([made.repetition(rounds, cell=shared)], made.METRIC)

    assert found.installs is not None
    assert found.installs.members == 3
    assert found.installs.sd == pytest.approx(float(np.std(list(install_effects.values()), ddof=1)), rel=0.2)
    assert math.isnan(found.within_sd), "no slices were kept"


def test_loads_that_do_not_differ_are_bounded_near_nothing() -> None:
    rounds = [
        _round_with_pairs(r, s, np.zeros(12), {})
        for r, s in zip(made.rounds_of([0.0] * 800), made.normal(800), strict=True)
    ]
    found = components([made.repetition(rounds)], "latency_us_mean")

    assert found.loads is not None
    assert found.loads.sd_high < 0.002
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
