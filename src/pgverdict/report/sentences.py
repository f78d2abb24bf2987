"""What is said of a verdict, a trend, a summary and a run, as sentences: the same in every format.

Without full stops, so that they can go on.
"""

import math

from pgverdict.judge.decide import MORE_ROUNDS_MAX, ROUNDS_MIN
from pgverdict.judge.summary import Summary
from pgverdict.judge.trend import Trend
from pgverdict.judge.verdict import Outcome, Verdict
from pgverdict.report.words import (
    RATIO_MAX,
    bound,
    confidence_words,
    count,
    has_interval,
    has_limits,
    interval,
    listed,
    margin_words,
    percent,
    roughly,
    slowdown,
    title,
)
from pgverdict.spec.cache import Cache
from pgverdict.spec.campaign import CellSpec


def replication(*, loads: int, installs: int, same_loads: bool, same_installs: bool) -> str:
    """What was replicated besides starts, and what its luck does, without a full stop.

    >>> replication(loads=8, installs=3, same_loads=False, same_installs=False)
    "each arm's data came from 8 independent loads and 3 installs: how much others would differ is in no interval"
    >>> replication(loads=8, installs=3, same_loads=True, same_installs=True)
    'both arms took turns on the same 8 independent loads and 3 installs, so that the luck of these cancels'
    """
    said_loads = count(loads, "independent load")
    said_installs = count(installs, "install") if installs > 1 else "one install"
    unknown = "how much others would differ is in no interval"
    if same_loads and same_installs:
        return f"both arms took turns on the same {said_loads} and {said_installs}, so that the luck of these cancels"
    if same_loads:
        return (
            f"both arms took turns on the same {said_loads}, so that the luck of these cancels;"
            f" each arm had {said_installs} of its own: {unknown}"
        )
    if same_installs:
        return (
            f"both arms took turns on the same {said_installs}; each arm's data came from {said_loads} of its own:"
            f" {unknown}"
        )
    return f"each arm's data came from {said_loads} and {said_installs}: {unknown}"


def trend_sentence(trend: Trend, spec: CellSpec, labels: tuple[str, ...], *, work: str | None = None) -> str:
    """'17.7 to 18.1 on ...: +0.40 % per release', with its interval and without a full stop."""
    over = f"Trend of {title(trend.metric)} on {work or spec.workload} over {listed(labels)}"
    if not math.isfinite(trend.effect):
        return f"{over}: too little to go by after {count(trend.rounds, 'round')}"
    said = f"{over}: {percent(trend.effect)} per release"
    if not has_interval(trend):
        return f"{said} after {count(trend.rounds, 'round')}, too few for an interval"
    return f"{said}, {confidence_words(trend.confidence)} interval {interval(trend)} %"


def change_words(verdict: Verdict) -> str:
    """The effect and its interval: '2.1 % slower, between 1.6 and 2.6 %'."""
    if not math.isfinite(verdict.effect):
        return "not yet known"
    said = _Change(verdict)
    if not has_interval(verdict):
        return said.effect()
    return f"{said.effect()}, {said.between()}"


