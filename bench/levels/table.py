"""What the rounds under each treatment say: how far they scatter, and where that comes from. Pure but for `read`.

What counts is the standard deviation of a round's log ratio: with 0.7 % instead of 1 % the same verdict takes half
the rounds. A treatment is compared with the plain rounds with which it took turns. Where many rounds are needed, the
time to a verdict is the variance by the seconds of a round. Limits take the noise to be normal; with heavier tails the
truth lies outside more often than they say.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from statistics import median

from scipy import stats

from bench.verdicts.noise import Components, components
from bench.verdicts.page import facts, markdown_table
from bench.verdicts.recorded import Repetition, read_all
from pgverdict.judge.decide import ROUNDS_MIN

from .treatments import TREATMENTS

GAP = timedelta(minutes=30)
"""A run is over in two minutes, so that a longer pause than this was no turn of another treatment."""

METRICS = ("latency_us_p50", "latency_us_mean", "server_cpu_us_per_txn")

TITLE = """# Levels: where the scatter of rounds comes from

This page is made by `./x bench levels` from the files beside it; bench/README.md says how to measure and how to read
them.
"""

HEAD = (
    "treatment", "rounds", "seconds", "metric", "round [90 %]", "variance against plain of the same hours [90 %]",
    "time to a verdict against plain", "within a start", "between starts", "started first takes longer by [95 %]",
)  # fmt: skip


def read(results: Path) -> dict[str, list[Repetition]]:
    """All runs of each treatment that hold a whole block of orders."""
    return {
        one.name: [kept for kept in read_all(results / one.name) if len(kept.measured()) >= ROUNDS_MIN]
        for one in TREATMENTS
    }


def table(recorded: Mapping[str, Sequence[Repetition]]) -> str:
    """The page: a row per treatment and metric, and per sitting of one that others are held against.

    Treatments without rounds are left out.
    """
    rows: list[tuple[str, ...]] = [HEAD]
    sitting = sittings([one.begun for repetitions in recorded.values() for one in repetitions])
    for name, against, repetitions in _rows(recorded, sitting):
        for metric in METRICS:
            found = components(repetitions, metric)
            variance = time = ""
            beside = _of_the_same(sitting, recorded.get(against, ()), repetitions)
            if beside and repetitions[0] not in beside:
                in_turn = _of_the_same(sitting, repetitions, beside)
                treated, plain = components(in_turn, metric), components(beside, metric)
                variance = _against(treated, plain)
                seconds = round_s(in_turn) / round_s(beside)
                time = f"{(treated.round_sd / plain.round_sd) ** 2 * seconds:.2f}"
            started = found.orders[0]
            rows.append(
                (
                    name, str(found.rounds), f"{round_s(repetitions):.2f}", f"`{metric}`",
                    _scatter(found), variance, time, _percent(found.within_sd), _percent(found.start_sd),
                    f"{started.effect:+.2%} [{started.low:+.2%}, {started.high:+.2%}]",
                )
            )  # fmt: skip
    said = [f"- `{one.name}`: {one.line.title}" for one in TREATMENTS if recorded.get(one.name)]
    return "\n".join([TITLE, facts(recorded), *([*said, "", markdown_table(rows)] if said else [])])


def _rows(
    recorded: Mapping[str, Sequence[Repetition]], sitting: Mapping[str, str]
) -> list[tuple[str, str, Sequence[Repetition]]]:
    """What a row is about, what it is held against, and its runs; those that others are held against by sitting."""
    found: list[tuple[str, str, Sequence[Repetition]]] = []
    for one in TREATMENTS:
        repetitions = recorded.get(one.name, ())
        sat = sorted({sitting[repetition.begun] for repetition in repetitions})
        if one.name == one.against and len(sat) > 1:
            of = {begin: [r for r in repetitions if sitting[r.begun] == begin] for begin in sat}
            found += [
                (f"`{one.name}`, {begin[:16].replace('T', ' ')}", one.against, of[begin]) for begin in sat
            ]
        elif repetitions:
            found.append((f"`{one.name}`", one.against, repetitions))
    return found


def sittings(begun: Iterable[str]) -> dict[str, str]:
    """When the sitting of each run began, by when the run did: a pause of more than GAP ends one.

    >>> set(sittings(["2026-11-01T12:00", "2026-11-01T12:20", "2026-11-01T12:51"]).values())
    {'2026-11-01T12:00', '2026-11-01T12:51'}
    """
    found: dict[str, str] = {}
    before = begin = ""
    for one in sorted(begun):
        if not before or datetime.fromisoformat(one) - datetime.fromisoformat(before) > GAP:
            begin = one
        found[one], before = begin, one
    return found


def _of_the_same(
    sitting: Mapping[str, str], runs: Sequence[Repetition], others: Sequence[Repetition]
) -> list[Repetition]:
    """The runs that took turns with the others: the host's noise differs by more between hours than treatments do."""
    sat = {sitting[one.begun] for one in others}
    return [one for one in runs if sitting[one.begun] in sat]


def round_s(repetitions: Sequence[Repetition]) -> float:
    """What a round takes: the median, in seconds."""
    return median(r.seconds for one in repetitions for r in one.measured())


def _scatter(found: Components) -> str:
    """The standard deviation with its limits by chi-square."""
    low, high = (
        found.round_sd * math.sqrt(found.df / float(stats.chi2.ppf(p, found.df))) for p in (0.95, 0.05)
    )
    return f"{found.round_sd:.2%} [{low:.2%}, {high:.2%}]"


def _against(found: Components, plain: Components) -> str:
    """The ratio of variances with its limits by F."""
    ratio = (found.round_sd / plain.round_sd) ** 2
    low, high = (ratio / float(stats.f.ppf(p, found.df, plain.df)) for p in (0.95, 0.05))
    return f"{ratio:.2f} [{low:.2f}, {high:.2f}]"


def _percent(share: float) -> str:
    return f"{share:.2%}" if math.isfinite(share) else "-"
