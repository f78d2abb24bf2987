"""A budget that does not last: whichever cells it goes to, the promise is kept.

bench/simulations has the long version.
"""

import numpy as np
import pytest

from bench.simulations.campaigns import (
    DIFFERENT,
    SAME,
    UNDECIDED,
    Ended,
    Looks,
    Truth,
    equal,
    mixed,
    run,
    simulate,
)
from bench.simulations.noise import NOISES
from bench.simulations.spending import ORDERS, spend, spend_as_product

from .simulated import most

ALPHA = 0.05
CAMPAIGNS = 400
BUDGETS = (10, 12, 16)


def campaigns(noise: str, truth: Truth, *, cells: int, number: int = CAMPAIGNS) -> Looks:
    random = np.random.default_rng(20261122)
    return simulate(NOISES[noise], truth, random, campaigns=number, cells=cells, rounds=60)


def false_share(ended: Ended, verdicts: tuple[int, ...]) -> float:
    """Expected share of wrong ones among these verdicts."""
    chosen = np.isin(ended.verdict, verdicts)
    return float(np.mean((ended.wrong & chosen).sum(axis=1) / np.maximum(chosen.sum(axis=1), 1)))


def share_decided(ended: Ended) -> float:
    return float((ended.verdict != UNDECIDED).mean())


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("noise", ["normal", "cells correlated 0.5", "AR(1) 0.1", "t3", "bimodal"])
def test_of_the_verdicts_that_a_budget_reaches_few_are_wrong(noise: str, order: str) -> None:
    for ended in spend(campaigns(noise, mixed, cells=10), ALPHA, ORDERS[order], BUDGETS).values():
        for verdicts in ((SAME,), (DIFFERENT,), (SAME, DIFFERENT)):
            assert false_share(ended, verdicts) <= ALPHA


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("noise", ["normal", "cells correlated 0.5", "t3"])
def test_hardly_any_equal_server_is_called_different_whoever_gets_the_rounds(noise: str, order: str) -> None:
    for ended in spend(campaigns(noise, equal, cells=20), ALPHA, ORDERS[order], BUDGETS).values():
        assert (ended.verdict == DIFFERENT).any(axis=1).mean() <= ALPHA


def test_a_broken_promise_would_be_seen_also_where_not_all_verdicts_are_reached() -> None:
    """Broken by another rule: one count for both kinds of verdict."""
    looks = campaigns("normal", equal, cells=40)

    together, apart = (
        spend(looks, ALPHA, ORDERS["nearest"], (16,), together=one_count)[16] for one_count in (True, False)
    )

    assert (together.verdict == UNDECIDED).mean() > 0.1
    assert (together.verdict == DIFFERENT).any(axis=1).sum() > most(CAMPAIGNS, ALPHA)
    assert (apart.verdict == DIFFERENT).any(axis=1).mean() <= ALPHA / 2


def test_the_rounds_go_where_the_order_says() -> None:
    looks = campaigns("normal", mixed, cells=10)
    ends = {order: spend(looks, ALPHA, smallest, (12,))[12] for order, smallest in ORDERS.items()}

    for ended in ends.values():
        assert ended.rounds.sum(axis=1).max() <= 12 * 10
        assert ended.rounds.min() >= 8
    assert np.ptp(ends["in turn"].rounds[ends["in turn"].verdict == UNDECIDED]) <= 8
    assert share_decided(ends["nearest"]) > 1.2 * share_decided(ends["in turn"])
    assert share_decided(ends["furthest"]) < 0.8 * share_decided(ends["in turn"])


@pytest.mark.parametrize("order", ORDERS)
def test_a_cell_alone_is_measured_as_ever(order: str) -> None:
    looks = campaigns("normal", mixed, cells=1)

    ended, before = spend(looks, ALPHA, ORDERS[order], (30,))[30], run(looks, ALPHA, rounds_each=30)

    for name in ("rounds", "verdict", "level", "wrong"):
        assert np.array_equal(getattr(ended, name), getattr(before, name)), name


@pytest.mark.parametrize("order", ORDERS)
def test_a_smaller_budget_ends_on_the_way_of_a_larger(order: str) -> None:
    looks = campaigns("normal", mixed, cells=5)

    alone = spend(looks, ALPHA, ORDERS[order], (12,))[12]

    assert np.array_equal(spend(looks, ALPHA, ORDERS[order], BUDGETS)[12].rounds, alone.rounds)


def test_the_products_rule_reaches_more_verdicts_than_turns_do() -> None:
    looks = campaigns("normal", mixed, cells=5, number=40)

    by_forecast = spend_as_product(looks, ALPHA, (12,))[12]

    assert by_forecast.rounds.sum(axis=1).max() <= 12 * 5
    assert by_forecast.rounds.min() >= 8
    assert share_decided(by_forecast) > 1.1 * share_decided(spend(looks, ALPHA, ORDERS["in turn"], (12,))[12])
    assert false_share(by_forecast, (SAME, DIFFERENT)) <= ALPHA
