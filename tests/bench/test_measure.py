"""The loop that measures, with repetitions that are made up instead of run."""

import dataclasses
from collections.abc import Callable
from pathlib import Path

import pytest

from bench.verdicts import measure as under_test
from bench.verdicts.lines import Line, line
from bench.verdicts.measure import measure
from bench.verdicts.recorded import PROBE, Repetition, count, read, read_all
from pgverdict.cli.live import LiveView
from pgverdict.errors import WorldError

from . import made

INJECTED, EQUAL = line("typical-2"), line("equal")

Run = Callable[[Line, int], Repetition]


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Seconds; the runs move it."""
    seconds = [0.0]
    monkeypatch.setattr(under_test, "revision_of_checkout", lambda: "a test")
    monkeypatch.setattr(under_test, "monotonic", lambda: seconds[0])
    return seconds


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch, clock: list[float]) -> list[tuple[str, int | None, int]]:
    """What was run: line, fixed rounds, handicap; each takes a minute."""
    asked: list[tuple[str, int | None, int]] = []

    def run(one: Line, handicap: int, _revision: str, _view: LiveView) -> Repetition:
        asked.append((one.name, one.rounds, handicap))
        clock[0] += 60
        return made.repetition(made.rounds_of([0.0] * 4), seed=len(asked), handicap_ns=handicap)

    monkeypatch.setattr(under_test, "run_once", run)
    return asked


def _measure(
    lines: list[Line], results: Path, *, repetitions: int | None = None, minutes: float | None = None
) -> None:
    with LiveView() as view:
        measure(lines, results, repetitions=repetitions, minutes=minutes, view=view)


def test_a_probe_before_every_repetition_says_the_nanoseconds(
    tmp_path: Path, runs: list[tuple[str, int | None, int]]
) -> None:
    _measure([INJECTED], tmp_path, repetitions=2)
    _measure([INJECTED], tmp_path, repetitions=3)

    assert runs == [("typical-2", 4, 0), ("typical-2", None, 400)] * 3  # 2 % of 20 us
    assert [one.seed for one in read_all(tmp_path / "typical-2")] == [2, 4, 6]
    assert [read(tmp_path / "typical-2" / f"{n:04}-{PROBE}.jsonl").seed for n in (1, 2, 3)] == [1, 3, 5]


def test_lines_take_turns_and_equal_ones_need_no_probe(
    tmp_path: Path, runs: list[tuple[str, int | None, int]]
) -> None:
    _measure([EQUAL, line("demo")], tmp_path, repetitions=2)

    assert [name for name, _, _ in runs] == ["equal", "demo", "equal", "demo"]
    assert not list((tmp_path / "equal").glob(f"*{PROBE}*"))


def test_after_the_time_limit_none_is_begun_and_the_one_that_runs_is_kept(
    tmp_path: Path, runs: list[tuple[str, int | None, int]]
) -> None:
    _measure([EQUAL], tmp_path, minutes=1.5)

    assert len(runs) == count(tmp_path / "equal") == 2


def test_an_interruption_drops_the_one_that_runs_and_the_next_start_goes_on(
    tmp_path: Path, runs: list[tuple[str, int | None, int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    run = under_test.run_once

    def interrupted(*arguments: object) -> Repetition:
        if len(runs) == 2:
            raise KeyboardInterrupt
        return run(*arguments)  # type: ignore[arg-type]

    with monkeypatch.context() as patch:
        patch.setattr(under_test, "run_once", interrupted)
        with pytest.raises(KeyboardInterrupt):
            _measure([EQUAL], tmp_path)
    assert sorted(path.name for path in (tmp_path / "equal").iterdir()) == ["0001.jsonl", "0002.jsonl"]

    _measure([EQUAL], tmp_path, repetitions=3)
    assert count(tmp_path / "equal") == 3


def test_a_probe_that_failed_is_not_kept(
    tmp_path: Path, clock: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    del clock
    failed = dataclasses.replace(made.repetition(), failure="gave up")
    monkeypatch.setattr(under_test, "run_once", lambda *_: failed)

    with pytest.raises(WorldError, match="the probe of typical-2 failed: gave up"):
        _measure([INJECTED], tmp_path)

    assert not (tmp_path / "typical-2").exists()
