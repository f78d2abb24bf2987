"""Whether steps of a chain kept the rate at which rows were to be inserted: their service level agreement.

A server that cannot keep it takes longer for the step, since the rows of a step are fixed.
"""

from collections import Counter
from collections.abc import Mapping

from pgverdict.records.round import StepRecord
from pgverdict.records.run import CellRecord

SLA_SHARE = 0.95
"""Of the rate, averaged over the whole step: Callaghan's rule for the Insert Benchmark."""


def keeps_rate(step: StepRecord) -> bool:
    """Whether it met its rate, or had none.

    >>> from dataclasses import replace
    >>> step = StepRecord("qr100", "queries", 7, 2850, 100, 0, 30_000_000_000, None, 0, 0, 0, 0, 0, 0)
    >>> keeps_rate(step), keeps_rate(replace(step, rows=2849))
    (True, False)
    """
    if step.rows_per_second is None:
        return True
    return step.rows >= SLA_SHARE * step.rows_per_second * step.seconds


def missed_rate(cell: CellRecord) -> Mapping[tuple[int, str], int]:
    """By arm and step, in how many rounds it did not keep its rate; only where it ever did not."""
    missed: Counter[tuple[int, str]] = Counter()
    for record in cell.measured:
        for arm in record.arms:
            for step in arm.steps:
                missed[arm.arm, step.name] += not keeps_rate(step)
    return {key: count for key, count in missed.items() if count}
