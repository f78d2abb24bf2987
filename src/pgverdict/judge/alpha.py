"""How sure the verdicts have to be that do not decide a cell: those on everything but its primary metric.

For each cell and candidate they share alpha = 1 - confidence equally (Bonferroni: right under any dependence
between metrics), so all of them together are right with `confidence`. This is beside the primaries, which have
an alpha of their own (`judge.family`), and beside other cells. A share depends on the questions of its own cell
and on nothing else, so a verdict that was shown does not change because of another cell.

What is the same number twice counts once and has one share; what is the primary told again is judged as that is.

    >>> names = ("latency_us_p50", "tps", "latency_us_mean", "server_cpu_us_per_txn")
    >>> list(share_out(0.01, [Question(name) for name in names]).values())
    [None, 0.005, 0.005, 0.005]
"""

from collections.abc import Sequence

from pgverdict.judge.values import Question


def share_out(alpha: float, questions: Sequence[Question]) -> dict[Question, float | None]:
    """Each question's level, None for the primary, which comes first, and for the primary told again."""
    primary = _counted_as(questions[0])
    others = {_counted_as(question) for question in questions} - {primary}
    return {q: None if _counted_as(q) == primary else alpha / len(others) for q in questions}


def _counted_as(question: Question) -> Question:
    """In a closed loop a client's mean latency is the reciprocal of its throughput: one number, told twice."""
    return Question("tps", question.subject) if question.metric == "latency_us_mean" else question
