"""The model of a report: everything that any format shows, worked out once from a run and its verdicts.

report = make_report(run, judge_run(run))
print(report.cells[0].headline)
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from pgverdict import __version__
from pgverdict.judge.decide import ROUNDS_MIN, missable_share
from pgverdict.judge.failures import count_failures
from pgverdict.judge.series import series, stall_ns, stalled_slices
from pgverdict.judge.shape import Check, checks
from pgverdict.judge.spread import Spread, spread
from pgverdict.judge.summary import Summary
from pgverdict.judge.trend import Trend
from pgverdict.judge.values import Question, values
from pgverdict.judge.verdict import Outcome, Verdict
from pgverdict.records.round import ArmRecord, RoundRecord, RoundState
from pgverdict.records.run import ArmFacts, CellRecord, RunRecord, RunState
from pgverdict.report import words
from pgverdict.report.command import compare_command
from pgverdict.report.regimes import regime_notes
from pgverdict.report.remarks import Remarked, remarks
from pgverdict.spec.campaign import Campaign, CellSpec, Pinning
from pgverdict.spec.regime import Regime

_MADE_WITH = ("compiler", "configure", "cflags")
"""What a build says about its making; arms that differ here differ in more than PostgreSQL."""

_PLACES = frozenset(
    {
        "config_file",
        "data_directory",
        "external_pid_file",
        "hba_file",
        "ident_file",
        "stats_temp_directory",
        "unix_socket_directories",
    }
)
"""Settings that say only where we put an arm: they always differ, and the user may not give them."""


@dataclass(frozen=True)
class RoundEffect:
    """A round of a cell: what it alone says about the primary metric. None: it failed, or has no value."""

    number: int
    effect: float | None
    baseline_first: bool
    """Whether the baseline was started before the candidate."""
    failed: bool
    story: str | None


@dataclass(frozen=True)
class Condition:
    """In which state baseline and candidate were, one value for each: the median over the measured rounds, or how
    many of them."""

    name: str
    unit: str
    values: tuple[float | None, ...]


@dataclass(frozen=True)
class Difference:
    """Something in which the arms differ; None where an arm has no such thing."""

    area: str
    name: str
    values: tuple[str | None, ...]


@dataclass(frozen=True)
class CellReport:
    """A candidate in a cell, as it is shown. The verdicts stand in order, the primary metric's first."""

    spec: CellSpec
    arms: tuple[str, str]
    """The names of the baseline and of the candidate."""
    labels: tuple[str, str]
    """What they are called before people."""
    title: str
    primary: str
    regime: str
    rounds: int
    failed_rounds: int
    pairs: int
    """0 where the arms worked whole and alone."""
    seconds: float
    headline: str
    verdicts: tuple[Verdict, ...]
    round_effects: tuple[RoundEffect, ...]
    conditions: tuple[Condition, ...]
    placement: tuple[tuple[str, str], ...]
    spread: Spread | None
    """How much more the candidate scatters from round to round than the baseline; it decides nothing."""
    checks: tuple[Check, ...]
    """What was looked for in the rounds because no interval covers it; what was found is among the notes."""
    notes: tuple[str, ...]
    short_of: int | None
    """How many rounds were fixed for the cell, where it has fewer: there is then no verdict, by rule."""

    @property
    def verdict(self) -> Verdict | None:
        """The one that decides the cell; None before anything was judged."""
        return self.verdicts[0] if self.verdicts else None

    @property
    def turns(self) -> str:
        """How the arms shared the rounds: '288 pairs'."""
        return words.count(self.pairs, "pair") if self.pairs or not self.rounds else "each arm alone"

    @property
    def subjects(self) -> tuple[str, ...]:
        """The statements that have verdicts, in order; formats number them."""
        whole = self.verdicts[0].subject if self.verdicts else ""
        return tuple(dict.fromkeys(v.subject for v in self.verdicts if v.subject != whole))

    def rounds_wanted(self, verdict: Verdict) -> str:
        """`words.rounds_wanted`; a cell that is short of its rounds wants those, and the forecast is not about them."""
        return words.rounds_wanted(verdict) if self.short_of is None else ""


