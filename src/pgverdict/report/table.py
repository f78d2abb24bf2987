"""CSV for whoever wants to check a verdict by other means: what every round said, one row per question and candidate.

Not made from the report's model but from the records, by the function that the verdicts are made from
(`judge.values`); docs/statistics.md#a-verdict-by-hand makes a verdict of it in twenty lines. Numbers are written with
all their digits. A round that failed, or says nothing about a question, has a row with empty values.
"""

import csv
import io
from collections.abc import Iterator

from pgverdict.judge.estimate import order_columns
from pgverdict.judge.values import Question, questions, values
from pgverdict.records.round import RoundRecord, RoundState
from pgverdict.records.run import CellRecord, RunRecord
from pgverdict.spec.metrics import metric

COLUMNS = (
    "cell",
    "candidate",
    "round",
    "state",
    "seconds",
    "metric",
    "better",
    "subject",
    "baseline_value",
    "candidate_value",
    "log_ratio",
    "start",
    "connection",
    "directory",
)
"""`log_ratio` is candidate / baseline; the last three are the order covariates of the estimate, from -1/2 to +1/2."""


def to_csv(run: RunRecord) -> str:
    """The whole run; the primary metric of a cell comes first."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for cell in run.cells:
        for candidate in run.campaign.candidates:
            writer.writerows(_rows(cell, candidate, run.campaign.arms[candidate].name))
    return text.getvalue()


def _rows(cell: CellRecord, candidate: int, name: str) -> Iterator[tuple[object, ...]]:
    for question in questions(cell, candidate):
        for number, record in enumerate(cell.rounds, start=1):
            yield (
                cell.spec.key,
                name,
                number,
                record.state.value,
                repr(record.seconds),
                question.metric,
                metric(question.metric).better.value,
                question.subject,
                *_said(record, question, cell, candidate),
                *(repr(float(half)) for half in order_columns([record.plan], candidate)[0]),
            )


def _said(record: RoundRecord, question: Question, cell: CellRecord, candidate: int) -> tuple[str, str, str]:
    found = None
    if record.state is RoundState.MEASURED:
        found = values(record, question, clients=cell.spec.clients, candidate=candidate)
    return (
        ("", "", "")
        if found is None
        else (repr(found.baseline), repr(found.candidate), repr(found.log_ratio))
    )
