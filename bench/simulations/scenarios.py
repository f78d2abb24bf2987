"""Which campaigns are simulated: noise, cells, truth, alpha, rule; a row of figures for each."""

import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from bench.simulations.campaigns import Looks, Truth, equal, mixed, one_slower, run, simulate
from bench.simulations.counting import Row, counts, figures
from bench.simulations.noise import NOISES
from pgverdict.judge.interval import Kind

CELLS = (1, 5, 20, 50)
ALPHAS = (0.05, 0.01)
FIXED_ROUNDS = 24
LONGEST = 120
"""No cell gets more rounds than this, however much budget the others leave."""

TRUTHS: dict[str, Truth] = {"equal": equal, "one slower": one_slower, "mixed": mixed}


@dataclass(frozen=True)
class Wanted:
    """What the command asks for."""

    campaigns: int
    """Of 5 and more cells; of one cell ten times as many."""
    budget: int
    """Rounds per cell."""
    seed: int


def all_noises(wanted: Wanted) -> list[Row]:
    """Every noise, number of cells and truth; and rounds fixed in advance."""
    begun = time.monotonic()
    rows: list[Row] = []
    for number, noise in enumerate(NOISES):
        for cells in CELLS:
            for truth in TRUTHS:
                if truth == "one slower" and (cells == 1 or noise != "normal"):
                    continue
                seed = [wanted.seed, number, cells, list(TRUTHS).index(truth)]
                rows += _scenario(noise, cells, truth, wanted, np.random.default_rng(seed))
        print(f"{noise}: {time.monotonic() - begun:.0f} s", file=sys.stderr)
    for number, noise in enumerate(("normal", "cells correlated 0.5", "t3")):
        rows += [_fixed(noise, cells, wanted, [wanted.seed, 100 + number, cells]) for cells in CELLS]
    return rows


def pulled_in(wanted: Wanted) -> list[Row]:
    """One cell, the same campaigns judged as they are and as a typical metric is."""
    return [
        {**row, "pulled": pulled}
        for number, noise in enumerate(NOISES)
        for place, truth in enumerate(("equal", "mixed"))
        for pulled in (False, True)
        for row in _scenario(
            noise, 1, truth, wanted, np.random.default_rng([wanted.seed, number, 1, place]), pulled=pulled
        )
    ]


def _scenario(
    noise: str, cells: int, truth: str, wanted: Wanted, random: np.random.Generator, *, pulled: bool = False
) -> list[Row]:
    campaigns = wanted.campaigns * (10 if cells == 1 else 1)
    longest = wanted.budget if cells == 1 else LONGEST
    parts: dict[tuple[float, str], list[Row]] = {}
    for looks in in_chunks(noise, cells, truth, random, campaigns=campaigns, rounds=longest, pulled=pulled):
        for alpha in ALPHAS:
            for rule in ("apart", "together")[: 2 if noise == "normal" and cells > 1 else 1]:
                ended = run(looks, alpha, rounds_each=wanted.budget, together=rule == "together")
                parts.setdefault((alpha, rule), []).append(
                    counts(looks, ended, alpha, summed=truth == "mixed")
                )
    return [
        {"noise": noise, "cells": cells, "truth": truth, "alpha": alpha, "rule": rule, "kind": "anytime",
         "campaigns": campaigns, **figures(counted)}
        for (alpha, rule), counted in parts.items()
    ]  # fmt: skip


def in_chunks(
    noise: str,
    cells: int,
    truth: str,
    random: np.random.Generator,
    *,
    campaigns: int,
    rounds: int,
    pulled: bool = False,
) -> Iterator[Looks]:
    """Campaigns by the names of their noise and truth, so many at a time that all looks at them have room."""
    for begin in range(0, campaigns, _CHUNK // cells):
        size = min(_CHUNK // cells, campaigns - begin)
        yield simulate(
            NOISES[noise], TRUTHS[truth], random, campaigns=size, cells=cells, rounds=rounds, pulled=pulled
        )


_CHUNK = 20_000
"""Cells simulated at once: 113 looks at them are five arrays of 18 MB."""


def _fixed(noise: str, cells: int, wanted: Wanted, seed: list[int]) -> Row:
    campaigns = wanted.campaigns * (10 if cells == 1 else 1)
    random = np.random.default_rng(seed)
    looks = simulate(
        NOISES[noise], mixed, random, campaigns=campaigns, cells=cells, rounds=FIXED_ROUNDS, kind=Kind.FIXED
    )
    ended = run(looks, 0.05, rounds_each=FIXED_ROUNDS)
    return {"noise": noise, "cells": cells, "truth": "mixed", "alpha": 0.05, "rule": "apart", "kind": "fixed",
            "campaigns": campaigns, **figures([counts(looks, ended, 0.05, summed=False)])}  # fmt: skip
