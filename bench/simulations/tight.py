"""Budgets that do not last, and who gets them: every order of `spending`, on the same campaigns as `scenarios`."""

import sys
import time

import numpy as np

from bench.simulations.campaigns import Ended, Looks
from bench.simulations.counting import Row, errors, figures, reached
from bench.simulations.noise import NOISES
from bench.simulations.scenarios import ALPHAS, LONGEST, TRUTHS, Wanted, in_chunks
from bench.simulations.spending import ORDERS, PRODUCT, spend, spend_as_product

CELLS = (5, 20)
TIGHT_NOISES = ("normal", "cells correlated 0.5", "AR(1) 0.1", "t3", "bimodal")

BUDGETS = (10, 12, 16, 50)
"""Rounds per cell. Every cell has 8 first; a decided one mostly has 15 to 20. The last one lasts, nearly always."""

FORECAST_BUDGETS = (10, 12, 16)
FORECAST_ALPHA = 0.05
FORECAST_OF = {
    **{("normal", 5, truth): 0.15 for truth in TRUTHS},
    **{("normal", 20, truth): 0.075 for truth in TRUTHS},
    **{("cells correlated 0.5", 5, truth): 0.15 for truth in ("equal", "mixed")},
}
"""Noise, cells and truth to the share of campaigns that are also served as the product does: it takes 2 ms per
forecast, a second per campaign of 20 cells."""


def tight_budgets(wanted: Wanted) -> list[Row]:
    """A row per noise, cells, truth, alpha, budget and order. `campaigns` tells those of the product's rule, and of
    the other orders on the very same campaigns, from those of all campaigns."""
    begun = time.monotonic()
    rows: list[Row] = []
    for noise in TIGHT_NOISES:
        for cells in CELLS:
            for place, truth in enumerate(TRUTHS):
                rows += _scenario(noise, cells, truth, wanted, [list(NOISES).index(noise), cells, place])
        print(f"{noise}: {time.monotonic() - begun:.0f} s", file=sys.stderr)
    return rows


def _scenario(noise: str, cells: int, truth: str, wanted: Wanted, place: list[int]) -> list[Row]:
    random = np.random.default_rng([wanted.seed, *place])
    parts: dict[tuple[int, float, str, int], list[Row]] = {}

    def count(looks: Looks, campaigns: int, alpha: float, order: str, ends: dict[int, Ended]) -> None:
        for budget, ended in ends.items():
            counted = {**errors(looks.truth, ended), **reached(looks.truth, ended)}
            parts.setdefault((campaigns, alpha, order, budget), []).append(counted)

    few = round(FORECAST_OF.get((noise, cells, truth), 0) * wanted.campaigns)
    left = few
    for looks in in_chunks(noise, cells, truth, random, campaigns=wanted.campaigns, rounds=LONGEST):
        for alpha in ALPHAS:
            for order, smallest in ORDERS.items():
                count(looks, wanted.campaigns, alpha, order, spend(looks, alpha, smallest, BUDGETS))
        if left:
            these = looks.of_first(left)
            left -= len(these.truth)
            for order, smallest in ORDERS.items():
                ends = spend(these, FORECAST_ALPHA, smallest, FORECAST_BUDGETS)
                count(these, few, FORECAST_ALPHA, order, ends)
            count(
                these, few, FORECAST_ALPHA, PRODUCT, spend_as_product(these, FORECAST_ALPHA, FORECAST_BUDGETS)
            )
    return [
        {"noise": noise, "cells": cells, "truth": truth, "alpha": alpha, "order": order, "budget": budget,
         "campaigns": campaigns, **figures(counted)}
        for (campaigns, alpha, order, budget), counted in parts.items()
    ]  # fmt: skip
