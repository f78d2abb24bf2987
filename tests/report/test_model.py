"""What a report says about a run, apart from the verdicts it was given."""

import dataclasses
import math
from io import StringIO

import pytest
from rich.console import Console

from pgverdict.judge.cell import judge_run
from pgverdict.judge.summary import summarize
from pgverdict.judge.verdict import Outcome
from pgverdict.records.run import RunRecord, RunState
from pgverdict.report.html import to_html
from pgverdict.report.machine import to_json
from pgverdict.report.markdown import to_markdown
from pgverdict.report.model import Report, make_report
from pgverdict.report.terminal import print_report

from . import samples


def test_measured_rounds_are_counted_and_failed_ones_told(report: Report) -> None:
    fresh = report.cells[1]
    assert (fresh.rounds, fresh.failed_rounds, fresh.pairs) == (12, 1, 144)
    assert (
        "1 round failed, in no interval: cannot start PostgreSQL 18.1: it did not accept connections within 30 s"
    ) in fresh.notes


@pytest.mark.parametrize(
    ("blamed", "note"),
    [
        (
            [1] * 8,
            "of 8 failed rounds out of 32, 0 are blamed on 17.7 and 8 on 18.1: 18.1 fails more often, and what it"
            " would have shown in those rounds is in no interval",
        ),
        (
            [0] * 9 + [1],
            "of 10 failed rounds out of 34, 9 are blamed on 17.7 and 1 on 18.1: no more uneven than chance makes them",
        ),
    ],
)
def test_failed_rounds_are_told_by_whom_they_are_blamed_on(blamed: list[int | None], note: str) -> None:
    run = samples.a_run()
    cell = run.cells[0]
    failed = [dataclasses.replace(samples.a_failed_round(cell.rounds[0].plan), blamed=arm) for arm in blamed]
    cells = (dataclasses.replace(cell, rounds=(*cell.rounds, *failed)), run.cells[1])

    notes = make_report(dataclasses.replace(run, cells=cells), samples.VERDICTS).cells[0].notes

    assert note in notes


def test_nobody_is_said_to_be_blamed_where_nobody_is(report: Report) -> None:
    run = samples.a_run()
    cell = run.cells[0]
    failed = dataclasses.replace(samples.a_failed_round(cell.rounds[0].plan), blamed=None)
    cells = (dataclasses.replace(cell, rounds=(*cell.rounds, failed)), run.cells[1])

    notes = make_report(dataclasses.replace(run, cells=cells), samples.VERDICTS).cells[0].notes

    assert not any("blamed" in note for note in notes)
    assert any("blamed on 17.7" in note for note in report.cells[1].notes)


def test_what_keeps_same_from_being_said_is_noted_once() -> None:
    reason = "3 of 41 rounds failed, more than 5 %"
    judged = tuple(dataclasses.replace(v, withheld=reason) for v in samples.READ_ONLY_VERDICTS)

    notes = make_report(samples.a_run(), ((judged,), (samples.FRESH_VERDICTS,))).cells[0].notes

    assert notes.count(f"SAME is withheld where the intervals say it: {reason}") == 1


def test_a_cell_lasts_as_long_as_its_rounds_failed_ones_included(report: Report) -> None:
    rounds = samples.a_run().cells[1].rounds
    assert report.cells[1].seconds == pytest.approx(sum(r.seconds for r in rounds))


def test_every_round_has_an_effect_unless_it_failed(report: Report) -> None:
    effects = report.cells[1].round_effects
    assert [effect.number for effect in effects] == list(range(1, 14))
    assert [effect.number for effect in effects if effect.effect is None] == [5]
    assert effects[4].failed
    assert effects[4].story is not None


def test_the_effects_of_rounds_agree_with_the_cells(report: Report) -> None:
    effects = [effect.effect for effect in report.cells[0].round_effects if effect.effect is not None]
    mean = math.exp(sum(math.log(effect) for effect in effects) / len(effects))
    assert mean == pytest.approx(report.cells[0].verdicts[0].effect, abs=0.002)


def test_what_differs_between_the_arms_is_listed_with_what_is_not_there(report: Report) -> None:
    assert [(d.area, d.name) for d in report.differences] == [
        ("build", "compiler"),
        ("build", "data_checksums"),
        ("build", "version"),
        ("setting", "io_method"),
    ]
    assert report.differences[-1].values == (None, "sync")


