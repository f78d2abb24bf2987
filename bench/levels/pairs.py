"""Rounds looked at pair by pair: what the same rounds with fewer pairs would have told, and whether the first pairs
take longer than later ones, as they do while a warm-up is not over. Pure.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from bench.verdicts.noise import components, slices_ratio
from bench.verdicts.page import markdown_table
from bench.verdicts.recorded import Repetition, Round, SliceFigures

from .table import round_s
from .treatments import TREATMENTS, UPDATE, Treatment

NUMBERS = (10, 13, 16, 20, 30)
METRICS = ("latency_us_p50", "latency_us_mean")
FIRST = 5
QUARTILE, FIFTH = 0.25, 0.2


def fewer_pairs(recorded: Mapping[str, Sequence[Repetition]]) -> str:
    """A row per number of pairs, and treatment with 30 of slices of 20 ms; nothing if there are no such rounds."""
    rows: list[tuple[str, ...]] = []
    for one, repetitions in _cut_short(recorded):
        if one.line.pairs != NUMBERS[-1]:
            continue
        slice_s = one.cut.by_time.usual_us / 1e6
        whole = _scatters(repetitions, NUMBERS[-1])
        whole_s = round_s(repetitions)
        for pairs in NUMBERS:
            seconds = whole_s - 2 * slice_s * (NUMBERS[-1] - pairs)
            said = []
            for sd, whole_sd in zip(_scatters(repetitions, pairs), whole, strict=True):
                said += [f"{sd:.2%}", f"{(sd / whole_sd) ** 2 * seconds / whole_s:.2f}"]
            rounds = sum(len(repetition.measured()) for repetition in repetitions)
            rows.append((f"`{one.name}`", str(rounds), str(pairs), f"{seconds:.2f}", *said))
    if not rows:
        return ""
    head = ["treatment", "rounds", "pairs", "seconds"]
    for name in METRICS:
        head += [f"`{name}`", "time to a verdict against all pairs"]
    return (
        "## The same rounds with fewer pairs\n\n"
        "The standard deviation of a round of which only the first pairs are used, and the seconds it would have"
        " taken.\n\n" + markdown_table([head, *rows])
    )


def first_pairs(recorded: Mapping[str, Sequence[Repetition]]) -> str:
    """A row per treatment with slices of 20 ms: how much longer the first pairs take."""
    rows: list[tuple[str, ...]] = []
    for one, repetitions in _cut_short(recorded):
        rounds = [r for repetition in repetitions for r in repetition.measured()]
        for name in METRICS:
            longer = np.quantile([_levels(r, name) for r in rounds], QUARTILE, axis=0)
            later = float(np.mean(longer[len(longer) // 2 :]))
            said = [f"{math.expm1(value - later):+.2%}" for value in longer[:FIRST]]
            rows.append((f"`{one.name}`", str(len(rounds)), f"`{name}`", *said))
    if not rows:
        return ""
    head = ("treatment", "rounds", "metric", *(f"pair {number + 1}" for number in range(FIRST)))
    return (
        "## The first pairs\n\n"
        "How much longer than those of the second half they take, both servers together. Now and then something else"
        " slows the host down, so a pair is held against the fifth of its round's pairs that are fastest, and of that"
        " the lower quartile over the rounds is taken.\n\n" + markdown_table([head, *rows])
    )


def _cut_short(recorded: Mapping[str, Sequence[Repetition]]) -> list[tuple[Treatment, Sequence[Repetition]]]:
    return [
        (one, recorded[one.name])
        for one in TREATMENTS
        if one.against != UPDATE and one.cut.by_time.usual_us <= 20_000 and recorded.get(one.name)
    ]


def _scatters(repetitions: Sequence[Repetition], pairs: int) -> list[float]:
    """Per metric the standard deviation of rounds that had ended after so many pairs."""
    ended = [replace(one, rounds=tuple(_shortened(r, pairs) for r in one.measured())) for one in repetitions]
    return [components(ended, name).round_sd for name in METRICS]


def _shortened(r: Round, pairs: int) -> Round:
    slices = tuple(one for one in r.slices if one.pair < pairs)
    # Only the log ratio is looked at.
    values = {name: (math.nan, math.nan, slices_ratio(slices, name)) for name in METRICS}
    return replace(r, slices=slices, values=values)


def _levels(r: Round, name: str) -> list[float]:
    """By pair, the log of both servers' time over that of the round's fast pairs."""
    pairs: dict[int, list[float]] = {}
    for one in r.slices:
        pairs.setdefault(one.pair, []).append(math.log(_time_us(one, name)))
    logs = np.array([np.mean(pairs[number]) for number in sorted(pairs)])
    return [float(value) for value in logs - np.quantile(logs, FIFTH)]


def _time_us(one: SliceFigures, name: str) -> float:
    return one.p50_us if name == "latency_us_p50" else one.busy_us / one.transactions
