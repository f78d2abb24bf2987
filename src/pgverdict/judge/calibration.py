"""What a calibration run says about its host: everything is worked out from its rounds, whenever somebody asks.

The run has arms of one build: the baseline, an equal arm (1), and arms with handicaps. Most of its rounds have all
arms; some have the first two only, and say what a round of a comparison costs. The chance in it comes from the seed
of the run, so the same run gives the same numbers.
"""

import math
from dataclasses import dataclass
from statistics import fmean, median

import numpy as np

from pgverdict.judge.estimate import FloatArray, estimate, order_columns, order_leads
from pgverdict.judge.levels import (
    Costs,
    Levels,
    background,
    best_pairs,
    component,
    distances,
    numbered,
    order_effects,
    split_scatter,
)
from pgverdict.judge.neighbours import likeness
from pgverdict.judge.resampling import Series
from pgverdict.judge.resolving import Found, Rate, false_alarms, what_is_found
from pgverdict.judge.values import BASELINE, Question, values
from pgverdict.records.round import RoundRecord, SliceRecord
from pgverdict.records.run import CellRecord, RunRecord
from pgverdict.spec.campaign import Campaign
from pgverdict.spec.metrics import Better, metric

EQUAL = 1
"""The arm without a handicap that the baseline is compared with."""

BUDGET_S = 300.0
"""The made-up runs are as long as a comparison is that nobody gave a budget."""

ROUNDS_MAX = 300
"""And no longer than so many rounds, of which the last hundreds would cost time and change nothing."""

ORDERS = ("started first", "connected first", "in the last directory")


@dataclass(frozen=True)
class Slowed:
    """An arm with a handicap: what its servers really spun, and what is found of it."""

    arm: str
    handicap_ns: int
    spun_ns: float
    """Per transaction, by the counts of the servers' own library."""
    cpu_ns: float
    """How much more processor time than the baseline's a transaction took its servers, by the scheduler's counts."""
    found: Found


@dataclass(frozen=True)
class Calibration:
    """What is known about a host. None: too few rounds to say."""

    rounds: int
    """Measured rounds of all arms; and of the first two only."""
    short_rounds: int
    failed_rounds: int
    round_s: float | None
    """Of all arms: median seconds."""
    alpha: float
    margin: float
    rounds_max: int
    """How long the made-up runs were, in rounds of two arms."""
    costs: Costs | None
    """Of rounds of two arms, which is how rounds become seconds."""
    alarms: Rate | None
    equal: Found | None
    slowed: tuple[Slowed, ...]
    correlation: tuple[float, float] | None
    """Of neighbouring rounds of equal arms, and its standard error where rounds are independent."""
    levels: Levels | None

    def seconds(self, rounds: float | None) -> float | None:
        """What so many rounds of a comparison of two arms take here."""
        return None if rounds is None or self.costs is None else rounds * self.costs.round_s

    @property
    def best_pairs(self) -> float | None:
        """Pairs per round that would tell most in a given time."""
        return None if self.levels is None or self.costs is None else best_pairs(self.levels, self.costs)


def calibration(run: RunRecord) -> Calibration:
    """Work it out. `run` is a run whose purpose is to calibrate; it has one cell."""
    (cell,) = run.cells
    whole = [r for r in cell.measured if len(r.arms) == len(run.campaign.arms)]
    short = [r for r in cell.measured if len(r.arms) == 2]
    costs = _costs(short)
    rounds_max = min(ROUNDS_MAX, int(BUDGET_S / costs.round_s)) if costs else ROUNDS_MAX
    alpha = 1 - run.campaign.confidence
    equal = _series(cell, EQUAL)
    neighbours = likeness(equal.log_ratios, equal.orders)
    return Calibration(
        rounds=len(whole),
        short_rounds=len(short),
        failed_rounds=len(cell.rounds) - len(cell.measured),
        round_s=median(r.seconds for r in whole) if whole else None,
        alpha=alpha,
        margin=run.campaign.margin,
        rounds_max=rounds_max,
        costs=costs,
        alarms=false_alarms(
            _random(run.campaign, 0), equal, alpha=alpha, margin=run.campaign.margin, rounds=rounds_max
        ),
        equal=_found(run.campaign, EQUAL, equal, 0.0, alpha, rounds_max),
        slowed=tuple(_slowed(run.campaign, cell, alpha, rounds_max)),
        correlation=(neighbours.correlation, neighbours.sd) if neighbours else None,
        levels=_levels(whole, cell, len(run.campaign.arms)),
    )


def best_pairs_of(run: RunRecord) -> float | None:
    """`Calibration.best_pairs` alone, without the made-up runs, which take seconds."""
    (cell,) = run.cells
    arms = len(run.campaign.arms)
    costs = _costs([r for r in cell.measured if len(r.arms) == 2])
    levels = _levels([r for r in cell.measured if len(r.arms) == arms], cell, arms)
    return None if levels is None or costs is None else best_pairs(levels, costs)


def _random(campaign: Campaign, number: int) -> np.random.Generator:
    return np.random.default_rng([campaign.seed, number])


