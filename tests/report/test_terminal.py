"""The terminal, as it is seen: eighty columns, no colour."""

import dataclasses
from io import StringIO

import pytest
from rich.console import Console

from pgverdict.report.model import Report, make_report
from pgverdict.report.terminal import print_report
from pgverdict.spec.metrics import METRICS

from . import samples

SEEN = """\
SLOWER     18.1 is 2.1 % slower than 17.7 on select-only (typical latency),
           between 1.6 and 2.6 %, 99 % sure
UNDECIDED  Cannot tell yet whether 18.1 is slower than 17.7 on simple-update
           (throughput): between 0.1 % faster and 1.6 % slower, 99 % sure, after
           12 rounds; a run of about 32 rounds, 5 min at this pace, would settle
           it

select-only, scale 10, 1 client  read-only, 24 rounds, 288 pairs, 1 min 9 s
metric                    17.7     18.1 change floor   interval % verdict
────────────────────────────────────────────────────────────────────────────────
latency_us_p50 *         19.62    20.03  +2.09  0.45 +1.63..+2.55 SLOWER
tps                     50,318   49,378  -1.87  1.04 -2.88..-0.85 SLOWER
latency_us_mean          19.87    20.25  +1.91  1.04 +0.86..+2.97 SLOWER
latency_us_p95           22.84    23.11  +1.18  1.68 -0.49..+2.88 UNDECIDED ~55
latency_us_p99           27.11    26.71  -1.47  5.47 -6.58..+3.92 UNDECIDED ~664
server_cpu_us_per_txn    13.02    13.04  +0.16  0.73 -0.56..+0.89 SAME
server_ms_mean #1     0.005120 0.005284  +3.20  1.10 +2.08..+4.34 SLOWER
server_ms_stddev #1   0.002140 0.002130  -0.47  2.28 -2.69..+1.80 UNDECIDED ~120
  * typical latency, the primary metric, decides the cell
  #1 SELECT abalance FROM pgbench_accounts WHERE aid = $1
  floor: the noise floor: no smaller change is called slower or faster, in %
  ~n: a run of about so many rounds would settle it
  note: each arm's data came from 8 independent loads and one install: how much
  others would differ is in no interval
  note: between rounds 18.1 scatters 6.98 times as much as 17.7, 99 % interval
  3.71 to 13.15 (for one look at the end of the run; it decides nothing)

simple-update, scale 10, 1 client  fresh, 12 rounds, 144 pairs, 1 min 48 s
metric                   17.7    18.1 change floor    interval % verdict
───────────────────────────────────────────────────────────────────────────────
tps *                   5,212   5,173  -0.75  0.88  -1.62..+0.12 UNDECIDED ~32
latency_us_mean         191.8   193.3  +0.76  1.36  -0.59..+2.13 UNDECIDED ~53
latency_us_p50          171.2   172.2  +0.56  0.42  +0.14..+0.98 SAME (d)
latency_us_p95          268.4   271.3  +1.08  2.90  -1.77..+4.01 UNDECIDED ~89
latency_us_p99          512.9   530.8  +3.49 10.37 -6.23..+14.22 UNDECIDED ~322
server_cpu_us_per_txn   98.40   94.10  -4.37  1.83  -6.09..-2.62 FASTER
server_ms_mean #1     0.04120 0.04150  +0.73  1.73  -0.98..+2.47 UNDECIDED ~70
server_ms_mean #2     0.01210 0.01190      -     -             - UNDECIDED >=8
  * throughput, the primary metric, decides the cell
  #1 UPDATE pgbench_accounts SET abalance = abalance + $1 WHERE aid = $2
  #2 INSERT INTO pgbench_history (tid, bid, aid, delta, mtime) VALUES ($1,...
  floor: the noise floor: no smaller change is called slower or faster, in %
  ~n: a run of about so many rounds would settle it
  (d) detectable: there is a difference, smaller than the margin
  note: each arm's data came from 8 independent loads and one install: how much
  others would differ is in no interval
  note: every round worked on a fresh copy of the data: it saw mostly first
  changes of pages, and no vacuum
  note: 1 round failed, in no interval: cannot start PostgreSQL 18.1: it did not
  accept connections within 30 s
  note: of 1 failed round out of 13, 0 are blamed on 17.7 and 1 on 18.1: no more
  uneven than chance makes them

  note: 18.1 was not built as 17.7 was: compiler gcc (Ubuntu
  7.5.0-3ubuntu1~18.04) 7.5.0 instead of gcc (Debian 4.9.2-10+deb8u2) 4.9.2; an
  effect may come from that rather than from PostgreSQL
  note: 17.7: pg_stat_statements: not in this build, so statements have no times
  inside the server
  note: of the differences claimed on primary metrics a share of at most 1 % is
  expected to be wrong, and so it is of the SAMEs; the verdicts on a cell's
  other metrics are all right together with at least 99 %, cell by cell; margin
  1 %
run 2026-11-21-1002-3f9a
"""


