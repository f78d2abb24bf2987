"""The verdicts of a run: what every cell's rounds say, what that comes to together, and the verdicts that follow.

Pure and without chance: the same records give the same verdicts, in whatever order the cells are. Verdicts are
never stored truths; they are made again from the rounds whenever somebody wants them.

While a run lasts, `answer_cell` is what changes with a round, and `settle_run` tells whether that moved the levels
of the others.
"""

from collections.abc import Sequence

from pgverdict.judge.alpha import share_out
from pgverdict.judge.answer import Answer, answer
from pgverdict.judge.family import Family, Levels, settle
from pgverdict.judge.values import questions
from pgverdict.judge.verdict import Outcome, Verdict
from pgverdict.records.run import CellRecord, RunRecord
from pgverdict.spec.campaign import Campaign

CellAnswers = tuple[tuple[Answer, ...], ...]
"""What a cell's rounds say: per candidate, in the order of the campaign's arms, the primary's first."""

CellVerdicts = tuple[tuple[Verdict, ...], ...]
"""A cell's verdicts, in the same order."""


def judge_run(run: RunRecord) -> tuple[CellVerdicts, ...]:
    """Every cell's verdicts, in the order of the run's cells."""
    answers = [answer_cell(cell, run.campaign) for cell in run.cells]
    family = settle_run(answers, run.campaign)
    return tuple(judge_answers(answered, family) for answered in answers)


def judge_cell(cell: CellRecord, campaign: Campaign) -> CellVerdicts:
    """A cell as it would be judged if the other cells of its campaign had no verdict yet."""
    answers = answer_cell(cell, campaign)
    return judge_answers(answers, settle_run([answers], campaign))


def answer_cell(cell: CellRecord, campaign: Campaign) -> CellAnswers:
    """Every candidate of the cell against the baseline, on every question."""
    return tuple(
        tuple(answer(cell, campaign, candidate, question) for question in questions(cell, candidate))
        for candidate in campaign.candidates
    )


def settle_run(answers: Sequence[CellAnswers], campaign: Campaign) -> Family:
    """How surely the primaries have to be judged; cells that have not begun are in the family, and undecided."""
    return settle(
        1 - campaign.confidence,
        [about_one[0] for answered in answers for about_one in answered],
        size=len(campaign.cells) * len(campaign.candidates),
    )


def judge_answers(answers: CellAnswers, family: Family) -> CellVerdicts:
    """The primary by the levels of the family, the other questions by shares of an alpha of their own."""
    return tuple(_judge_candidate(about_one, family) for about_one in answers)


def _judge_candidate(answers: Sequence[Answer], family: Family) -> tuple[Verdict, ...]:
    shares = share_out(family.alpha, [one.question for one in answers])
    return tuple(
        one.verdict(family.levels if (share := shares[one.question]) is None else Levels.alone(share))
        for one in answers
    )


def is_decided(verdicts: Sequence[Sequence[Verdict]]) -> bool:
    """Whether the cell's primary metric is, for every candidate; it alone ends a cell."""
    return all(judged[0].outcome is not Outcome.UNDECIDED for judged in verdicts)


def rounds_to_decide(verdicts: Sequence[Sequence[Verdict]]) -> int | None:
    """About how many more rounds would decide the cell; None where that cannot be said of an open candidate."""
    primaries = [judged[0] for judged in verdicts if judged[0].outcome is Outcome.UNDECIDED]
    wanted = [primary.more_rounds for primary in primaries if primary.more_rounds is not None]
    return max(wanted) if wanted and len(wanted) == len(primaries) else None
