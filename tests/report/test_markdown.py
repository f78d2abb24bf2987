"""Markdown that survives what servers and statements are called."""

import dataclasses

from pgverdict.report.markdown import to_markdown
from pgverdict.report.model import Report, make_report

from . import samples

BEGIN = """\
# 18.1 against 17.7

- **SLOWER**: 18.1 is 2.1 % slower than 17.7 on select-only (typical latency), between 1.6 and 2.6 %, 99 % sure.
- **UNDECIDED**: Cannot tell yet whether 18.1 is slower than 17.7 on simple-update (throughput): between 0.1 % faster \
and 1.6 % slower, 99 % sure, after 12 rounds; a run of about 32 rounds, 5 min at this pace, would settle it.

## select-only, scale 10, 1 client

24 rounds, 288 pairs, 1 min 9 s; read-only; `latency_us_p50` decides.

| metric | of | 17.7 | 18.1 | change % | noise floor % | interval % | verdict | rounds wanted |
| :-- | :-- | --: | --: | --: | --: | --: | :-- | --: |
| `latency_us_p50` | cell | 19.62 | 20.03 | +2.09 | 0.45 | +1.63 to +2.55 | SLOWER |  |
| `tps` | cell | 50,318 | 49,378 | -1.87 | 1.04 | -2.88 to -0.85 | SLOWER |  |
| `latency_us_mean` | cell | 19.87 | 20.25 | +1.91 | 1.04 | +0.86 to +2.97 | SLOWER |  |
| `latency_us_p95` | cell | 22.84 | 23.11 | +1.18 | 1.68 | -0.49 to +2.88 | UNDECIDED | ~55 |
| `latency_us_p99` | cell | 27.11 | 26.71 | -1.47 | 5.47 | -6.58 to +3.92 | UNDECIDED | ~664 |
| `server_cpu_us_per_txn` | cell | 13.02 | 13.04 | +0.16 | 0.73 | -0.56 to +0.89 | SAME |  |
| `server_ms_mean` | #1 | 0.005120 | 0.005284 | +3.20 | 1.10 | +2.08 to +4.34 | SLOWER |  |
| `server_ms_stddev` | #1 | 0.002140 | 0.002130 | -0.47 | 2.28 | -2.69 to +1.80 | UNDECIDED | ~120 |

- #1: `SELECT abalance FROM pgbench_accounts WHERE aid = $1`

- note: each arm's data came from 8 independent loads and one install: how much others would differ is in no interval
"""

ARMS = """\
## The arms

| role | arm | asked for as | in `--set` |
| :-- | :-- | :-- | :-- |
| baseline | 17.7 | `17` | named `17` |
| candidate | 18.1 | `18` | named `18` |

## What differs between the arms
"""

COMMAND = """
The whole run again; its cells share the budget and the confidence, so a cell by itself would be judged otherwise:

```sh
pgverdict compare 17.7 18.1 --workload select-only --workload simple-update --scale 10 --clients 1 \
--set shared_buffers=512MB --set candidate:io_method=sync --budget 5m --seed 20261121
```
"""


def test_a_report_begins_with_its_sentences_and_a_table(report: Report) -> None:
    assert to_markdown(report).startswith(BEGIN)


def test_the_arms_are_shown_with_the_names_that_settings_take(report: Report) -> None:
    assert f"\n{ARMS}\n" in to_markdown(report)


def test_the_command_stands_once_and_is_about_the_whole_run(report: Report) -> None:
    written = to_markdown(report)
    assert COMMAND in written
    assert written.count("pgverdict compare") == 1


def test_a_detectable_difference_is_marked(report: Report) -> None:
    assert (
        "| `latency_us_p50` | cell | 171.2 | 172.2 | +0.56 | 0.42 | +0.14 to +0.98 | SAME, detectable |"
        in to_markdown(report)
    )


def test_bars_and_backticks_of_others_do_not_end_a_cell() -> None:
    run = samples.a_run()
    hostile = dataclasses.replace(
        run.arms[1], settings=(("log_line_prefix", "a|b``c\n| d |"),), notes=("<b>*bold*</b>",)
    )
    report = make_report(dataclasses.replace(run, arms=(run.arms[0], hostile)), samples.VERDICTS)
    written = to_markdown(report)
    assert "| setting | `log_line_prefix` | default, or not there | ```a\\|b``c \\| d \\|``` |" in written
    assert r"\<b\>\*bold\*\</b\>" in written


def test_a_page_says_when_and_on_which_machine(report: Report) -> None:
    assert (
        "Measured on 2026-11-21 10:02 UTC in 2 min 58 s; cpu AMD EPYC 7763 64-Core Processor; cores 2; memory 24 GiB;"
        " kernel Linux 6.1.0-28-amd64; virtualisation kvm." in to_markdown(report)
    )
