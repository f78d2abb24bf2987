"""What the rounds of a cell say about one question, and the verdict that follows once it is known how sure one must be.

An answer knows no level: it can say at any level whether it would be a difference or SAME (`judge.family` asks),
and what its verdict is at the levels that came out.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

import numpy as np

from pgverdict.judge.decide import decide
from pgverdict.judge.estimate import Estimate, estimate, order_columns
from pgverdict.judge.evalue import log_e_value
from pgverdict.judge.failures import Failures, count_failures
from pgverdict.judge.family import Levels
from pgverdict.judge.forecast import Forecast, forecast
from pgverdict.judge.interval import Kind, interval
from pgverdict.judge.pulling import as_judged
from pgverdict.judge.values import Question, Values, values
from pgverdict.judge.verdict import Outcome, Verdict
from pgverdict.records.round import RoundRecord
from pgverdict.records.run import CellRecord
from pgverdict.spec.campaign import Campaign
from pgverdict.spec.metrics import metric


@dataclass(frozen=True)
class Answer:
    """One metric of one subject, a candidate against the baseline, over the rounds that have a value of it."""

    question: Question
    arms: tuple[str, str]
    typical: tuple[float, float]
    """The two arms' values, geometric means over rounds."""
    rounds: int
    pulled_in: int
    result: Estimate
    kind: Kind
    held_back: bool
    """The number of rounds is fixed and not reached. A verdict now and one then were two chances to be wrong."""
    failures: Failures
    margin: float
    confidence: float

    def different_at(self, alpha: float) -> bool:
        """Whether, by an interval at this level, there is a difference, SAME all the same or not."""
        outcome, detectable = self._outcome(alpha, alpha)
        return outcome in (Outcome.SLOWER, Outcome.FASTER) or detectable

    def same_at(self, alpha: float) -> bool:
        """Whether, by an interval at this level, the arms are SAME."""
        return self._outcome(alpha, alpha)[0] is Outcome.SAME

    def verdict(self, levels: Levels) -> Verdict:
        """At the levels that apply; its interval is at the one its outcome was found at."""
        outcome, detectable = self._outcome(levels.same, levels.different)
        withheld = (
            self.failures.withholds_same
            and self._from_intervals(levels.same, levels.different)[0] is Outcome.SAME
        )
        takes = self._forecast(levels) if outcome is Outcome.UNDECIDED and not withheld else None
        more = None if takes is None else takes.rounds
        alpha = {Outcome.SAME: levels.same, Outcome.UNDECIDED: min(levels.same, levels.different)}.get(
            outcome, levels.different
        )
        low, high = self._limits(alpha)
        return Verdict(
            metric=self.question.metric,
            subject=self.question.subject,
            baseline=self.arms[0],
            candidate=self.arms[1],
            baseline_value=self.typical[0],
            candidate_value=self.typical[1],
            effect=_exp(float(self.result.log_ratio)),
            low=_exp(low),
            high=_exp(high),
            confidence=self.confidence,
            margin=self.margin,
            outcome=outcome,
            detectable=detectable,
            rounds=self.rounds,
            alpha=alpha,
            e_value=math.nan if self.kind is Kind.FIXED else _e_value(self.result),
            round_sd=float(self.result.sd),
            more_rounds=self.failures.more_rounds if withheld else more,
            more_rounds_range=None if takes is None else (takes.low, takes.high),
            withheld=self.failures.reason if withheld else None,
            pulled_in=self.pulled_in,
        )

    def _outcome(self, same: float, different: float) -> tuple[Outcome, bool]:
        """SAME is withheld where too many rounds failed, and is then no claim of the family either."""
        outcome, detectable = self._from_intervals(same, different)
        if outcome is Outcome.SAME and self.failures.withholds_same:
            return Outcome.UNDECIDED, False
        return outcome, detectable

    def _from_intervals(self, same: float, different: float) -> tuple[Outcome, bool]:
        if self.held_back:
            return Outcome.UNDECIDED, False
        return decide(
            *self._limits(different),
            same=self._limits(same),
            margin=self.margin,
            better=metric(self.question.metric).better,
            rounds=self.rounds,
        )

    def _limits(self, alpha: float) -> tuple[float, float]:
        low, high = interval(self.result, alpha, self.kind)
        return float(low), float(high)

    def _forecast(self, levels: Levels) -> Forecast | None:
        return forecast(
            self.result,
            rounds=self.rounds,
            alpha=levels.next_different,
            alpha_same=levels.next_same,
            margin=self.margin,
            kind=self.kind,
        )


def answer(cell: CellRecord, campaign: Campaign, candidate: int, question: Question) -> Answer:
    """Of all measured rounds that have a value of it on both arms."""
    used = [
        (record, value)
        for record in cell.measured
        if (value := values(record, question, clients=cell.spec.clients, candidate=candidate)) is not None
    ]
    kind = interval_kind(cell.measured, campaign)
    log_ratios = np.array([value.log_ratio for _, value in used], dtype=np.float64)
    judged = as_judged(question.metric, log_ratios)
    return Answer(
        question=question,
        arms=(campaign.arms[0].name, campaign.arms[candidate].name),
        typical=_typical_values([value for _, value in used]),
        rounds=len(used),
        pulled_in=int((judged != log_ratios).sum()),
        result=estimate(judged, order_columns([record.plan for record, _ in used], candidate)),
        kind=kind,
        held_back=campaign.rounds is not None and kind is Kind.ANYTIME,
        failures=count_failures(cell, candidate),
        margin=campaign.margin,
        confidence=campaign.confidence,
    )


def interval_kind(measured: Sequence[RoundRecord], campaign: Campaign) -> Kind:
    """The narrow interval only for the very number of rounds that was chosen beforehand."""
    return Kind.FIXED if campaign.rounds is not None and len(measured) == campaign.rounds else Kind.ANYTIME


def _e_value(result: Estimate) -> float:
    if not result.known:
        return 1.0  # the rounds cannot tell, so they have not spoken against "no change" either
    error = float(result.standard_error)
    effect = float(result.log_ratio)
    t = effect / error if error > 0 else (math.inf if effect else 0.0)
    return _exp(float(log_e_value(np.array(t), df=result.df, information=result.information)))


def _typical_values(used: Sequence[Values]) -> tuple[float, float]:
    if not used:
        return math.nan, math.nan
    return (
        math.exp(fmean(math.log(value.baseline) for value in used)),
        math.exp(fmean(math.log(value.candidate) for value in used)),
    )


def _exp(logarithm: float) -> float:
    try:
        return math.exp(logarithm)
    except OverflowError:
        return math.inf
