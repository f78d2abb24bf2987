"""The verdicts of a cell, and of a run: the whole of `judge` in one paragraph, `judge_question`.

Pure and without chance: the same records give the same verdicts. Verdicts are never stored truths; they are
made again from the rounds whenever somebody wants them.
"""

import math
from collections.abc import Sequence
from statistics import fmean

import numpy as np

from pgverdict.judge.alpha import Alphas, cell_alphas
from pgverdict.judge.decide import decide, more_rounds
from pgverdict.judge.estimate import Estimate, estimate, order_columns
from pgverdict.judge.evalue import log_e_value
from pgverdict.judge.interval import Kind, interval
from pgverdict.judge.values import Question, Values, values
from pgverdict.judge.verdict import Outcome, Verdict
from pgverdict.records.round import RoundRecord
from pgverdict.records.run import CellRecord, RunRecord
from pgverdict.spec.campaign import Campaign
from pgverdict.spec.metrics import metric


def judge_run(run: RunRecord) -> tuple[tuple[Verdict, ...], ...]:
    """Every cell's verdicts, in the order of the run's cells."""
    baseline, candidate = (arm.name for arm in run.campaign.arms)
    return tuple(
        judge_cell(cell, run.campaign, (baseline, candidate), cell_alphas(cell, run.campaign))
        for cell in run.cells
    )


def judge_cell(
    cell: CellRecord, campaign: Campaign, arms: tuple[str, str], alphas: Alphas
) -> tuple[Verdict, ...]:
    """One verdict per question that has a share of alpha, the primary first (`alpha.cell_alphas`)."""
    return tuple(judge_question(cell, campaign, arms, question, alpha) for question, alpha in alphas.items())


def is_decided(verdicts: Sequence[Verdict]) -> bool:
    """Whether the cell's primary metric is; it alone ends a cell."""
    return verdicts[0].outcome is not Outcome.UNDECIDED


def judge_question(
    cell: CellRecord, campaign: Campaign, arms: tuple[str, str], question: Question, alpha: float
) -> Verdict:
    """One metric of one subject over all measured rounds that have a value of it."""
    used = [
        (record, value)
        for record in cell.measured
        if (value := values(record, question, clients=cell.spec.clients, regime=cell.regime)) is not None
    ]
    kind = _kind(cell.measured, campaign)
    result = estimate(
        np.array([value.log_ratio for _, value in used], dtype=np.float64),
        order_columns([record.plan for record, _ in used]),
    )
    low, high = (float(limit) for limit in interval(result, alpha, kind))
    outcome, detectable = decide(
        low, high, margin=campaign.margin, better=metric(question.metric).better, rounds=len(used)
    )
    if campaign.rounds is not None and kind is Kind.ANYTIME:
        # Two chances to be wrong, before the chosen number and at it, would be twice the alpha.
        outcome, detectable = Outcome.UNDECIDED, False
    forecast = None
    if outcome is Outcome.UNDECIDED:
        forecast = more_rounds(result, rounds=len(used), alpha=alpha, margin=campaign.margin, kind=kind)
    baseline_value, candidate_value = _typical_values([value for _, value in used])
    return Verdict(
        metric=question.metric,
        subject=question.subject,
        baseline=arms[0],
        candidate=arms[1],
        baseline_value=baseline_value,
        candidate_value=candidate_value,
        effect=_exp(float(result.log_ratio)),
        low=_exp(low),
        high=_exp(high),
        confidence=campaign.confidence,
        margin=campaign.margin,
        outcome=outcome,
        detectable=detectable,
        rounds=len(used),
        alpha=alpha,
        e_value=math.nan if kind is Kind.FIXED else _e_value(result),
        round_sd=float(result.sd),
        more_rounds=forecast,
    )


def _kind(measured: Sequence[RoundRecord], campaign: Campaign) -> Kind:
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