def headline(
    verdict: Verdict,
    spec: CellSpec,
    arms: tuple[str, str],
    seconds_per_round: float,
    *,
    held_back: str | None = None,
    work: str | None = None,
) -> str:
    """The verdict of a cell as a sentence, without a full stop. `arms` is how they are called, `work` how its work is
    (None: as the workload).

    `held_back`: why the cell is UNDECIDED by rule, whatever its interval: 'stopped before its 20 rounds'.
    """
    baseline, candidate = arms
    regime = f", {spec.regime.value} regime" if spec.regime else ""
    cold = ", cold" if spec.cache is Cache.COLD else ""
    on = f"on {work or spec.workload} ({title(verdict.metric)}{regime}{cold})"
    sure = f"{confidence_words(verdict.confidence)} sure"
    said = _Change(verdict)
    match verdict.outcome:
        case Outcome.SLOWER | Outcome.FASTER:
            return f"{candidate} is {said.effect(than=baseline)} {on}, {said.between()}, {sure}"
        case Outcome.SAME:
            within = f"to within {margin_words(verdict.margin)}"
            none = f"no difference above {bound(verdict)} %"
            sentence = f"{candidate} is as fast as {baseline} {on} {within}: {none}, {said.between()}, {sure}"
            return sentence + (
                "; the difference is detectable, and smaller than matters" * verdict.detectable
            )
        case Outcome.UNDECIDED:
            doubt = f"whether {candidate} is slower than {baseline} {on}"
            takes = _what_it_takes(verdict, seconds_per_round)
            if held_back is not None:
                return f"No verdict on {doubt}: {held_back}; {_so_far(verdict)}"
            if verdict.withheld is not None:
                return f"No verdict on {doubt}: {verdict.withheld}; {_so_far(verdict, sure)}{takes}"
            if verdict.rounds < ROUNDS_MIN:
                least = f"a verdict takes at least {count(ROUNDS_MIN, 'round')}"
                return f"No verdict yet on {doubt}: {least}; {_so_far(verdict)}{takes}"
            return f"Cannot tell yet {doubt}: {_so_far(verdict, sure)}{takes}"


def _so_far(verdict: Verdict, sure: str = "") -> str:
    rounds = count(verdict.rounds, "round")
    if not math.isfinite(verdict.effect):
        return f"too little to go by after {rounds}"
    said = _Change(verdict)
    if not has_interval(verdict):
        return f"{said.effect()} after {rounds}, too few for an interval"
    return f"{said.between()}, {sure}, after {rounds}" if sure else f"{said.between()} after {rounds}"


def _what_it_takes(verdict: Verdict, seconds_per_round: float) -> str:
    if verdict.more_rounds is None:
        known = math.isfinite(verdict.effect)
        return f"; more than {MORE_ROUNDS_MAX:,} further rounds would be needed" if known else ""
    rounds = verdict.rounds + verdict.more_rounds
    time = f", {roughly(rounds * seconds_per_round)} at this pace," if seconds_per_round else ""
    return f"; a run of about {count(rounds, 'round')}{time} would settle it{_range_of(verdict)}"


def _range_of(verdict: Verdict) -> str:
    """How far the forecast is to be trusted, where the verdict says so."""
    if verdict.more_rounds_range is None:
        return ""
    low, high = verdict.more_rounds_range
    most = f"{verdict.rounds + high:,}" if high is not None else f"more than {MORE_ROUNDS_MAX:,}"
    return f" (8 in 10: {verdict.rounds + low:,} to {most})"


