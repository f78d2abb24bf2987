"""A slow-down of known size is found, and its size with it."""

import math
import re
from pathlib import Path
from statistics import fmean

import pytest

from pgverdict.judge.values import Question, values
from pgverdict.store.opening import open_store
from tests.e2e import cli

pytestmark = pytest.mark.slow


def test_a_known_slow_down_is_found_with_an_interval_around_the_truth(home: Path, store: str) -> None:
    report = cli.report_of(
        "compare", "17", "17", "--scale", "1", "--rounds", "10", "--handicap", "30%", "--seed", "1",
        "--store", store, home=home,
    )  # fmt: skip

    with open_store(store) as opened:
        run = opened.load_run(None)
    asked_ns = run.campaign.arms[1].handicap_ns
    rounds = run.cells[0].measured
    both = [{arm.arm: arm for arm in record.arms} for record in rounds]
    executed = [
        [sum(s.transactions + s.failed + s.discarded for s in r.slices if s.arm == arm) for arm in (0, 1)]
        for r in rounds
    ]

    # What the library says: a message a transaction, each as long as asked for, and none on the baseline.
    spun_ns = []
    for arms, counts in zip(both, executed, strict=True):
        messages, spun = arms[1].handicap_messages, arms[1].handicap_spun_ns
        assert messages is not None
        assert spun is not None
        assert messages == pytest.approx(counts[1], rel=0.01)
        assert spun >= messages * asked_ns
        assert arms[0].handicap_spun_ns == 0
        spun_ns.append(spun / counts[1])

    # What the scheduler says: the servers' processes used that much more of the processor.
    spun_us = fmean(spun_ns) / 1e3
    used = [values(r, Question("server_cpu_us_per_txn"), clients=1) for r in rounds]
    more_us = fmean(v.candidate - v.baseline for v in used if v is not None)
    assert more_us == pytest.approx(spun_us, rel=0.35)

    # What the verdict says. The truth is what was spun, as a share of the baseline's typical latency in the same round:
    # a host that has fast and slow seconds spins for a larger share of the fast ones.
    (verdict,) = (v for v in report["cells"][0]["verdicts"] if v["metric"] == "latency_us_p50")
    typical = [values(r, Question("latency_us_p50"), clients=1) for r in rounds]
    shares = [ns / 1e3 / v.baseline for ns, v in zip(spun_ns, typical, strict=True) if v is not None]
    truth = math.exp(fmean(math.log1p(share) for share in shares))
    assert verdict["verdict"] == "SLOWER"
    # One interval in a hundred misses the truth, by little, and a test must not: more than a percent is wrong.
    assert verdict["low"] / 1.01 < truth < verdict["high"] * 1.01, (truth, verdict)
    assert verdict["effect"] == pytest.approx(truth, rel=0.1)
    assert "SLOWED DOWN ON PURPOSE" in report["cells"][0]["headline"]
    assert re.search(rf"--handicap '17\.\d+#2:{asked_ns}'", report["run"]["command"])