@dataclass(frozen=True)
class TrendReport:
    """How a cell's metrics change from release to release, the primary's trend first; `sentence` is about that one."""

    spec: CellSpec
    arms: tuple[str, ...]
    labels: tuple[str, ...]
    sentence: str
    trends: tuple[Trend, ...]


@dataclass(frozen=True)
class SummaryReport:
    """A candidate over all cells; the sentence has no full stop."""

    sentence: str
    summary: Summary


@dataclass(frozen=True)
class Report:
    """A run as it is shown. A cell with several candidates is there once for each."""

    made_by: str
    id: str
    state: RunState
    started: str
    seconds: float
    campaign: Campaign
    host: tuple[tuple[str, str], ...]
    arms: tuple[ArmFacts, ...]
    differences: tuple[Difference, ...]
    notes: tuple[str, ...]
    command: str
    """What measures the whole run again."""
    cells: tuple[CellReport, ...]
    trends: tuple[TrendReport, ...]
    summaries: tuple[SummaryReport, ...]
    """Per candidate, where there are several cells."""
    promise: str
    """What the confidence is about, as a sentence without a full stop."""

    @property
    def labels(self) -> tuple[str, ...]:
        """What the arms are called before people."""
        return tuple(words.arm_label(arm) for arm in self.arms)

    def notes_on(self, cell: CellReport) -> tuple[str, ...]:
        """The cell's notes without those that stand under an earlier candidate of the same cell."""
        earlier = [one for one in self.cells[: self.cells.index(cell)] if one.spec == cell.spec]
        told = {note for one in earlier for note in one.notes}
        return tuple(note for note in cell.notes if note not in told)

    @property
    def title(self) -> str:
        """'18.1 against 17.7'."""
        return f"{self.candidates} against {self.labels[0]}"

    @property
    def candidates(self) -> str:
        """What the candidates are called, in a row."""
        return words.listed(self.labels[1:])


def make_report(
    run: RunRecord,
    verdicts: Sequence[Sequence[Sequence[Verdict]]],
    trends: Sequence[Sequence[Trend]] = (),
    summaries: Sequence[Summary] = (),
    *,
    calibrated: str | None = None,
) -> Report:
    """The report of a run; `verdicts` are `judge.cell.judge_run`'s, per cell and candidate, `trends`
    `judge.trend.judge_trends`'s, per cell, and `summaries` `judge.summary.summarize`'s, per candidate.
    `calibrated`: what is known of the host (`report.calibration`)."""
    differences = _differences(run.arms)
    return Report(
        made_by=f"pgverdict {__version__}",
        id=run.id,
        state=run.state,
        started=run.started,
        # A run that was killed never said how long it took.
        seconds=run.seconds or sum(r.seconds for cell in run.cells for r in cell.rounds),
        campaign=run.campaign,
        host=run.host,
        arms=run.arms,
        differences=differences,
        notes=_run_notes(run, differences) + ((calibrated,) if calibrated else ()),
        command=compare_command(run),
        cells=tuple(
            _cell(run, cell, candidate, tuple(judged))
            for cell, by_candidate in zip(run.cells, verdicts, strict=True)
            for candidate, judged in zip(run.campaign.candidates, by_candidate, strict=True)
        ),
        trends=tuple(
            _trend(run, cell, tuple(found))
            for cell, found in zip(run.cells, trends or ((),) * len(run.cells), strict=True)
            if found
        ),
        summaries=tuple(_summary(run, summary) for summary in summaries),
        promise=words.promise(
            run.campaign.confidence, members=len(run.campaign.cells) * len(run.campaign.candidates)
        ),
    )


def _summary(run: RunRecord, summary: Summary) -> SummaryReport:
    labels = {arm.name: words.arm_label(arm) for arm in run.arms}
    arms = (labels[summary.baseline], labels[summary.candidate])
    return SummaryReport(words.summary_sentence(summary, arms), summary)


def _trend(run: RunRecord, cell: CellRecord, trends: tuple[Trend, ...]) -> TrendReport:
    labels = tuple(words.arm_label(arm) for arm in run.arms)
    return TrendReport(
        spec=cell.spec,
        arms=tuple(arm.name for arm in run.arms),
        labels=labels,
        sentence=words.trend_sentence(trends[0], cell.spec, labels),
        trends=trends,
    )


