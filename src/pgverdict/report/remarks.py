"""What is said of a cell beside its verdicts: which arm scatters more, and what in its rounds no interval covers."""

from collections.abc import Iterator
from dataclasses import dataclass

from pgverdict.judge import shape
from pgverdict.judge.shape import Check, findings
from pgverdict.judge.spread import Spread
from pgverdict.report import words


@dataclass(frozen=True)
class Remarked:
    """A cell and candidate, as far as remarks are about it. `arms` is how the two are called."""

    primary: str
    arms: tuple[str, str]
    numbers: tuple[int, ...]
    """The rounds that have a value of the primary metric, as the report numbers them."""
    stalled: tuple[int, int]
    """How many of these rounds a stall hit, per arm."""
    spread: Spread | None
    checks: tuple[Check, ...]


def remarks(cell: Remarked) -> Iterator[str]:
    """Sentences without a full stop."""
    if cell.spread is not None:
        yield _spread(cell.spread, cell.arms)
    found = findings(cell.checks)
    for finding in found:
        yield _finding(finding, cell)
    if any(cell.stalled) and not any(finding.name == shape.STALLS for finding in found):
        yield f"{_stalls(cell)}: no more than chance may make of equal servers"


def _spread(spread: Spread, arms: tuple[str, str]) -> str:
    baseline, candidate = arms
    return (
        f"between rounds {candidate} scatters {_times(spread.ratio)} times as much as {baseline},"
        f" {words.confidence_words(spread.confidence)} interval {_times(spread.low)} to {_times(spread.high)}"
        " (for one look at the end of the run; it decides nothing)"
    )


def _finding(finding: Check, cell: Remarked) -> str:
    baseline, candidate = cell.arms
    arm = {shape.BASELINE_ARM: baseline, shape.CANDIDATE_ARM: candidate}.get(finding.subject)
    what = words.title(cell.primary)
    match finding.name:
        case shape.DRIFT if arm is None:
            return (
                f"the effect drifted: from the first round to the last it moved by {_moved(finding)};"
                " the interval is about an average of this run"
            )
        case shape.DRIFT:
            return f"{what} of {arm} drifted by {_moved(finding)} from the first round to the last"
        case shape.CORRELATION:
            return (
                f"neighbouring rounds are alike (correlation {finding.strength:.2f}, between {finding.low:.2f} and"
                f" {finding.high:.2f}): the intervals are surer of themselves than they should be"
            )
        case shape.MODES:
            return (
                f"rounds fall into two groups (dip {finding.strength:.2f}): the effect is an average of two,"
                " and no single server start shows it"
            )
        case shape.TREND if arm is None:
            return f"within a round the effect moves by {_moved(finding)}: it depends on how long a round is"
        case shape.TREND:
            return (
                f"within a round the time of a transaction of {arm} moves by {_moved(finding)}:"
                " its warm-up was not over, or its data changes"
            )
        case shape.OUTLIER:
            assert finding.at is not None
            return (
                f"round {cell.numbers[finding.at]} lies {finding.strength:.0f} standard deviations from the others:"
                " rare events are part of this cell, and the interval knows little of them"
            )
        case shape.CYCLES:
            most, least = (candidate, baseline) if finding.strength > 0 else (baseline, candidate)
            return (
                f"{most} goes through more {finding.subject} than {least} in the same time, by"
                f" {abs(finding.strength):.1f} in a round: part of the effect may be how often they come"
            )
    assert finding.name == shape.STALLS, f"no sentence for finding: {finding.name}"
    return f"{_stalls(cell)}: more than chance makes of equal servers"


def _stalls(cell: Remarked) -> str:
    baseline, candidate = cell.arms
    hit = [words.count(number, "round") for number in cell.stalled]
    return f"stalls hit {hit[1]} of {candidate} and {hit[0]} of {baseline}"


def _moved(finding: Check) -> str:
    """'+5.10 % (between +2.96 and +7.24)'."""
    moved = words.percent(finding.strength)
    if finding.low is None or finding.high is None:
        return moved
    return f"{moved} (between {words.limit(finding.low)} and {words.limit(finding.high)})"


def _times(ratio: float) -> str:
    if ratio > words.RATIO_MAX:
        return f"more than {words.RATIO_MAX}"
    return f"{ratio:.2f}" if ratio >= 0.01 else "less than 0.01"
