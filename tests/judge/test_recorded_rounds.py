"""The whole of `judge` on rounds of real servers (tests/data/rounds/README.md)."""

import dataclasses
import math
import random
from statistics import fmean

import numpy as np
import pytest
from scipy.special import stdtrit

from pgverdict.judge import shape
from pgverdict.judge.cell import judge_cell
from pgverdict.judge.estimate import FloatArray, estimate
from pgverdict.judge.interval import Kind, interval
from pgverdict.judge.series import series as series_of
from pgverdict.judge.shape import Check, checks
from pgverdict.judge.values import Question, values
from pgverdict.judge.verdict import Outcome, Verdict
from pgverdict.records.round import RoundRecord

from .made import a_campaign, a_cell
from .recorded import RecordedRound, as_record, centred, log_ratio, pair_log_ratios, recorded, series
from .simulated import NEVER, Series, decided_after, fewest, most, planned_orders

DIFFERENT = {Outcome.SLOWER, Outcome.FASTER}


def judged(
    rounds: list[RoundRecord], *, confidence: float = 0.99, fixed: bool = False, margin: float = 0.01
) -> dict[str, Verdict]:
    cell = a_cell(rounds)
    campaign = a_campaign(confidence=confidence, rounds=len(rounds) if fixed else None, margin=margin)
    (verdicts,) = judge_cell(cell, campaign)
    return {v.metric: v for v in verdicts}


def as_run(rounds: list[RecordedRound]) -> list[RoundRecord]:
    return [as_record(r, i) for i, r in enumerate(rounds)]


def excludes_no_change(verdict: Verdict) -> bool:
    return verdict.low > 1 or verdict.high < 1


def trimmed_interval(values: list[float]) -> tuple[float, float]:
    """The 95 % interval of the 20 % trimmed mean (Tukey, McLaughlin): the sharpest reading of pairs within a start."""
    x: FloatArray = np.sort(values)
    cut = int(0.2 * len(x))
    sd = np.clip(x, x[cut], x[-1 - cut]).std(ddof=1)
    half = -stdtrit(len(x) - 2 * cut - 1, 0.025) * sd / (0.6 * math.sqrt(len(x)))
    mean = x[cut : len(x) - cut].mean()
    return float(mean - half), float(mean + half)


@pytest.mark.parametrize(("file", "wrong"), [("e3w", 11), ("c8p", 10), ("c8o", 10)])
def test_intervals_from_pairs_within_one_start_are_wrong_far_too_often(file: str, wrong: int) -> None:
    limits = [trimmed_interval(pair_log_ratios(r)) for r in recorded(file)]

    found = sum(low > 0 or high < 0 for low, high in limits)

    assert found == wrong
    assert found > most(len(limits), 0.05)


@pytest.mark.parametrize(
    ("file", "name"), [("e3w", "aa"), ("w1", "wr"), ("c8", "c8"), ("e5s", "v11v12"), ("e5s", "v17v18")]
)
@pytest.mark.parametrize("fixed", [False, True])
def test_equal_servers_and_neighbouring_releases_are_not_called_different(
    file: str, name: str, fixed: bool
) -> None:
    verdicts = judged(as_run(series(file, name)), fixed=fixed)

    assert not any(excludes_no_change(v) for v in verdicts.values())


@pytest.mark.parametrize(("file", "name", "rounds"), [("e3w", "aa", 13), ("e5s", "v11v12", 15)])
def test_they_are_called_the_same_after_so_many_rounds(file: str, name: str, rounds: int) -> None:
    run = as_run(series(file, name))

    outcomes = [judged(run[:n])["latency_us_p50"].outcome for n in range(1, rounds + 1)]

    assert outcomes == [Outcome.UNDECIDED] * (rounds - 1) + [Outcome.SAME]


@pytest.mark.parametrize(("name", "injected", "rounds"), [("sp190", 1.011, 20), ("sp380", 1.021, 12)])
def test_an_injected_slow_down_is_found_at_99_percent(name: str, injected: float, rounds: int) -> None:
    run = as_run(series("e4s", name))

    outcomes = [judged(run[:n])["latency_us_p50"].outcome for n in range(1, rounds + 1)]

    assert outcomes == [Outcome.UNDECIDED] * (rounds - 1) + [Outcome.SLOWER]
    verdict = judged(run)["latency_us_p50"]
    assert verdict.low < injected < verdict.high


