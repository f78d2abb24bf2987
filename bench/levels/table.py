"""What the rounds under each treatment say: how far they scatter, and where that comes from. Pure but for `read`.

What counts is the standard deviation of a round's log ratio: with 0.7 % instead of 1 % the same verdict takes half
the rounds. A treatment is compared with the plain rounds of the same days, with which it took turns. Where many rounds
are needed, the time to a verdict is the variance by the seconds of a round. Limits take the noise to be normal; with
heavier tails the truth lies outside more often than they say.
"""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median

from scipy import stats

from bench.verdicts.noise import Components, components
from bench.verdicts.page import facts, markdown_table
from bench.verdicts.recorded import Repetition, read_all
from pgverdict.judge.decide import ROUNDS_MIN

from .treatments import TREATMENTS

METRICS = ("latency_us_p50", "latency_us_mean", "server_cpu_us_per_txn")

TITLE = """# Levels: where the scatter of rounds comes from

This page is made by `./x bench levels` from the files beside it; bench/README.md says how to measure and how to read
them.
"""

HEAD = (
    "treatment", "rounds", "seconds", "metric", "round [90 %]", "variance against plain of the same days [90 %]",
    "time to a verdict against plain", "within a start", "between starts", "started first takes longer by [95 %]",
)  # fmt: skip


def read(results: Path) -> dict[str, list[Repetition]]:
    """All runs of each treatment that hold a whole block of orders."""
    return {
        one.name: [kept for kept in read_all(results / one.name) if len(kept.measured()) >= ROUNDS_MIN]
        for one in TREATMENTS
    }


def table(recorded: Mapping[str, Sequence[Repetition]]) -> str:
    """The page: a row per treatment and metric, and per day of one that others are held against.

    Treatments without rounds are left out.
    """
    rows: list[tuple[str, ...]] = [HEAD]
    for name, against, repetitions in _rows(recorded):
        for metric in METRICS:
            found = components(repetitions, metric)
            variance = time = ""
            beside = of_the_same_days(recorded.get(against, ()), repetitions)
            if beside and repetitions[0] not in beside:
                plain = components(beside, metric)
                variance = _against(found, plain)
                seconds = round_s(repetitions) / round_s(beside)
                time = f"{(found.round_sd / plain.round_sd) ** 2 * seconds:.2f}"
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


def _rows(recorded: Mapping[str, Sequence[Repetition]]) -> list[tuple[str, str, Sequence[Repetition]]]:
    """What a row is about, what it is held against, and its runs; those that others are held against, day by day."""
    found: list[tuple[str, str, Sequence[Repetition]]] = []
    for one in TREATMENTS:
        repetitions = recorded.get(one.name, ())
        days = sorted({repetition.begun[:10] for repetition in repetitions})
        if one.name == one.against and len(days) > 1:
            of = {day: [r for r in repetitions if r.begun[:10] == day] for day in days}
            found += [(f"`{one.name}`, {day}", one.against, of[day]) for day in days]
        elif repetitions:
            found.append((f"`{one.name}`", one.against, repetitions))
    return found


def of_the_same_days(plain: Sequence[Repetition], treated: Sequence[Repetition]) -> list[Repetition]:
    """The plain runs that took turns with these: the host's noise differs by more between days than treatments do."""
    days = {one.begun[:10] for one in treated}
    return [one for one in plain if one.begun[:10] in days]


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
