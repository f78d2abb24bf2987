"""Everything the recorded repetitions say, as one page of Markdown. Pure: the same files give the same page."""

import math
from collections.abc import Mapping, Sequence

import numpy as np

from pgverdict.judge.decide import ROUNDS_MIN
from pgverdict.judge.levels import Component
from pgverdict.judge.neighbours import Likeness
from pgverdict.judge.resolving import ALARM_RUNS, exact_limits
from pgverdict.spec.campaign import primary_metrics

from .figures import Figures, figures, standing
from .lines import CONFIDENCE, EQUAL_SERIES, LINES, PROMISES, RECOVERIES, Line, line
from .noise import components, mean_noise, neighbours
from .recorded import Repetition
from .recovery import proportion, recovery
from .repetitions import rows as rows_of
from .resampling import Alarms, cut, resampled

Recorded = Mapping[str, Sequence[Repetition]]
"""Repetitions by the name of their line."""

LENGTH = 100
SEED = 20261121

TITLE = """# Verdicts: what was measured

This page is made by `./x bench verdicts` from the files beside it; bench/README.md says how to measure and how to read
them. Time is the wall time of the rounds with all starts; a wrong verdict or none within the cap counts as for ever.
"""


def page(recorded: Recorded, *, runs: int = ALARM_RUNS) -> str:
    """The whole page. `runs`: how many are made of a series, per metric."""
    parts = [
        TITLE,
        facts(recorded),
        _missing(recorded),
        _table(recorded),
        _every_one(recorded),
        _false_alarms(recorded, runs),
        _noise(recorded),
        _recoveries(recorded),
    ]
    return "\n".join(part for part in parts if part)


def facts(recorded: Recorded) -> str:
    """When, where, of what, and how much was measured."""
    every = [one for repetitions in recorded.values() for one in repetitions]
    if not every:
        return "Nothing has been measured.\n"
    hosts = sorted({_host(one.host) for one in every})
    servers = sorted({version for one in every for version in one.servers})
    days = sorted({one.begun[:10] for one in every})
    revisions = sorted({one.revision for one in every})
    lines = [
        f"- measured: {days[0]}" + (f" to {days[-1]}" if len(days) > 1 else ""),
        f"- on: {'; '.join(hosts)}",
        f"- PostgreSQL {', '.join(servers)}; revisions {', '.join(revisions)}",
        f"- {sum(len(one.rounds) for one in every)} rounds in {len(every)} runs,"
        f" {sum(one.seconds for one in every) / 3600:.1f} hours",
    ]
    return "\n".join(lines) + "\n"


def _series(recorded: Recorded, name: str) -> list[Repetition]:
    """Those that hold a whole block of orders: a series that was given up at once says nothing about noise."""
    return [one for one in recorded.get(name, ()) if len(one.measured()) >= ROUNDS_MIN]


def _missing(recorded: Recorded) -> str:
    wanted = [(one, len(recorded.get(one.name, ()))) for one in LINES]
    lines = [f"`{one.name}` {done} of {one.repetitions}" for one, done in wanted if done < one.repetitions]
    return f"Incomplete, repetitions so far: {', '.join(lines)}.\n" if lines else "All lines are complete.\n"


def _host(facts: Mapping[str, str]) -> str:
    gib = int(facts["memory_bytes"]) / 2**30
    return f"{facts['processor']}, {facts['cores']} cores, {gib:.0f} GiB, {facts['system']}"


def _table(recorded: Recorded) -> str:
    rows: list[tuple[str, ...]] = [
        (
            "line", "what", "goal: median / 90th", "measured: median / 90th", "rounds", "right / wrong / open",
            "injected", "interval holds it", "judged alike", "prototype", "stands",
        )
    ]  # fmt: skip
    for one in PROMISES:
        found = figures(one, recorded[one.name]) if recorded.get(one.name) else None
        rows.append(
            (
                f"`{one.name}`",
                one.title,
                _goal(one),
                *_measured(one, found),
                one.prototype,
                standing(one, found),
            )
        )
    return "## Time to the right verdict\n\n" + markdown_table(rows)


