"""What is shown of what servers said in rounds that failed."""

import dataclasses

from pgverdict.records.round import LogRecord
from pgverdict.records.run import RunRecord
from pgverdict.report.last_words import failure_stories, last_words, logs_screen

from . import samples

AT = "2026-11-21 10:59:01.000 UTC [815] "


def a_failed_run(*logs: LogRecord) -> RunRecord:
    run = samples.a_run()
    cell = run.cells[0]
    failed = [
        dataclasses.replace(samples.a_failed_round(cell.rounds[0].plan), logs=kept) for kept in ((), logs)
    ]
    cells = (dataclasses.replace(cell, rounds=(*cell.rounds, *failed)), *run.cells[1:])
    return dataclasses.replace(run, cells=cells)


def test_what_is_bad_is_quoted_and_what_is_usual_is_not() -> None:
    log = f"{AT}LOG:  ready\n{AT}ERROR:  no such thing\n{AT}STATEMENT:  SELECT 1\n{AT}PANIC:  could not  write\n"

    assert last_words(log) == ("ERROR: no such thing", "PANIC: could not write")


def test_a_process_that_was_killed_is_bad_though_the_server_only_logs_it() -> None:
    (said,) = last_words(
        f"{AT}LOG:  server process (PID 9) was terminated by signal 11: Segmentation fault\n"
    )

    assert said.startswith("LOG: server process (PID 9) was terminated by signal 11")


def test_only_the_last_messages_are_quoted_and_none_twice() -> None:
    log = "".join(f"{AT}ERROR:  error {number}\n" for number in (1, 2, 3, 4, 2))

    assert last_words(log) == ("ERROR: error 3", "ERROR: error 4", "ERROR: error 2")


def test_what_comes_of_stopping_a_server_is_no_reason_of_a_failure() -> None:
    log = f"{AT}LOG:  received immediate shutdown request\n{AT}FATAL:  terminating connection\n"

    assert last_words(log) == ()


def test_what_our_own_asking_is_answered_is_no_reason_either() -> None:
    assert last_words(f"{AT}FATAL:  the database system is starting up\n") == ()


def test_rounds_that_failed_in_one_way_are_told_of_once_by_the_arm_that_is_blamed() -> None:
    run = samples.a_run()
    cell = run.cells[0]
    failed = [
        dataclasses.replace(
            samples.a_failed_round(cell.rounds[0].plan), story=f"arm {name} read {size} bytes", blamed=arm
        )
        for arm, name, size in ((0, "15.4", 434176), (1, "16.0", 835584), (0, "15.4", 99))
    ]

    stories = list(failure_stories(run, dataclasses.replace(cell, rounds=(*cell.rounds, *failed))))

    assert stories == [
        "2 rounds failed, in no interval: in the last one arm 15.4 read 99 bytes",
        "1 round failed, in no interval: arm 16.0 read 835584 bytes",
    ]


def test_a_failed_round_is_named_with_the_last_words_of_its_servers() -> None:
    run = a_failed_run(LogRecord(0, f"{AT}LOG:  ready\n"), LogRecord(1, f"{AT}PANIC:  no space\n"))

    story, quoted = failure_stories(run, run.cells[0])

    assert story.startswith("2 rounds failed, in no interval: ")
    number = len(run.cells[0].rounds)
    assert quoted == (
        f"in round {number}, which failed, 18.1 said PANIC: no space;"
        f" `pgverdict logs {run.id}` shows all that is kept"
    )


def test_logs_without_an_error_are_pointed_at() -> None:
    run = a_failed_run(LogRecord(0, f"{AT}LOG:  ready\n"))

    assert "no server told of an error; `pgverdict logs" in list(failure_stories(run, run.cells[0]))[1]


def test_failed_rounds_without_logs_have_their_stories_alone() -> None:
    run = a_failed_run()

    assert len(list(failure_stories(run, run.cells[0]))) == 1


def test_whole_logs_are_shown_round_by_round() -> None:
    run = a_failed_run(LogRecord(0, f"{AT}LOG:  ready\n"), LogRecord(1, f"{AT}PANIC:  no space\n"))
    screen = logs_screen(dataclasses.replace(run, cells=run.cells[:1]))

    first, second = [part for part in screen.split("== ") if part]
    assert "no server had started" in first
    assert f"-- 17.7\n{AT}LOG:  ready\n-- 18.1\n{AT}PANIC:  no space\n" in second
    assert second.startswith(f"{run.cells[0].spec.key}, round {len(run.cells[0].rounds)}: ")


def test_a_log_does_not_steer_the_terminal() -> None:
    run = a_failed_run(LogRecord(0, f"{AT}LOG:  \x1b[2J\x07ready\tnow\n"))

    assert f"{AT}LOG:  \\x1b[2J\\x07ready\tnow\n" in logs_screen(
        dataclasses.replace(run, cells=run.cells[:1])
    )


def test_a_run_without_failures_says_so() -> None:
    run = samples.a_run()
    cells = tuple(dataclasses.replace(cell, rounds=cell.measured) for cell in run.cells)

    assert logs_screen(dataclasses.replace(run, cells=cells)) == f"no round of run {run.id} failed\n"
