"""What is seen while a run lasts, where standard error is not a terminal."""

import dataclasses
from collections.abc import Sequence
from io import StringIO

import pytest
from rich.console import Console

from pgverdict.cli import live
from pgverdict.cli.live import LiveView
from pgverdict.judge.verdict import Verdict
from tests.report import samples

SLOWER = samples.READ_ONLY_VERDICTS[0]
OTHER = dataclasses.replace(SLOWER, candidate="19")


@pytest.mark.parametrize(
    ("verdicts", "standing"),
    [
        ([[SLOWER]], "so far latency_us_p50 2.1 % slower, between 1.6 and 2.6 %: SLOWER"),
        (
            [[SLOWER], [OTHER]],
            "so far latency_us_p50 18 2.1 % slower, between 1.6 and 2.6 %: SLOWER,"
            " 19 2.1 % slower, between 1.6 and 2.6 %: SLOWER",
        ),
    ],
    ids=["one candidate", "two candidates"],
)
def test_the_line_says_how_every_candidate_stands(
    monkeypatch: pytest.MonkeyPatch, verdicts: Sequence[Sequence[Verdict]], standing: str
) -> None:
    monkeypatch.setattr(live, "PLAIN_LINE_S", -1.0)
    file = StringIO()
    with LiveView(Console(file=file, width=300)) as view:
        view.round_done(samples.READ_ONLY, samples.a_run().cells[0].rounds[0], verdicts)
        view.round_begins(samples.READ_ONLY, 2, 61.0)

    assert file.getvalue() == f"{samples.READ_ONLY.key}: round 2, at most 1:01 left; {standing}\n"


@pytest.mark.parametrize(
    ("total", "told"), [(75, "of 75"), (None, "until it has seen enough checkpoints and vacuums")]
)
def test_within_a_long_round_the_line_says_how_far_an_arm_is(
    monkeypatch: pytest.MonkeyPatch, total: int | None, told: str
) -> None:
    file = StringIO()
    with LiveView(Console(file=file, width=300)) as view:
        view.round_begins(samples.READ_ONLY, 2, 61.0)
        monkeypatch.setattr(live, "PLAIN_LINE_S", -1.0)
        view.stretch(samples.READ_ONLY, "18", 12, total)

    assert file.getvalue().splitlines()[-1] == (
        f"{samples.READ_ONLY.key}: round 2, at most 1:01 left; 18 works alone, second 12 {told}"
    )