def printed(report: Report, width: int = 80, *, terminal: bool = True) -> str:
    file = StringIO()
    print_report(
        report, Console(file=file, width=width, color_system=None, highlight=False, force_terminal=terminal)
    )
    return file.getvalue()


def test_the_report_reads_as_it_should_in_eighty_columns(report: Report) -> None:
    assert printed(report) == SEEN


def tables(seen: str) -> list[str]:
    """The rows of verdicts."""
    return [line for line in seen.splitlines() if line.startswith(tuple(METRICS))]


@pytest.mark.parametrize("width", [79, 60, 20])
def test_a_table_in_a_narrow_window_is_whole(report: Report, width: int) -> None:
    seen = printed(report, width)
    assert tables(seen) == tables(SEEN)
    assert "…" not in seen


def test_without_a_terminal_every_sentence_is_a_line(report: Report) -> None:
    seen = printed(report, 60, terminal=False)
    lines = seen.splitlines()
    assert f"SLOWER     {report.cells[0].headline}" in lines
    assert f"UNDECIDED  {report.cells[1].headline}" in lines
    assert f"  note: {report.cells[1].notes[0]}" in lines
    assert tables(seen) == tables(SEEN)


@pytest.mark.parametrize("terminal", [True, False])
def test_no_line_ends_in_blanks(report: Report, terminal: bool) -> None:
    lines = printed(report, terminal=terminal).splitlines()
    assert lines == [line.rstrip() for line in lines]


def test_columns_in_the_environment_do_not_cut_a_table(
    report: Report, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    print_report(report)
    assert tables(capsys.readouterr().out) == tables(SEEN)


def test_limits_without_measure_leave_the_other_columns_readable() -> None:
    wild = samples.a_verdict(
        "tps", (13_312.0, 1e30), (1e-9, 1.3, 3.8e23), samples.UNDECIDED, rounds=9, more_rounds=500
    )
    (row, *_) = tables(printed(make_report(samples.a_run(), (((wild,),), (samples.FRESH_VERDICTS,)))))
    assert row.split() == [
        *("tps", "*", "13,312", "1,000,000,000,000,000,019,884,624,838,656", "+30.00"),
        *(">", "9900", "<", "-99..>", "+9900", "UNDECIDED", "~509"),
    ]


def test_words_of_others_are_not_taken_for_markup() -> None:
    verdicts = (dataclasses.replace(samples.READ_ONLY_VERDICTS[6], subject="SELECT '[red]' [/]"),)
    run = samples.a_run()
    judged = ((samples.READ_ONLY_VERDICTS[:1] + verdicts,), (samples.FRESH_VERDICTS,))
    assert "#1 SELECT '[red]' [/]" in printed(make_report(run, judged))


def test_a_run_without_rounds_is_shown() -> None:
    run = samples.a_run()
    cells = tuple(dataclasses.replace(cell, rounds=()) for cell in run.cells)
    assert "Nothing is known yet about select-only" in printed(
        make_report(dataclasses.replace(run, cells=cells), (((),), ((),)))
    )


def test_long_names_of_arms_are_shortened_in_the_table_only() -> None:
    run = samples.a_run()
    arms = (run.arms[0], dataclasses.replace(run.arms[1], name="a-very-long-branch-name", server="/opt"))
    seen = printed(make_report(dataclasses.replace(run, arms=arms), samples.VERDICTS))
    assert "a-very-long-branch-name is 2.1 % slower" in seen
    assert "17.7 a-very..." in seen