def test_where_we_put_things_is_no_difference_between_the_arms() -> None:
    run = samples.a_run()
    names = (
        *("config_file", "data_directory", "external_pid_file", "hba_file", "ident_file"),
        *("stats_temp_directory", "unix_socket_directories", "work_mem"),
    )
    arms = tuple(
        dataclasses.replace(arm, build=(), settings=tuple((name, f"/{number}") for name in names))
        for number, arm in enumerate(run.arms)
    )
    report = make_report(dataclasses.replace(run, arms=arms), samples.VERDICTS)
    assert [difference.name for difference in report.differences] == ["work_mem"]


def test_builds_made_differently_are_noted(report: Report) -> None:
    assert report.notes[0] == (
        "18.1 was not built as 17.7 was: compiler gcc (Ubuntu 7.5.0-3ubuntu1~18.04) 7.5.0 instead of"
        " gcc (Debian 4.9.2-10+deb8u2) 4.9.2; an effect may come from that rather than from PostgreSQL"
    )


def test_builds_made_alike_are_not_noted() -> None:
    run = samples.a_run()
    arms = (run.arms[0], dataclasses.replace(run.arms[1], build=run.arms[0].build))
    report = make_report(dataclasses.replace(run, arms=arms), samples.VERDICTS)
    assert not any("not built as" in note for note in report.notes)


def test_a_note_of_both_arms_is_told_once() -> None:
    run = samples.a_run()
    arms = tuple(dataclasses.replace(arm, notes=("pg_prewarm: not in this build",)) for arm in run.arms)
    report = make_report(dataclasses.replace(run, arms=arms), samples.VERDICTS)
    assert "17.7 and 18.1: pg_prewarm: not in this build" in report.notes


def test_fresh_copies_say_what_they_cannot_see(report: Report) -> None:
    assert not [note for note in report.cells[0].notes if "no vacuum" in note]
    assert [note for note in report.cells[1].notes if "no vacuum" in note]


def test_a_cell_that_was_placed_freely_says_so(report: Report) -> None:
    run = samples.a_run()
    cell = run.cells[0]
    rounds = tuple(
        dataclasses.replace(r, placement=(("placement", "free"), *r.placement)) for r in cell.rounds
    )
    cells = (dataclasses.replace(cell, rounds=rounds), run.cells[1])

    free = make_report(dataclasses.replace(run, cells=cells), samples.VERDICTS)

    assert [any(note.startswith("placement free: ") for note in c.notes) for c in free.cells] == [True, False]
    assert not any(note.startswith("placement free: ") for c in report.cells for note in c.notes)


def test_every_cell_says_how_many_loads_its_intervals_rest_on(report: Report) -> None:
    assert (
        report.cells[0].notes[0].startswith("each arm's data came from 8 independent loads and one install")
    )


def test_same_says_which_events_it_may_have_missed() -> None:
    same = dataclasses.replace(samples.READ_ONLY_VERDICTS[0], outcome=Outcome.SAME, rounds=21)
    cell = make_report(samples.a_run(), (((same,),), (samples.FRESH_VERDICTS,))).cells[0]

    # 0.01 ** (1 / 21) = 0.803
    assert (
        "SAME is about what happens in most rounds: 21 rounds may miss what happens in fewer than 20 % of them"
    ) in cell.notes


@pytest.mark.parametrize(
    ("state", "note"),
    [
        (RunState.RUNNING, "this run has not ended, or"),
        (RunState.STOPPED, "this run was stopped before its end"),
    ],
)
def test_a_run_without_an_end_says_so(state: RunState, note: str) -> None:
    run = dataclasses.replace(samples.a_run(), state=state, seconds=0.0)
    report = make_report(run, samples.VERDICTS)
    assert report.notes[0].startswith(note)
    assert report.seconds == pytest.approx(report.cells[0].seconds + report.cells[1].seconds)


def with_fixed_rounds(rounds: int, state: RunState = RunState.DONE) -> Report:
    run = samples.a_run()
    campaign = dataclasses.replace(run.campaign, rounds=rounds)
    return make_report(dataclasses.replace(run, campaign=campaign, state=state), samples.VERDICTS)


@pytest.mark.parametrize(("rounds", "noted"), [(5, True), (7, True), (8, False)])
def test_a_run_of_too_few_rounds_says_what_it_always_ends_in(rounds: int, noted: bool) -> None:
    note = f"a run of {rounds} rounds always ends UNDECIDED: a verdict takes at least 8"
    assert (note in with_fixed_rounds(rounds).notes) is noted


def test_a_cell_that_stopped_before_its_fixed_rounds_says_so_and_forecasts_nothing() -> None:
    reached, short = with_fixed_rounds(24).cells
    assert (reached.short_of, short.short_of) == (None, 24)
    assert "stopped before its 24 rounds" in short.headline
    assert reached.rounds_wanted(samples.READ_ONLY_VERDICTS[3]) == "~55"
    assert {short.rounds_wanted(verdict) for verdict in short.verdicts} == {""}