class _Change:
    """An effect in words that know which direction is worse.

    From a factor of two on, a ratio is clearer than a percentage: '4.90 times as slow'.
    """

    def __init__(self, verdict: Verdict) -> None:
        self._verdict = verdict
        self._as_ratio = not 0.5 < verdict.effect < 2
        # Percentages of narrow intervals need a second decimal to differ.
        width = (verdict.high - verdict.low) * 100
        self._decimals = 2 if not math.isfinite(width) or width < 0.8 else 1

    def effect(self, than: str | None = None) -> str:
        """'2.1 % slower', 'than' whom if that is asked for."""
        word = self._direction(self._verdict.effect)
        if self._as_ratio:
            said = f"{self._ratio(self._verdict.effect)} times as {'slow' if word == 'slower' else 'fast'}"
            return said if than is None else f"{said} as {than}"
        said = f"{self._size(self._verdict.effect)} % {word}"
        return said if than is None else f"{said} than {than}"

    def between(self) -> str:
        """The interval: 'between 1.6 and 2.6 %', with directions where it contains no change."""
        low, high = self._verdict.low, self._verdict.high
        words = {self._direction(low), self._direction(high), self._direction(self._verdict.effect)}
        if self._as_ratio and len(words) == 1:
            first, last = sorted((low, high), key=lambda limit: float(self._ratio(limit)))
            if max(first, 1 / first) > RATIO_MAX:
                return f"more than {RATIO_MAX} times"
            return f"between {self._ratio(first)} and {self._limit_ratio(last)} times"
        ends = sorted((low, high), key=self._slowdown)
        if len(words) == 1:
            first, last = sorted(ends, key=lambda limit: abs(limit - 1))
            word = f" {words.pop()}" if self._verdict.outcome in (Outcome.SAME, Outcome.UNDECIDED) else ""
            return f"between {self._limit_size(first)} and {self._limit_size(last)} %{word}"
        worded = [f"{self._limit_size(limit)} % {self._direction(limit)}" for limit in ends]
        return f"between {listed(worded)}"

    def _slowdown(self, effect: float) -> float:
        return slowdown(self._verdict.metric, effect)

    def _direction(self, effect: float) -> str:
        return "slower" if self._slowdown(effect) > 1 else "faster"

    def _size(self, effect: float) -> str:
        return f"{abs(effect - 1) * 100:.{self._decimals}f}"

    def _limit_size(self, limit: float) -> str:
        kept = min(max(limit, 1 / RATIO_MAX), RATIO_MAX)
        return self._size(limit) if kept == limit else f"more than {abs(kept - 1) * 100:.0f}"

    def _ratio(self, effect: float) -> str:
        return f"{max(effect, 1 / effect):.2f}"

    def _limit_ratio(self, limit: float) -> str:
        return f"more than {RATIO_MAX}" if max(limit, 1 / limit) > RATIO_MAX else self._ratio(limit)


def promise(confidence: float, *, members: int) -> str:
    """What the confidence of a run is about; `members`: how many primary metrics are judged, cells times candidates.

    >>> promise(0.99, members=1).partition("; ")[0]
    'the verdict on the primary metric is wrong with a probability of at most 1 %'
    """
    wrong = confidence_words(1 - confidence)
    others = f"are all right together with at least {confidence_words(confidence)}"
    if members == 1:
        return (
            f"the verdict on the primary metric is wrong with a probability of at most {wrong};"
            f" those on the other metrics {others}"
        )
    return (
        f"of the differences claimed on primary metrics a share of at most {wrong} is expected to be wrong, and so it"
        f" is of the SAMEs; the verdicts on a cell's other metrics {others}, cell by cell"
    )


def summary_sentence(summary: Summary, arms: tuple[str, str]) -> str:
    """A candidate over all cells; `arms` is how baseline and candidate are called."""
    baseline, candidate = arms
    cells = count(summary.cells, "cell")
    if summary.cells < summary.cells_of_campaign:
        cells = f"{summary.cells} of {count(summary.cells_of_campaign, 'cell')}"
    start = f"{candidate} over {cells}, geometric mean of the primary metrics"
    basis = f"from the {count(summary.rounds, 'round')} that each of them has"
    if not math.isfinite(summary.slowdown):
        return f"{start}: not yet known"
    said = f"{start}: {_signed_slowdown(summary.slowdown)} than {baseline}"
    if not has_limits(summary.low, summary.high):
        return f"{said}, {basis}, too few for an interval"
    ends = f"{_signed_slowdown(summary.low)} and {_signed_slowdown(summary.high)}"
    return f"{said}, between {ends}, {confidence_words(summary.confidence)} sure, {basis}"


def _signed_slowdown(factor: float) -> str:
    """'1.20 % slower'; from a factor of two on, '2.40 times as slow'."""
    word, size = ("slower", factor) if factor >= 1 else ("faster", 1 / factor)
    if size >= 2:
        return f"{min(size, RATIO_MAX):.2f} times {word}"
    return f"{abs(factor - 1) * 100:.2f} % {word}"
