"""What is counted of ended campaigns, and the figures that thousands of them come to."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.simulations.campaigns import DIFFERENT, MARGIN, SAME, UNDECIDED, Ended, Looks
from bench.simulations.noise import FloatArray
from pgverdict.judge.interval import Kind
from pgverdict.judge.summary import CellRounds, mean_of_cells

Row = dict[str, Any]
BoolArray = NDArray[np.bool_]


def errors(truth: FloatArray, ended: Ended) -> Row:
    """Per campaign: the shares of wrong verdicts, and whether there is any; `truth` as in `Looks`."""
    verdict, different = ended.verdict, ended.verdict == DIFFERENT
    return {
        "false_coverage": _share(ended.wrong, verdict != UNDECIDED),
        "false_difference": _share(ended.wrong, different),
        "false_same": _share(ended.wrong, verdict == SAME),
        "any_false_difference": (different & (truth == 0)).any(axis=1).tolist(),
        "any_wrong": (ended.wrong & (verdict != UNDECIDED)).any(axis=1).tolist(),
    }


def reached(truth: FloatArray, ended: Ended) -> Row:
    """Per cell: whether it has a verdict; whether servers that differ by so much as the margin were told apart."""
    differs = np.abs(truth) > np.log1p(MARGIN) - 1e-9
    return {
        "decided": (ended.verdict != UNDECIDED).ravel().tolist(),
        "told_apart": (ended.verdict == DIFFERENT)[differs].tolist(),
        "rounds": ended.rounds.ravel().tolist(),
        "e_of_truth": ended.e_of_truth.ravel().tolist(),
    }


def counts(looks: Looks, ended: Ended, alpha: float, *, summed: bool) -> Row:
    """What is counted or collected; sums and lists over campaigns, so that chunks can be put together."""
    different, same = ended.verdict == DIFFERENT, ended.verdict == SAME
    null = looks.truth == 0
    counted: Row = {
        **errors(looks.truth, ended),
        "missed": ended.wrong.ravel().tolist(),
        "false_alarm": different[null].tolist(),
        "equal_same": same[null].tolist(),
        "rounds": ended.rounds.ravel().tolist(),
        "rounds_equal": ended.rounds[null].tolist(),
        "e_of_truth": ended.e_of_truth.ravel().tolist(),
        "lag1": _lag1(looks, ended),
    }
    for name, ratio in (("half", 1.005), ("one", 1.01), ("two", 1.02)):
        here = np.isclose(looks.truth, np.log(ratio))
        counted[f"{name}_found"] = different[here].tolist()
        counted[f"rounds_{name}"] = ended.rounds[here].tolist()
    if summed and looks.truth.shape[1] > 1:
        counted |= _summaries(looks, ended, alpha)
    return counted


def _share(of: BoolArray, among: BoolArray) -> list[float]:
    """Per campaign: wrong ones among those selected, 0 where none is."""
    return list((of & among).sum(axis=1) / np.maximum(among.sum(axis=1), 1))


def _lag1(looks: Looks, ended: Ended) -> list[bool]:
    """Whether successive rounds look correlated (beyond two standard errors), in the first cell's own rounds."""
    found = []
    for values, rounds in zip(looks.log_ratios[:, 0], ended.rounds[:, 0], strict=True):
        centred = values[:rounds] - values[:rounds].mean()
        r1 = float(centred[1:] @ centred[:-1] / (centred @ centred))
        found.append(r1 > 2 / np.sqrt(rounds))
    return found


def _summaries(looks: Looks, ended: Ended, alpha: float) -> Row:
    """The geometric mean over cells, of some campaigns: is the truth in it, and how wide is it; and of two others."""
    covered, widths, naive, naive_widths = [], [], [], []
    for number in range(min(_SUMMARIES, len(ended.rounds))):
        rounds = ended.rounds[number]
        cells = [
            CellRounds(looks.log_ratios[number, c, :n], looks.orders[c, :n]) for c, n in enumerate(rounds)
        ]
        mean = mean_of_cells(cells, alpha, Kind.ANYTIME)
        assert mean is not None
        truth = looks.truth[number].mean()
        covered.append(mean.low <= truth <= mean.high)
        widths.append((mean.high - mean.low) / 2)
        half = _NORMAL[alpha] * np.sqrt((ended.error[number] ** 2).sum()) / len(rounds)
        naive.append(abs(ended.effect[number].mean() - truth) <= half)
        naive_widths.append(half)
    return {
        "mean_covered": covered,
        "mean_half_width": widths,
        "naive_covered": naive,
        "naive_half_width": naive_widths,
    }


_SUMMARIES = 500
_NORMAL = {0.05: 1.959964, 0.01: 2.575829}
"""For the interval not to use: the shown effects as if they were independent and the number of rounds fixed."""

_MEDIANS = (
    "rounds",
    "rounds_equal",
    "rounds_half",
    "rounds_one",
    "rounds_two",
    "mean_half_width",
    "naive_half_width",
)


def figures(parts: list[Row]) -> Row:
    found: Row = {}
    for name in parts[0]:
        values = np.array([value for part in parts for value in part.get(name, ())], dtype=float)
        if not len(values):
            continue
        found[name] = float(np.median(values) if name in _MEDIANS else values.mean())
        if name.startswith("rounds"):
            found[f"{name}_p90"] = float(np.quantile(values, 0.9))
    return found