def test_a_cell_that_still_runs_has_not_stopped() -> None:
    headline = with_fixed_rounds(24, RunState.RUNNING).cells[1].headline
    assert ": its 24 rounds are not complete yet; between" in headline


def test_the_state_of_the_arms_is_their_median(report: Report) -> None:
    conditions = {condition.name: condition.values for condition in report.cells[0].conditions}
    assert conditions["size of the database"] == (167_772_160.0, 167_985_152.0)


def test_what_a_server_did_not_say_is_not_known() -> None:
    run = samples.a_run()
    records = tuple(
        dataclasses.replace(r, arms=tuple(dataclasses.replace(arm, buffers_read=None) for arm in r.arms))
        for r in run.cells[0].rounds
    )
    cell = dataclasses.replace(run.cells[0], rounds=records)
    report = make_report(dataclasses.replace(run, cells=(cell, run.cells[1])), samples.VERDICTS)
    assert report.cells[0].conditions[2].values == (None, None)


def without_rounds() -> RunRecord:
    run = samples.a_run()
    cells = tuple(dataclasses.replace(cell, rounds=()) for cell in run.cells)
    return dataclasses.replace(run, cells=cells, state=RunState.RUNNING, seconds=0.0)


def test_a_run_without_rounds_has_a_report() -> None:
    report = make_report(without_rounds(), (((),), ((),)))
    assert report.cells[0].headline == "Nothing is known yet about select-only"
    assert report.cells[0].verdict is None


def test_verdicts_as_they_are_judged_fit() -> None:
    run = samples.a_run()
    report = make_report(run, judge_run(run))
    assert report.cells[0].verdict is not None
    assert "18.1 is 2." in report.cells[0].headline


def test_an_arm_that_was_slowed_down_on_purpose_is_said_before_anything_else() -> None:
    run = samples.a_run()
    baseline, candidate = run.campaign.arms
    campaign = dataclasses.replace(
        run.campaign, arms=(baseline, dataclasses.replace(candidate, handicap_ns=1_400))
    )

    report = make_report(dataclasses.replace(run, campaign=campaign), samples.VERDICTS)

    loud = "18.1 SLOWED DOWN ON PURPOSE by 1,400 ns per message: "
    assert all(cell.headline.startswith(loud) for cell in report.cells)
    assert report.notes[0] == f"{loud}this run tests pgverdict and says nothing about these servers"


def test_what_was_timed_in_every_round_is_summed_up_and_not_listed() -> None:
    run = samples.a_run()
    timed = tuple(
        dataclasses.replace(
            r, placement=(("threads", "1"), ("freeze_ns_median", str(n)), ("freeze_ns_max", str(10 * n)))
        )
        for n, r in enumerate(run.cells[0].rounds, start=1)
    )
    cell = dataclasses.replace(run.cells[0], rounds=timed)
    run = dataclasses.replace(run, cells=(cell, *run.cells[1:]))
    placement = dict(make_report(run, judge_run(run)).cells[0].placement)

    assert placement["threads"] == "1"
    assert int(placement["freeze_ns_max"]) == 10 * max(
        n for n, r in enumerate(timed, 1) if r in cell.measured
    )
    assert placement["freeze_ns_median"].isdigit()


def test_a_run_of_several_cells_is_summed_up_in_every_format() -> None:
    run = samples.a_run()
    report = make_report(run, judge_run(run), (), summarize(run))

    (summary,) = report.summaries
    assert (summary.summary.cells, summary.summary.rounds) == (2, 12)
    assert summary.summary.slowdown == pytest.approx(math.sqrt(1.0209 / 0.9925), abs=0.004)
    file = StringIO()
    print_report(report, Console(file=file, width=1000, color_system=None, highlight=False))
    start = "18.1 over 2 cells, geometric mean of the primary metrics: "
    assert summary.sentence.startswith(start)
    for text in (to_markdown(report), to_json(report), file.getvalue()):
        assert summary.sentence in text
    assert start in to_html(report).replace("\u00a0", " ")


def test_one_cell_has_no_summary_and_neither_has_a_run_short_of_its_rounds() -> None:
    run = samples.a_run()
    campaign = dataclasses.replace(run.campaign, rounds=24)

    assert summarize(dataclasses.replace(run, cells=run.cells[:1])) == ()
    assert summarize(dataclasses.replace(run, campaign=campaign)) == ()
