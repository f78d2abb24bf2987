"""Notes of a candidate in a cell that no other test needs."""

import dataclasses

from pgverdict.judge.cell import judge_run
from pgverdict.report.notes import cell_notes

from . import samples


def test_rounds_that_were_pulled_in_are_told() -> None:
    run = samples.a_run()
    verdicts = judge_run(run)[0][0]
    pulled = [dataclasses.replace(one, pulled_in=2) for one in verdicts]

    sentence = (
        f"2 rounds of {verdicts[0].rounds} lay far out: for the typical value so far out counts as 4 standard"
        " deviations"
    )
    assert sentence in cell_notes(run, run.cells[0], 1, pulled)
    assert not any("far out" in note for note in cell_notes(run, run.cells[0], 1, verdicts))