def _every_one(recorded: Recorded) -> str:
    """Of the lines with a goal: where a noisy hour of the host explains a time, it is seen."""
    every = [one for promise in PROMISES for one in recorded.get(promise.name, ())]
    return "### Every repetition\n\n" + markdown_table(rows_of(every)) if every else ""


def _goal(one: Line) -> str:
    assert one.goal_s is not None, one.name
    goal_median, goal_p90 = one.goal_s
    return f"{goal_median:.0f} s / " + (f"{goal_p90:.0f} s" if goal_p90 else "-")


def _measured(one: Line, found: Figures | None) -> tuple[str, ...]:
    if found is None:
        return ("",) * 6
    return (
        f"{_seconds(found.median_s)} / {_seconds(found.p90_s)}",
        f"{found.rounds_median:.0f}",
        f"{found.right} / {found.wrong} / {found.open}",
        f"{found.injected * 100:.2f} %" if one.injected else "-",
        f"{found.held} of {found.repetitions}" if one.is_truth_known else "-",
        f"{found.judged_alike} of {found.repetitions}",
    )


def _seconds(value: float) -> str:
    return f"{value:.0f} s" if math.isfinite(value) else "never"


def _false_alarms(recorded: Recorded, runs: int) -> str:
    parts = []
    live = recorded.get("equal", ())
    if live:
        wrong = figures(line("equal"), live).wrong
        most = _at_most(wrong, len(live))
        parts.append(
            f"{wrong} of {len(live)} whole live runs of equal servers ended SLOWER or FASTER: at most {_percent(most)}"
            " (exact one-sided 95 % limit of Clopper and Pearson).\n"
        )
    for one in EQUAL_SERIES:
        repetitions = _series(recorded, one.name)
        if repetitions:
            parts.append(_series_alarms(one, repetitions, runs))
    return "## False alarms\n\n" + "\n".join(parts) if parts else ""


def _series_alarms(one: Line, repetitions: Sequence[Repetition], runs: int) -> str:
    stretches = [repetition.measured() for repetition in repetitions]
    rounds = [r for stretch in stretches for r in stretch]
    primary = repetitions[0].cells[0].primary
    # What the primary of a run with one cell gets; the same for whichever metric is declared.
    alpha = 1 - CONFIDENCE
    rows = [
        ("metric", "lag-1 correlation", "in sequence: false of runs", f"resampled: false at alpha {alpha:g}",
         "ever different", "false at alpha 0.05", "ever different", "half have a verdict (margin 1 %) after")
    ]  # fmt: skip
    for name in primary_metrics():
        together = neighbours(stretches, name)
        as_measured = cut(stretches, name, alpha=alpha, margin=0.01)
        strict, loose = (
            resampled(rounds, name, alpha=level, margin=0.01, runs=runs, length=LENGTH,
                      random=np.random.default_rng(SEED))
            for level in (alpha, 0.05)
        )  # fmt: skip
        rows.append(
            (
                f"`{name}`" + (" (primary)" if name == primary else ""),
                _likeness(together),
                _limit(as_measured),
                *_rates(strict),
                *_rates(loose),
                _verdict_after(strict),
            )
        )
    return (
        f"### `{one.name}`: {len(rounds)} rounds in {len(repetitions)} runs\n\n"
        f"Resampled: {runs} runs of {LENGTH} rounds per metric, labels of the servers flipped at random, looked"
        " at after every round. The correlation is what goes beyond that of independent rounds, which 95 of 100 times"
        " is within its +-.\n\n" + markdown_table(rows)
    )


def _likeness(found: Likeness | None) -> str:
    return f"{found.correlation:+.2f} +- {1.96 * found.sd:.2f}" if found else "-"


def _limit(found: Alarms | None) -> str:
    if found is None:
        return "-"
    false = found.false_verdicts
    return f"{false.count} of {false.runs} (at most {_percent(_at_most(false.count, false.runs))})"


def _at_most(count: int, runs: int) -> float:
    """The one-sided 95 % limit is the upper end of the two-sided interval of 90 %."""
    return exact_limits(count, runs, sureness=0.9)[1]