def _cell(run: RunRecord, cell: CellRecord, candidate: int, verdicts: tuple[Verdict, ...]) -> CellReport:
    labels = (words.arm_label(run.arms[0]), words.arm_label(run.arms[candidate]))
    title = words.cell_title(cell.spec)
    alone = cell.regime == Regime.STEADY.value
    seconds = sum(r.seconds for r in cell.rounds)
    pace_s = seconds / len(cell.measured) if cell.measured else 0.0
    fixed = run.campaign.rounds
    short_of = fixed if fixed is not None and len(cell.measured) < fixed else None
    held_back = None if short_of is None else _held_back(short_of, run.state)
    if verdicts:
        headline = words.headline(verdicts[0], cell.spec, labels, pace_s, held_back=held_back)
        headline = _handicaps(run) + headline
    else:
        headline = f"Nothing is known yet about {cell.spec.workload}"
    seen = _seen(run, cell, candidate)
    return CellReport(
        spec=cell.spec,
        arms=(run.arms[0].name, run.arms[candidate].name),
        labels=labels,
        title=title if len(run.arms) == 2 else f"{title}: {labels[1]} against {labels[0]}",
        primary=cell.primary,
        regime=cell.regime,
        rounds=len(cell.measured),
        failed_rounds=len(cell.rounds) - len(cell.measured),
        pairs=0 if alone else sum(len(r.plan.pairs) for r in cell.measured),
        seconds=seconds,
        headline=headline,
        verdicts=verdicts,
        round_effects=tuple(
            _round_effect(number, r, cell, candidate) for number, r in enumerate(cell.rounds, start=1)
        ),
        conditions=_conditions(cell, arms=(0, candidate)),
        placement=_placement(cell.measured),
        spread=seen.spread,
        checks=seen.checks,
        notes=(
            *_cell_notes(run, cell, candidate, verdicts),
            *_failure_notes(run, cell, candidate, verdicts),
            *remarks(seen),
        ),
        short_of=short_of,
    )


def _handicaps(run: RunRecord) -> str:
    """What stands before every headline of a run with an arm that was slowed down on purpose; mostly nothing."""
    said = [
        f"{words.arm_label(found)} SLOWED DOWN ON PURPOSE by {asked.handicap_ns:,} ns per message"
        for asked, found in zip(run.campaign.arms, run.arms, strict=True)
        if asked.handicap_ns
    ]
    return f"{words.listed(said)}: " if said else ""


def _seen(run: RunRecord, cell: CellRecord, candidate: int) -> Remarked:
    """What stands beside the intervals of a cell and candidate."""
    found = series(cell, candidate=candidate)
    return Remarked(
        primary=cell.primary,
        arms=(words.arm_label(run.arms[0]), words.arm_label(run.arms[candidate])),
        numbers=tuple(
            number
            for number, record in enumerate(cell.rounds, start=1)
            if record.state is RoundState.MEASURED
            and _round_effect(number, record, cell, candidate).effect is not None
        ),
        stalled=(int((found.stalls[0] > 0).sum()), int((found.stalls[1] > 0).sum())),
        spread=spread(found, confidence=run.campaign.confidence),
        checks=checks(found, margin=run.campaign.margin),
    )


def _held_back(rounds: int, state: RunState) -> str:
    """Why there is no verdict where the number of rounds was fixed and is not reached."""
    if state is RunState.RUNNING:
        return f"its {words.count(rounds, 'round')} are not complete yet"
    return f"stopped before its {words.count(rounds, 'round')}"


def _round_effect(number: int, record: RoundRecord, cell: CellRecord, candidate: int) -> RoundEffect:
    failed = record.state is RoundState.FAILED
    question = Question(cell.primary)
    value = None if failed else values(record, question, clients=cell.spec.clients, candidate=candidate)
    effect = None if value is None else math.exp(value.log_ratio)
    order = record.plan.start_order
    return RoundEffect(number, effect, order.index(0) < order.index(candidate), failed, record.story)