def test_a_slow_down_of_5_percent_is_found_in_the_eight_rounds_there_are() -> None:
    run = as_run(series("e4s", "sp950"))

    early = judged(run, confidence=0.95)["latency_us_p50"]
    fixed = judged(run, fixed=True)["latency_us_p50"]

    assert early.outcome is Outcome.SLOWER
    assert fixed.outcome is Outcome.SLOWER
    assert fixed.low < 1.051 < fixed.high


def test_eight_rounds_cannot_be_evidence_enough_for_99_percent() -> None:
    verdict = judged(as_run(series("e4s", "sp950")))["latency_us_p50"]

    assert (verdict.outcome, verdict.high) == (Outcome.UNDECIDED, math.inf)
    assert verdict.more_rounds in (1, 2)


def test_the_mean_sees_stalls_and_takes_longer() -> None:
    verdicts = judged(as_run(series("e4s", "sp190")))

    assert verdicts["latency_us_mean"].round_sd > 2 * verdicts["latency_us_p50"].round_sd
    assert verdicts["latency_us_mean"].outcome is Outcome.UNDECIDED
    assert verdicts["latency_us_p99"].rounds == 0  # percentiles of a round were not recorded


def started_first(r: RecordedRound) -> int:
    return {"c8p": 0, "oA": 0, "oB": 1}[r.series]


def with_roles_drawn(file: str, seed: int) -> list[RoundRecord]:
    """A/A as the plan runs it: which of the equal servers is the baseline is drawn for every round."""
    draw = random.Random(seed)
    return [
        as_record(
            r, i, baseline=draw.randrange(2), started_first=started_first(r), directory_belongs_to_server=True
        )
        for i, r in enumerate(recorded(file))
    ]


def test_equal_servers_in_a_fixed_start_order_look_different_beyond_doubt() -> None:
    ratios = np.array([log_ratio(r) for r in recorded("c8p")])

    found = estimate(ratios, np.empty((len(ratios), 0)))

    assert float(found.log_ratio) == pytest.approx(-0.0094, abs=5e-5)
    for kind, alpha in ((Kind.FIXED, 0.0001), (Kind.ANYTIME, 0.005)):
        _, high = interval(found, alpha, kind)
        assert high < 0


def test_a_fixed_start_order_is_refused_a_verdict() -> None:
    run = [as_record(r, i, started_first=0) for i, r in enumerate(recorded("c8p"))]

    verdict = judged(run)["latency_us_p50"]

    assert verdict.outcome is Outcome.UNDECIDED
    assert math.isnan(verdict.effect)
    assert verdict.rounds == 20


@pytest.mark.parametrize("file", ["c8o", "c8p"])
def test_equal_servers_in_drawn_roles_are_never_called_different(file: str) -> None:
    outcomes = [judged(with_roles_drawn(file, seed))["latency_us_p50"].outcome for seed in range(20)]

    assert not DIFFERENT & set(outcomes)
    assert outcomes.count(Outcome.SAME) >= 15


def test_the_server_that_is_started_first_is_slower() -> None:
    """Half of the difference that swapping the start order makes, which is 0.95 %."""
    rounds = recorded("c8o")
    first = np.array([started_first(r) for r in rounds])
    signs = np.where(first == 1, 1.0, -1.0)
    orders = np.column_stack(
        [np.where([r.connected_first == f for r, f in zip(rounds, first, strict=True)], 0.5, -0.5), signs / 2]
    )

    found = estimate(np.array([log_ratio(r) for r in rounds]) * signs, orders)

    low, high = interval(found, 0.05, Kind.FIXED)
    assert float(found.log_ratio) == pytest.approx(0.00474, abs=5e-6)
    assert (float(low), float(high)) == pytest.approx((0.00154, 0.00793), abs=5e-6)


def pooled() -> FloatArray:
    """The 116 short rounds of one pinned client, each series without its effect."""
    names = [
        ("e3w", "aa"),
        ("e4s", "sp190"),
        ("e4s", "sp380"),
        ("e4s", "sp950"),
        ("e5s", "v11v12"),
        ("e5s", "v17v18"),
    ]
    return np.array([ratio for file, name in names for ratio in centred(series(file, name))])


def with_labels_flipped(plans: int = 20, each: int = 200) -> list[Series]:
    """4 000 A/A campaigns of the recorded rounds, shuffled, with the roles of the arms drawn anew."""
    noise = pooled()
    draw = np.random.default_rng(20261121)
    made = []
    for plan in range(plans):
        shuffled = noise[np.argsort(draw.random((each, len(noise))), axis=1)]
        flips = draw.choice([-1.0, 1.0], shuffled.shape)
        made.append(Series(shuffled * flips, planned_orders(len(noise), plan)))
    return made


