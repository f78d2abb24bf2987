"""One tiny repetition of a bench line, on real servers."""

import dataclasses
from pathlib import Path

import pytest

from bench.verdicts.figures import judged
from bench.verdicts.lines import line
from bench.verdicts.measure import PROBE_ROUNDS, measure_one
from bench.verdicts.recorded import PROBE, read, read_all
from pgverdict.cli.live import LiveView
from pgverdict.plan.rounds import PAIRS

pytestmark = [pytest.mark.slow, pytest.mark.long]


def test_a_repetition_is_kept_with_what_was_really_injected(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PGVERDICT_HOME", str(home))
    tiny = dataclasses.replace(line("typical-5"), scale=1, rounds=2, keeps_slices=True)

    with LiveView() as view:
        measure_one(tiny, tmp_path, revision="a test", view=view)

    (kept,) = read_all(tmp_path / tiny.name)
    probe = read(tmp_path / tiny.name / f"0001-{PROBE}.jsonl")
    assert (len(probe.measured()), probe.handicap_ns, len(kept.measured())) == (PROBE_ROUNDS, 0, 2)
    assert kept.handicap_ns > 0
    for one in kept.measured():
        assert one.spun_us is not None
        assert one.spun_us[0] == 0
        assert one.spun_us[1] == pytest.approx(kept.handicap_ns / 1e3, rel=0.2)  # a message per transaction
        assert len(one.slices) == 2 * PAIRS
    # Two rounds can tell nothing.
    assert judged(kept) == (kept.cells[0].outcome,) == ("UNDECIDED",)
    assert "--handicap" in kept.command