def _conditions(cell: CellRecord, *, arms: tuple[int, int]) -> tuple[Condition, ...]:
    rounds = cell.measured
    if not rounds:
        return ()
    by_arm = [[found for r in rounds for found in r.arms if found.arm == arm] for arm in arms]

    def typical(name: str) -> tuple[float | None, ...]:
        return tuple(_median(records, name) for records in by_arm)

    return (
        Condition("start of the server", "ms", typical("start_ms")),
        Condition("size of the database", "bytes", typical("data_bytes")),
        Condition("blocks read from outside shared buffers, per round", "", typical("buffers_read")),
        Condition("read from storage, per round", "bytes", typical("storage_read_bytes")),
        Condition("transactions counted, per round", "", typical("transactions")),
        *_hit_by_stalls(cell, arms),
        *_covered(by_arm),
    )


def _hit_by_stalls(cell: CellRecord, arms: tuple[int, int]) -> list[Condition]:
    """How many rounds were; not told of steady ones, which hold checkpoints on purpose."""
    if cell.regime == Regime.STEADY.value:
        return []
    stall = stall_ns(cell)
    hit = tuple(float(sum(stalled_slices(r, arm, stall) > 0 for r in cell.measured)) for arm in arms)
    return [Condition("hit by a stall, in all", "rounds", hit)]


def _covered(by_arm: Sequence[Sequence[ArmRecord]]) -> list[Condition]:
    """What the arms of steady rounds went through; nothing in other regimes."""
    if all(arm.checkpoints is None for records in by_arm for arm in records):
        return []
    hot = sorted({t.name for records in by_arm for arm in records for t in arm.tables if t.hot})

    def vacuums(name: str) -> tuple[float | None, ...]:
        seen = [[t.vacuums for arm in records for t in arm.tables if t.name == name] for records in by_arm]
        return tuple(float(median(counts)) if counts else None for counts in seen)

    return [
        Condition(
            "checkpoints finished, per round",
            "",
            tuple(_median(records, "checkpoints") for records in by_arm),
        ),
        Condition(
            "WAL written, per round", "bytes", tuple(_median(records, "wal_bytes") for records in by_arm)
        ),
        *(Condition(f"vacuums of {name}, per round", "", vacuums(name)) for name in hot),
    ]


def _median(records: Sequence[ArmRecord], name: str) -> float | None:
    known = [value for record in records if (value := getattr(record, name)) is not None]
    return float(median(known)) if known else None


def _placement(rounds: Sequence[RoundRecord]) -> tuple[tuple[str, str], ...]:
    """The same in all rounds, as a rule; what was not is listed, and what was timed is summed up."""
    found: dict[str, list[str]] = {}
    for record in rounds:
        for name, value in record.placement:
            found.setdefault(name, []).append(value)
    return tuple(
        (name, str(round(_TIMED[ending](map(float, seen)))))
        if (ending := name.rpartition("_ns_")[2]) in _TIMED and "_ns_" in name
        else (name, ", then ".join(dict.fromkeys(seen)))
        for name, seen in found.items()
    )


_TIMED: Mapping[str, Callable[[Iterable[float]], float]] = {"median": median, "max": max}
"""How the rounds of a placement's entry ending so, in ns, become one: the typical round's, the worst."""


def _differences(arms: Sequence[ArmFacts]) -> tuple[Difference, ...]:
    found = []
    for area, facts in (
        ("build", [dict(arm.build) for arm in arms]),
        ("setting", [dict(arm.settings) for arm in arms]),
    ):
        for name in sorted({name for one in facts for name in one} - _PLACES):
            told = tuple(one.get(name) for one in facts)
            if len(set(told)) > 1:
                found.append(Difference(area, name, told))
    return tuple(found)


