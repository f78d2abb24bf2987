"""What a report says of an unfit host, and of rounds that were disturbed."""

import dataclasses
import json

import pytest

from pgverdict.judge.cell import judge_run
from pgverdict.judge.disturbance import Disturbance, Source
from pgverdict.judge.verdict import Outcome
from pgverdict.records.host import Diagnosis, Level, Surroundings
from pgverdict.records.run import RunRecord
from pgverdict.report.disturbed import disturbed_notes, host_notes
from pgverdict.report.machine import to_json
from pgverdict.report.model import Report, make_report

from . import samples

RUN = samples.a_run()
CELL = RUN.cells[0]
SLOWER = samples.READ_ONLY_VERDICTS[0]

STEAL_2 = (Disturbance(Source.STEAL, 0.12),)
STEAL_AND_HEAT = (Disturbance(Source.STEAL, 0.06), Disturbance(Source.HEAT, 3))


def test_only_warnings_of_the_doctor_are_in_a_report() -> None:
    diagnoses = (
        Diagnosis("cpu governor", Level.WARNING, "powersave on 8 of 8 cores"),
        Diagnosis("turbo", Level.NOTE, "on"),
        Diagnosis("smt", Level.NOT_KNOWN, "this kernel does not say"),
        Diagnosis("swappiness", Level.WARNING, "60, with swap in use"),
        Diagnosis("huge pages", Level.FINE, "none reserved"),
    )

    assert host_notes(diagnoses) == (
        "the host was not at its best for measuring, `pgverdict doctor` says why:"
        " cpu governor: powersave on 8 of 8 cores; swappiness: 60, with swap in use",
    )
    assert host_notes(diagnoses[1:3]) == ()


def test_rounds_are_told_by_what_disturbed_them() -> None:
    (note,) = disturbed_notes(CELL, {2: STEAL_2, 7: STEAL_AND_HEAT}, SLOWER, SLOWER)

    assert note == (
        "2 rounds of 24 were disturbed: steal in 2 (number 2 and 7; at most 12 % of the cores' time);"
        " heat in 1 (number 7; slowed down at most 3 times). They count like the others;"
        " without them the verdict is the same: SLOWER"
    )


def test_many_rounds_are_not_all_named() -> None:
    (note,) = disturbed_notes(CELL, dict.fromkeys(range(1, 12), STEAL_2), SLOWER, SLOWER)

    assert "steal in 11 (number 1, 2, 3, 4, 5, 6, 7, 8 and 3 more; " in note


@pytest.mark.parametrize(
    ("outcome", "ending"),
    [
        (Outcome.SAME, "without them the verdict would be SAME: +2.09 %, between +1.63 and +2.55 %"),
        (
            Outcome.UNDECIDED,
            "without them the verdict would be UNDECIDED: +2.09 %, between +1.63 and +2.55 %"
            " (fewer rounds alone make intervals wider)",
        ),
    ],
)
def test_a_verdict_that_would_be_another_says_which(outcome: Outcome, ending: str) -> None:
    other = dataclasses.replace(SLOWER, outcome=outcome, rounds=20)

    (note,) = disturbed_notes(CELL, {2: STEAL_2}, SLOWER, other)

    assert note.endswith(ending)


def test_too_few_rounds_that_are_left_are_no_other_verdict() -> None:
    few = dataclasses.replace(SLOWER, outcome=Outcome.UNDECIDED, rounds=6)

    (note,) = disturbed_notes(CELL, {2: STEAL_2}, SLOWER, few)

    assert note.endswith("; without them 6 rounds are left, too few for a verdict")


def test_quiet_rounds_are_not_told_of() -> None:
    assert disturbed_notes(CELL, {}, SLOWER, SLOWER) == ()


def _disturbed_run() -> RunRecord:
    """The run of the samples, with somebody who waited for memory in rounds 3 and 9 of its first cell."""
    rounds = tuple(
        dataclasses.replace(r, surroundings=Surroundings(1000, 0, 100 * (n in (3, 9)), 0, None))
        for n, r in enumerate(CELL.rounds, start=1)
    )
    cells = (dataclasses.replace(CELL, rounds=rounds), *RUN.cells[1:])
    diagnoses = (Diagnosis("cpu governor", Level.WARNING, "powersave on 8 of 8 cores"),)
    return dataclasses.replace(RUN, cells=cells, diagnoses=diagnoses)


def _report(run: RunRecord) -> Report:
    return make_report(run, judge_run(run))


def test_a_report_tells_of_the_cell_that_was_disturbed_and_of_no_other() -> None:
    first, second = _report(_disturbed_run()).cells

    said = [note for note in first.notes if "disturbed" in note]
    assert len(said) == 1
    assert said[0].startswith(
        "2 rounds of 24 were disturbed: waits for memory in 2 (number 3 and 9; at most 10 % of the time)."
    )
    assert said[0].endswith(f"without them the verdict is the same: {first.verdicts[0].outcome.value}")
    assert not any("disturbed" in note for note in second.notes)


def test_disturbed_rounds_change_no_number_of_a_verdict() -> None:
    disturbed, quiet = _report(_disturbed_run()), _report(RUN)

    assert [cell.verdicts for cell in disturbed.cells] == [cell.verdicts for cell in quiet.cells]
    assert [cell.rounds for cell in disturbed.cells] == [cell.rounds for cell in quiet.cells]


def test_programs_read_which_round_was_disturbed_and_what_the_doctor_said() -> None:
    document = json.loads(to_json(_report(_disturbed_run())))

    effects = document["cells"][0]["round_effects"]
    assert [one["number"] for one in effects if one["disturbed_by"]] == [3, 9]
    assert effects[2]["disturbed_by"] == ["waits for memory"]
    assert document["run"]["diagnoses"] == [
        {"check": "cpu governor", "level": "warning", "found": "powersave on 8 of 8 cores"}
    ]