def _series(cell: CellRecord, candidate: int) -> Series:
    """The cell's primary metric as log ratios that grow as the candidate gets slower."""
    question = Question(cell.primary)
    used = [
        (record, value.log_ratio)
        for record in cell.measured
        if (value := values(record, question, clients=cell.spec.clients, candidate=candidate)) is not None
    ]
    sign = 1.0 if metric(cell.primary).better is Better.LOWER else -1.0
    return Series(
        sign * np.array([log_ratio for _, log_ratio in used], dtype=np.float64),
        order_columns([record.plan for record, _ in used], candidate),
        cell.primary,
    )


def _found(
    campaign: Campaign, arm: int, series: Series, truth: float, alpha: float, rounds: int
) -> Found | None:
    return what_is_found(
        _random(campaign, arm), series, truth=truth, alpha=alpha, margin=campaign.margin, rounds=rounds
    )


def _slowed(campaign: Campaign, cell: CellRecord, alpha: float, rounds: int) -> list[Slowed]:
    known = []
    for number, arm in enumerate(campaign.arms):
        if not arm.handicap_ns:
            continue
        truths = [truth for r in cell.measured if (truth := _truth(r, cell, number)) is not None]
        if not truths:
            continue
        series = _series(cell, number)
        found = _found(campaign, number, series, fmean(log for log, _ in truths), alpha, rounds)
        if found is not None:
            spun_ns, cpu_ns = fmean(ns for _, ns in truths), _more_cpu_ns(cell, number)
            known.append(Slowed(arm.name, arm.handicap_ns, spun_ns, cpu_ns, found))
    return known


def _more_cpu_ns(cell: CellRecord, arm: int) -> float:
    """The second witness of a handicap: the mean over rounds; NaN without any."""
    question = Question("server_cpu_us_per_txn")
    told = [
        1e3 * (value.candidate - value.baseline)
        for record in cell.measured
        if (value := values(record, question, clients=cell.spec.clients, candidate=arm)) is not None
    ]
    return fmean(told) if told else math.nan


def _truth(record: RoundRecord, cell: CellRecord, arm: int) -> tuple[float, float] | None:
    """What an arm's handicap did to a round: the log ratio it makes of the baseline's time, and ns per transaction.

    A client's transaction takes its own spin and that of the others which share its core, one after another.
    """
    by_arm = {found.arm: found for found in record.arms}
    if arm not in by_arm or BASELINE not in by_arm or by_arm[arm].handicap_spun_ns is None:
        return None
    executed = sum(s.transactions + s.failed + s.discarded for s in record.slices if s.arm == arm)
    spun_ns = (by_arm[arm].handicap_spun_ns or 0) / executed
    threads = int(dict(record.placement).get("threads", cell.spec.clients))
    typical = metric(cell.primary).name == "latency_us_p50"
    latency = by_arm[BASELINE].latency
    base_ns = latency.p50_ns if typical else latency.mean_ns
    return math.log1p(spun_ns * cell.spec.clients / threads / base_ns), spun_ns


def _costs(rounds: list[RoundRecord]) -> Costs | None:
    """Of rounds of two arms."""
    if not rounds:
        return None
    round_s = median(r.seconds for r in rounds)
    pair_s = median(
        sum(s.ended_at_ns - s.begun_at_ns for s in r.slices) / 1e9 / len(r.plan.pairs) for r in rounds
    )
    return Costs(round_s, pair_s, max(0.0, round_s - pair_s * len(rounds[0].plan.pairs)))


def _levels(rounds: list[RoundRecord], cell: CellRecord, arms: int) -> Levels | None:
    tables = [(r, table) for r in rounds if (table := _pair_logs(r, cell.primary, arms)) is not None]
    if len(tables) < 2:
        return None
    records = [r for r, _ in tables]
    logs = np.array([table for _, table in tables])
    parts = []
    for candidate in range(1, arms):
        ratios = logs[:, :, candidate] - logs[:, :, BASELINE]
        orders = order_columns([r.plan for r in records], candidate)
        spread = estimate(np.asarray(np.median(ratios, axis=1)), orders)
        if spread.known:
            parts.append((float(spread.sd), *split_scatter(ratios, float(spread.sd))))
    if not parts:
        return None
    round_sd, within_sd, pair_sd, _ = np.sqrt((np.array(parts) ** 2).mean(axis=0)).tolist()
    places = np.array([2 * np.array(order_leads(r.plan)).T for r in records])
    columns, rests = background(places), distances(logs)
    return Levels(
        pairs=logs.shape[1],
        round_sd=round_sd,
        within_sd=within_sd,
        pair_sd=pair_sd,
        start_sd=math.sqrt(max(0.0, round_sd**2 - within_sd**2)),
        loads=component(rests, columns, numbered([r.plan.loads for r in records], cell.load_pools)),
        installs=component(rests, columns, numbered([r.plan.installs for r in records], cell.install_pools)),
        orders=order_effects(rests, columns, ORDERS),
    )


def _pair_logs(record: RoundRecord, primary: str, arms: int) -> FloatArray | None:
    """pairs x arms: the log of what a transaction took; None where a slice is missing."""
    table = np.full((len(record.plan.pairs), arms), np.nan)
    for one in record.slices:
        if one.arm < arms and one.pair < table.shape[0]:
            table[one.pair, one.arm] = _slice_log(one, primary)
    return table if bool(np.isfinite(table).all()) else None


def _slice_log(one: SliceRecord, primary: str) -> float:
    took = one.latency.p50_ns if primary == "latency_us_p50" else 1e9 / one.rate_hz if one.rate_hz else 0.0
    return math.log(took) if took > 0 else math.nan