def _run_notes(run: RunRecord, differences: Sequence[Difference]) -> tuple[str, ...]:
    notes = []
    if handicaps := _handicaps(run):
        notes.append(
            f"{handicaps.removesuffix(': ')}: this run tests pgverdict and says nothing about these servers"
        )
    if run.state is RunState.RUNNING:
        notes.append("this run has not ended, or its process was killed: these are the rounds it kept")
    if run.state is RunState.STOPPED:
        notes.append("this run was stopped before its end")
    if run.campaign.rounds is not None and run.campaign.rounds < ROUNDS_MIN:
        notes.append(
            f"a run of {words.count(run.campaign.rounds, 'round')} always ends UNDECIDED:"
            f" a verdict takes at least {ROUNDS_MIN}"
        )
    unlike = [d.name for d in differences if d.area == "build" and d.name in _MADE_WITH]
    if unlike:
        notes.append(
            f"the arms were built differently ({words.listed(unlike)}): an effect may come from that"
            " rather than from PostgreSQL"
        )
    by_note: dict[str, list[str]] = {}
    for arm in run.arms:
        for note in arm.notes:
            by_note.setdefault(note, []).append(words.arm_label(arm))
    notes += [f"{words.listed(labels)}: {note}" for note, labels in by_note.items()]
    return tuple(notes)


def _shared(pools: tuple[int, ...], candidate: int) -> bool:
    return bool(pools) and pools[0] == pools[candidate]


def _failure_notes(
    run: RunRecord, cell: CellRecord, number: int, verdicts: Sequence[Verdict]
) -> tuple[str, ...]:
    """What the failed rounds say of baseline and candidate, and what they keep from being said."""
    notes = []
    failures = count_failures(cell, number)
    if failures.baseline or failures.candidate:
        baseline, candidate = words.arm_label(run.arms[0]), words.arm_label(run.arms[number])
        blamed = (
            f"of {words.count(failures.failed, 'failed round')} out of {failures.rounds}, {failures.baseline} are"
            f" blamed on {baseline} and {failures.candidate} on {candidate}"
        )
        if failures.p_value <= 1 - run.campaign.confidence:
            worse = candidate if failures.candidate > failures.baseline else baseline
            notes.append(
                f"{blamed}: {worse} fails more often, and what it would have shown in those rounds is in no interval"
            )
        else:
            notes.append(f"{blamed}: no more uneven than chance makes them")
    notes += [
        f"SAME is withheld where the intervals say it: {reason}"
        for reason in dict.fromkeys(v.withheld for v in verdicts if v.withheld is not None)
    ]
    return tuple(notes)


def _cell_notes(
    run: RunRecord, cell: CellRecord, candidate: int, verdicts: Sequence[Verdict]
) -> tuple[str, ...]:
    notes = []
    if cell.measured:
        notes.append(
            words.replication(
                loads=min(len({r.plan.loads[arm] for r in cell.measured}) for arm in (0, candidate)),
                installs=min(len({r.plan.installs[arm] for r in cell.measured}) for arm in (0, candidate)),
                same_loads=_shared(cell.load_pools, candidate),
                same_installs=_shared(cell.install_pools, candidate),
            )
        )
    if verdicts and verdicts[0].outcome is Outcome.SAME:
        missed = missable_share(verdicts[0].rounds, run.campaign.confidence)
        notes.append(
            f"SAME is about what happens in most rounds: {words.count(verdicts[0].rounds, 'round')} may miss what"
            f" happens in fewer than {missed:.0%} of them".replace("%", " %")
        )
    if any(("placement", Pinning.FREE.value) in r.placement for r in cell.measured):
        notes.append(
            "placement free: clients and server processes ran where the kernel put them, as users' do; results say"
            " nothing about pinned ones"
        )
    notes += regime_notes(cell, {arm: words.arm_label(run.arms[arm]) for arm in (0, candidate)})
    stories = [r.story or "without a story" for r in cell.rounds if r.state is RoundState.FAILED]
    for story in dict.fromkeys(stories):
        notes.append(f"{words.count(stories.count(story), 'round')} failed, in no interval: {story}")
    rolled_back = sum(arm.failed for r in cell.measured for arm in r.arms)
    if rolled_back:
        notes.append(
            f"{words.count(rolled_back, 'transaction')} ended in a serialization failure or a deadlock"
        )
    if any(arm.storage_read_bytes for r in cell.measured for arm in r.arms):
        notes.append("storage was read while slices ran: the data was not all in memory")
    return tuple(notes)
