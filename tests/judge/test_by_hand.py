"""docs/statistics.md tells how to make a verdict by hand: what it prints has to be the product's verdict."""

import math
import re
from pathlib import Path

import pytest

from pgverdict.judge.cell import judge_run
from pgverdict.judge.verdict import Outcome
from pgverdict.records.run import RunRecord, RunState
from pgverdict.report.table import to_csv

from .made import a_campaign, a_cell
from .recorded import as_record, series

PAGE = (Path(__file__).parents[2] / "docs" / "statistics.md").read_text(encoding="utf-8")
(CODE,) = re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL)
(PRINTED,) = re.findall(r"```text\n(.*?)```", PAGE, flags=re.DOTALL)


def recorded_run(name: str) -> RunRecord:
    rounds = [as_record(measured, number) for number, measured in enumerate(series("e4s", name))]
    cells = (a_cell(rounds),)
    return RunRecord(name, RunState.DONE, "2026-11-21T12:00:00Z", 86.0, a_campaign(), (), (), cells)


def by_hand(run: RunRecord, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "run.csv").write_text(to_csv(run), encoding="utf-8")
    monkeypatch.chdir(folder)
    exec(compile(CODE, "docs/statistics.md", "exec"), {})


@pytest.mark.parametrize("name", ["sp190", "sp380"])
def test_the_code_in_the_documentation_makes_the_products_verdict(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run = recorded_run(name)
    verdict = judge_run(run)[0][0][0]

    by_hand(run, tmp_path, monkeypatch)

    assert capsys.readouterr().out == (
        f"{verdict.rounds} rounds: {verdict.effect:.6f}, {verdict.low:.6f} to {verdict.high:.6f},"
        f" e = {verdict.e_value:.4f}\n"
    )
    assert math.isfinite(verdict.e_value)
    assert verdict.outcome is Outcome.SLOWER


def test_it_prints_what_the_documentation_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    by_hand(recorded_run("sp190"), tmp_path, monkeypatch)

    assert capsys.readouterr().out == PRINTED
