"""Does what was measured here agree with a number published elsewhere?

A published number comes without an interval, as a rule, so that only one side can be asked how sure it is: whether our
interval holds it. What differs between the hosts is in neither.
"""

import math
from collections.abc import Sequence
from enum import Enum

import numpy as np

from pgverdict.judge.answer import interval_kind
from pgverdict.judge.estimate import order_columns
from pgverdict.judge.pulling import as_judged
from pgverdict.judge.summary import CellRounds, Mean, mean_of_cells
from pgverdict.judge.values import Question, values
from pgverdict.records.run import CellRecord
from pgverdict.spec.campaign import Campaign


class Agreement(Enum):
    """AGREES: our interval holds the published ratio, and excludes no change or is inside the margin. ALLOWS: it holds
    the published ratio, and no change too. SAME_SIDE: it does not hold it, and lies on the same side of no change.
    SMALLER: it holds no change, and excludes as much as was published. CONTRADICTS: it lies on the other side of no
    change. CANNOT_TELL: there is no interval yet. NOT_RUN: no such cell was measured, or not these arms.
    """

    AGREES = "agrees"
    ALLOWS = "allows it, and no change too"
    SAME_SIDE = "same direction, another size"
    SMALLER = "excludes so much"
    CONTRADICTS = "contradicts"
    CANNOT_TELL = "cannot tell"
    NOT_RUN = "not run"


def agreement(published: tuple[float, float], ours: tuple[float, float], margin: float) -> Agreement:
    """`published`: the least and the greatest ratio that is printed so; `ours`: the limits of our interval of the same
    ratio, 0 and infinity where there is none.

    >>> agreement((1.056, 1.067), (1.04, 1.09), 0.01), agreement((1.056, 1.067), (0.98, 1.09), 0.01)
    (<Agreement.AGREES: 'agrees'>, <Agreement.ALLOWS: 'allows it, and no change too'>)
    >>> agreement((1.19, 1.21), (0.99, 1.03), 0.01), agreement((1.19, 1.21), (0.9, 0.95), 0.01)
    (<Agreement.SMALLER: 'excludes so much'>, <Agreement.CONTRADICTS: 'contradicts'>)
    """
    (least, greatest), (low, high) = published, ours
    if low <= 0 or not math.isfinite(high):
        return Agreement.CANNOT_TELL
    holds_no_change = low <= 1 <= high
    if least <= high and low <= greatest:
        inside_margin = 1 / (1 + margin) <= low and high <= 1 + margin
        return Agreement.ALLOWS if holds_no_change and not inside_margin else Agreement.AGREES
    if holds_no_change:
        return Agreement.SMALLER
    return (
        Agreement.SAME_SIDE
        if (least > 1 and low > 1) or (greatest < 1 and high < 1)
        else Agreement.CONTRADICTS
    )


def mean_ratio(
    asked: Sequence[tuple[CellRecord, Question]], campaign: Campaign, candidate: int
) -> Mean | None:
    """The geometric mean of candidate / baseline over cells, each asked its question, with an interval of its own.

    None where fewer than two cells have rounds enough. Its `log_slowdown` is the log of the ratio, whichever way is
    worse."""
    fixed = campaign.rounds is not None
    kinds = [interval_kind(cell.measured, campaign) for cell, _ in asked]
    if not kinds or (fixed and len(set(kinds)) > 1):
        return None
    rounds = [_rounds(cell, question, candidate) for cell, question in asked]
    return mean_of_cells(rounds, 1 - campaign.confidence, kinds[0])


def _rounds(cell: CellRecord, question: Question, candidate: int) -> CellRounds:
    used = [
        (record.plan, value.log_ratio)
        for record in cell.measured
        if (value := values(record, question, clients=cell.spec.clients, candidate=candidate)) is not None
    ]
    return CellRounds(
        as_judged(question.metric, np.array([ratio for _, ratio in used], dtype=np.float64)),
        order_columns([plan for plan, _ in used], candidate),
    )