def _rates(found: Alarms | None) -> tuple[str, str]:
    if found is None:
        return "-", "-"
    return _percent(found.false_verdicts.share), _percent(found.ever_different.share)


def _verdict_after(found: Alarms | None) -> str:
    return f"{found.rounds_p50:.0f} rounds" if found and found.rounds_p50 is not None else "-"


def _noise(recorded: Recorded) -> str:
    parts = []
    for one in EQUAL_SERIES:
        repetitions = _series(recorded, one.name)
        if repetitions:
            rows: list[tuple[str, ...]] = [
                (
                    "metric",
                    "round",
                    "within a start",
                    "between starts",
                    "between loads (at most)",
                    "between installs (at most)",
                )
            ]
            for name in ("latency_us_p50", "latency_us_mean"):
                c = components(repetitions, name)
                parted = map(_percent, (c.round_sd, c.within_sd, c.start_sd))
                rows.append((f"`{name}`", *parted, _component(c.loads), _component(c.installs)))
            parts += [f"### `{one.name}`\n", markdown_table(rows), _mean_words(repetitions)]
    head = (
        "## Noise\n\nStandard deviations of a round's log ratio, orders accounted for; between loads and between"
        " installs, of one arm.\n\n"
    )
    return head + "\n".join(parts) if parts else ""


def _component(found: Component | None) -> str:
    return f"{_percent(found.sd)} ({_percent(found.sd_high)})" if found else "-"


def _mean_words(repetitions: Sequence[Repetition]) -> str:
    found = mean_noise([r for one in repetitions for r in one.measured()])
    rows = [
        ("ratio of", "scatter"),
        ("means", _percent(found.mean_sd)),
        ("means without the longest transaction of every slice", _percent(found.without_longest_sd)),
        ("means without each arm's two slowest slices", _percent(found.without_worst_slices_sd)),
        ("medians over slices of their means", _percent(found.median_of_slices_sd)),
        ("medians (the typical latency)", _percent(found.typical_sd)),
    ]
    return (
        f"What the noise of the mean is made of ({found.rounds} rounds; the correlation of a round's mean and typical"
        f" latency is {found.correlation:.2f}; the longest transactions of the slices are"
        f" {_percent(found.longest_share)} of all busy time):\n\n" + markdown_table(rows)
    )


def _recoveries(recorded: Recorded) -> str:
    found = [recovery(kept) for one in RECOVERIES if (kept := _series(recorded, one.name))]
    if not found:
        return ""
    rows = [
        ("injected (spun)", "rounds", "spun", "median differs by", "mean differs by", "estimate (95 %)",
         "95 % / 99 % interval holds it", "of the runs' own intervals, 95 % / 99 %", "found / injected")
    ]  # fmt: skip
    for r in found:
        rows.append(
            (
                _percent(math.expm1(r.injected)), str(r.rounds), f"{r.spun_ns:.0f} ns", f"{r.found_ns:.0f} ns",
                f"{r.found_mean_ns:.0f} ns", f"{_percent(math.expm1(r.estimate))} +- {_percent(r.half_95)}",
                f"{_yes(r.held_95)} / {_yes(r.held_99)}",
                f"{r.parts_held_95} / {r.parts_held_99} of {r.parts}",
                f"{r.estimate / r.injected:.2f} +- {r.half_95 / r.injected:.2f}",
            )
        )  # fmt: skip
    text = "## Recovery of what was injected\n\n" + markdown_table(rows)
    if len(found) > 1:
        line_through = proportion(found)
        text += (
            f"\nOver all of them: found = {line_through.share:.3f} (+- {1.96 * line_through.share_sd:.3f}) x injected"
            f" {line_through.offset * 100:+.2f} % (+- {1.96 * line_through.offset_sd * 100:.2f} %), 95 %.\n"
        )
    return text


def _yes(held: bool) -> str:
    return "yes" if held else "no"


def _percent(share: float) -> str:
    if not math.isfinite(share):
        return "-"
    return f"{share * 100:.2f} %"


def markdown_table(rows: Sequence[Sequence[str]]) -> str:
    """The first row is the head."""
    head, *rest = rows
    lines = [head, ["---"] * len(head), *rest]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)