def test_the_pooled_rounds_are_those_of_the_method() -> None:
    noise = pooled()

    assert len(noise) == 116
    assert fmean(noise) == pytest.approx(0, abs=1e-12)
    assert float(noise.std(ddof=1)) == pytest.approx(0.0085, abs=5e-5)


@pytest.mark.parametrize("alpha", [0.05, 0.005])
def test_recorded_rounds_with_flipped_labels_keep_the_stated_error_rate(alpha: float) -> None:
    different, same = decided_after(with_labels_flipped(), alpha=alpha)

    assert (different < NEVER).sum() <= most(4000, alpha)
    assert (same < NEVER).sum() >= fewest(4000, 0.99)


def test_recorded_rounds_fool_an_ordinary_t_interval_that_is_looked_at_after_every_round() -> None:
    different, _ = decided_after(with_labels_flipped(), alpha=0.05, kind=Kind.FIXED)

    assert (different < NEVER).sum() >= fewest(4000, 0.25)


def checks_of(file: str, name: str) -> dict[tuple[str, str], Check]:
    cell = a_cell([as_record(r, i) for i, r in enumerate(series(file, name))])
    return {(c.name, c.subject): c for c in checks(series_of(cell), margin=0.01)}


@pytest.mark.parametrize("name", ["oA", "oB"])
def test_eight_clients_had_not_warmed_up_within_their_rounds_and_both_arms_alike(name: str) -> None:
    found = checks_of("c8o", name)

    for arm in (shape.BASELINE_ARM, shape.CANDIDATE_ARM):
        trend = found[shape.TREND, arm]
        assert trend.found
        assert 0.90 < trend.strength < 0.96  # the last pair was 5 to 8 % faster than the first
    assert not found[shape.TREND, shape.EFFECT].found


@pytest.mark.parametrize(
    ("file", "name"), [("e3w", "aa"), ("e4s", "sp190"), ("e5s", "v11v12"), ("e5s", "v17v18")]
)
def test_one_pinned_client_shows_nothing_that_its_interval_does_not_cover(file: str, name: str) -> None:
    assert not [c for c in checks_of(file, name).values() if c.found]


@pytest.mark.parametrize(
    ("file", "name", "total", "typical"),
    [
        ("e3w", "aa", 0.81, 0.74),
        ("e4s", "sp190", 1.77, 1.23),
        ("e5s", "v11v12", 1.69, 0.96),
        ("e5s", "v17v18", 1.54, 1.04),
        ("w1", "wr", 2.21, 1.06),
        ("c8", "c8", 2.72, 3.17),
    ],
)
def test_throughput_without_rare_stalls_is_quieter_where_clients_are_pinned(
    file: str, name: str, total: float, typical: float
) -> None:
    """The table of METHODOLOGY.md#totals, in percent."""
    rounds = [as_record(r, i) for i, r in enumerate(series(file, name))]

    def scatter(metric: str) -> float:
        found = [values(r, Question(metric), clients=1) for r in rounds]
        return 100 * float(np.std([v.log_ratio for v in found if v is not None], ddof=1))

    assert (scatter("tps"), scatter("tps_p50")) == pytest.approx((total, typical), abs=0.006)


def test_a_rare_stall_stays_in_the_total_and_not_in_the_typical_throughput() -> None:
    """20 ms in every tenth slice of the candidate."""
    draw = random.Random(1)
    moved: dict[str, list[float]] = {"tps": [], "tps_p50": []}
    for i, recorded_round in enumerate(series("e5s", "v17v18") * 10):
        record = as_record(recorded_round, i)
        slices = [
            dataclasses.replace(s, busy_ns=s.busy_ns + 20_000_000) if s.arm and draw.random() < 0.1 else s
            for s in record.slices
        ]
        candidate = dataclasses.replace(record.arms[1], busy_ns=sum(s.busy_ns for s in slices if s.arm))
        stalled = dataclasses.replace(record, slices=tuple(slices), arms=(record.arms[0], candidate))
        for metric, found in moved.items():
            before, after = (values(r, Question(metric), clients=1) for r in (record, stalled))
            assert before is not None
            assert after is not None
            found.append(100 * (before.log_ratio - after.log_ratio))

    assert fmean(moved["tps"]) == pytest.approx(3.9, abs=0.4)
    assert fmean(moved["tps_p50"]) < 0.6
