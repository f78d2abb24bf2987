"""How the run's error probability is shared out over everything the run judges.

The run promises `confidence` for all its verdicts together, so alpha = 1 - confidence is split and the parts
add up to no more than alpha (Bonferroni: right under any dependence between metrics). One half goes to the
declared primaries, equally; the other half to the cells, equally, and within a cell to its other questions,
equally.

A cell's part depends on how many cells the campaign has and on its own questions, so a verdict that was shown
does not change because another cell of the run has begun. Another rule replaces `split_alpha`; nothing else
in `judge` knows how the parts come about.

What is the same number twice counts once and has one share.

    >>> names = ("latency_us_p50", "tps", "latency_us_mean", "server_cpu_us_per_txn")
    >>> shares = split_alpha(0.99, cells=2, questions=[Question(name) for name in names])
    >>> [round(part, 6) for part in shares.values()]
    [0.0025, 0.00125, 0.00125, 0.00125]
"""

from collections.abc import Mapping, Sequence

from pgverdict.judge.values import Question, questions
from pgverdict.records.run import CellRecord
from pgverdict.spec.campaign import Campaign

Alphas = Mapping[Question, float]
"""A cell's questions and their shares."""

PRIMARY_SHARE = 0.5


def split_alpha(confidence: float, *, cells: int, questions: Sequence[Question]) -> dict[Question, float]:
    """The shares of one cell's questions, the primary one first, in a campaign of that many cells."""
    alpha = (1 - confidence) / cells
    primary = _counted_as(questions[0])
    others = {_counted_as(q) for q in questions} - {primary}
    share = {primary: PRIMARY_SHARE * alpha}
    share.update({q: (1 - PRIMARY_SHARE) * alpha / len(others) for q in others})
    return {q: share[_counted_as(q)] for q in questions}


def _counted_as(question: Question) -> Question:
    """In a closed loop a client's mean latency is the reciprocal of its throughput: one number, told twice."""
    return Question("tps", question.subject) if question.metric == "latency_us_mean" else question


def cell_alphas(cell: CellRecord, campaign: Campaign, candidate: int) -> dict[Question, float]:
    """The shares of a candidate in the cell as it stands. The primary's is settled before the first round.

    With several candidates, a cell counts once for each.
    """
    members = len(campaign.cells) * len(campaign.candidates)
    return split_alpha(campaign.confidence, cells=members, questions=questions(cell, candidate))
