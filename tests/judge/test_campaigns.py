"""Many cells with known truth: the rule of the run keeps its promise. bench/simulations has the long version."""

import numpy as np
import pytest

from bench.simulations.campaigns import (
    DIFFERENT,
    UNDECIDED,
    Ended,
    Looks,
    equal,
    mixed,
    one_slower,
    run,
    simulate,
)
from bench.simulations.noise import NOISES, ROUND_SD
from pgverdict.judge.evalue import critical_t
from pgverdict.judge.interval import Kind
from pgverdict.judge.summary import CellRounds, mean_of_cells

from .simulated import most

ALPHA = 0.05
CAMPAIGNS = 400


def campaigns(noise: str, truth: object = mixed, *, cells: int = 10, rounds: int = 50) -> Looks:
    random = np.random.default_rng(20261121)
    return simulate(NOISES[noise], truth, random, campaigns=CAMPAIGNS, cells=cells, rounds=rounds)  # type: ignore[arg-type]


def false_share(ended: Ended, verdicts: tuple[int, ...]) -> float:
    """Expected share of wrong ones among these verdicts."""
    chosen = np.isin(ended.verdict, verdicts)
    return float(np.mean((ended.wrong & chosen).sum(axis=1) / np.maximum(chosen.sum(axis=1), 1)))


@pytest.mark.parametrize(
    "noise",
    ["normal", "cells correlated 0.5", "AR(1) 0.1", "t3", "lognormal, arms alike", "bimodal", "outliers"],
)
def test_of_the_verdicts_given_few_are_wrong(noise: str) -> None:
    ended = run(campaigns(noise), ALPHA, rounds_each=40)

    assert (ended.verdict != UNDECIDED).mean() > 0.9
    for verdicts in ((1,), (DIFFERENT,), (1, DIFFERENT)):
        assert false_share(ended, verdicts) <= ALPHA


@pytest.mark.parametrize("noise", ["normal", "cells correlated 0.5", "t3"])
def test_where_all_servers_are_equal_hardly_any_campaign_calls_one_different(noise: str) -> None:
    ended = run(campaigns(noise, equal, cells=20), ALPHA, rounds_each=40)

    assert (ended.verdict == DIFFERENT).any(axis=1).sum() <= most(CAMPAIGNS, ALPHA)


def test_one_count_for_both_kinds_of_verdict_would_make_equal_servers_differ() -> None:
    """Why differences and SAMEs are counted apart."""
    looks = campaigns("normal", equal, cells=40)

    together = (run(looks, ALPHA, rounds_each=40, together=True).verdict == DIFFERENT).any(axis=1)
    apart = (run(looks, ALPHA, rounds_each=40).verdict == DIFFERENT).any(axis=1)

    assert together.mean() > 2 * ALPHA
    assert apart.mean() <= ALPHA / 2


def test_rounds_that_depend_on_each_other_break_the_promise() -> None:
    # FIXME: nothing in a verdict guards against this yet; a check of lag 1 has to pool cells to see it.
    ended = run(campaigns("AR(1) 0.3", equal, cells=20), ALPHA, rounds_each=40)

    assert (ended.verdict == DIFFERENT).any(axis=1).mean() > 2 * ALPHA


def test_a_lone_difference_is_found_among_many_equal_cells() -> None:
    ended = run(campaigns("normal", one_slower, cells=20), ALPHA, rounds_each=40)

    assert (ended.verdict[:, 0] == DIFFERENT).mean() > 0.95
    assert np.median(ended.rounds[:, 0]) <= 22


def test_the_budget_is_spent_where_verdicts_are_open() -> None:
    ended = run(campaigns("normal", rounds=60), 0.01, rounds_each=20)

    assert ended.rounds.sum(axis=1).max() <= 10 * 20
    assert (
        ended.rounds[ended.verdict == UNDECIDED].mean() > ended.rounds[ended.verdict != UNDECIDED].mean() + 2
    )


def test_a_fixed_number_of_rounds_keeps_the_same_promise() -> None:
    random = np.random.default_rng(5)
    looks = simulate(NOISES["normal"], mixed, random, campaigns=2000, cells=10, rounds=16, kind=Kind.FIXED)
    ended = run(looks, ALPHA, rounds_each=16)

    assert set(np.unique(ended.rounds)) == {16}
    for verdicts in ((1,), (DIFFERENT,), (1, DIFFERENT)):
        assert false_share(ended, verdicts) <= ALPHA


def test_the_smallest_level_of_a_claim_is_where_the_products_interval_makes_it() -> None:
    looks = campaigns("normal", cells=2, rounds=20)
    last = looks.effect.shape[0] - 1
    effect, error = looks.effect[last, :, 0], looks.error[last, :, 0]
    information = 1 / np.linalg.inv((x := np.column_stack([np.ones(20), looks.orders[0]])).T @ x)[0, 0]
    t = float(critical_t(ALPHA, df=16, information=information))

    assert ((looks.different[last, :, 0] <= ALPHA) == (np.abs(effect) >= t * error)).all()
    assert ((looks.same[last, :, 0] <= ALPHA) == (np.abs(effect) + t * error <= np.log(1.01))).all()


@pytest.mark.parametrize("noise", ["normal", "cells correlated 0.5", "exponential, one-sided"])
def test_the_summary_covers_the_mean_of_the_true_effects_whatever_cells_have_in_common(noise: str) -> None:
    looks = campaigns(noise, cells=6)
    ended = run(looks, ALPHA, rounds_each=40)

    missed = 0
    for number, rounds in enumerate(ended.rounds):
        cells = [
            CellRounds(looks.log_ratios[number, c, :n], looks.orders[c, :n]) for c, n in enumerate(rounds)
        ]
        mean = mean_of_cells(cells, ALPHA, Kind.ANYTIME)
        assert mean is not None
        missed += not mean.low <= looks.truth[number].mean() <= mean.high

    assert missed <= most(CAMPAIGNS, ALPHA)


@pytest.mark.parametrize("noise", sorted(set(NOISES) - {"linear drift", "slow wave"}))
def test_noise_is_as_wide_as_it_says(noise: str) -> None:
    made = NOISES[noise](np.random.default_rng(1), (2000, 3, 50))

    assert abs(made.mean()) < 0.05 * ROUND_SD
    assert made.std() == pytest.approx(ROUND_SD, rel=0.1)
