"""The page of releases is what was run."""

from pathlib import Path

from bench.releases.__main__ import PAGE, RESULTS, render
from bench.releases.attempts import Attempt
from bench.releases.page import page

WORKLOADS = ("select-only", "tpcb-like")


def test_the_page_is_made_from_the_newest_results() -> None:
    newest = sorted(RESULTS.glob("*.json"))[-1]
    assert Path(PAGE).read_text(encoding="utf-8") == render(newest)


def test_what_did_not_run_is_told_with_its_story() -> None:
    ran = Attempt("17", "ready-made", "17.7", {"select-only": 2, "tpcb-like": 2}, None)
    failed = Attempt("9.6", "ready-made", "", {}, "error: it is\nbroken")
    built = Attempt("", "built", "18.1", {"select-only": 2, "tpcb-like": 0}, "error: half")
    text = page([ran, failed, built], WORKLOADS, date="2026-11-21", revision="abc")

    assert "| 17 | ready-made | 17.7 | 2 rounds | 2 rounds |" in text
    assert "| 9.6 | ready-made | - | failed | failed |" in text
    assert "| 18 | built | 18.1 | 2 rounds | failed |" in text
    assert "- 9.6 ready-made: error: it is broken" in text
