"""The model of a report: everything that any format shows, worked out once from a run and its verdicts.

report = make_report(run, judge_run(run))
print(report.cells[0].headline)
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from pgverdict import __version__
from pgverdict.judge.series import series
from pgverdict.judge.shape import Check, checks
from pgverdict.judge.spread import Spread, spread
from pgverdict.judge.summary import Summary
from pgverdict.judge.trend import Trend
from pgverdict.judge.values import Question, values
from pgverdict.judge.verdict import Verdict
from pgverdict.records.host import Diagnosis
from pgverdict.records.round import RoundRecord, RoundState
from pgverdict.records.run import ArmFacts, CellRecord, RunRecord, RunState
from pgverdict.report import sentences, words
from pgverdict.report.beside import BesideReport
from pgverdict.report.beside_section import beside_section
from pgverdict.report.chosen import Chosen, chosen_settings
from pgverdict.report.command import compare_command
from pgverdict.report.conditions import Condition, conditions_of, placement_of
from pgverdict.report.curves import CurvesReport, curves_of, curves_section
from pgverdict.report.differences import Difference, differences_of, known_to_some
from pgverdict.report.disturbed import Undisturbed, disturbed_notes, undisturbed
from pgverdict.report.names import work_name
from pgverdict.report.notes import cell_notes, handicaps, run_notes
from pgverdict.report.partitions import PartitionsReport, partitions_of, partitions_section
from pgverdict.report.remarks import Remarked, remarks
from pgverdict.report.section import Section
from pgverdict.report.statements import StatementReport, statements_of
from pgverdict.report.steps import StepsReport, steps_report
from pgverdict.spec.campaign import Campaign, CellSpec
from pgverdict.spec.regime import Regime


@dataclass(frozen=True)
class RoundEffect:
    """A round of a cell: what it alone says about the primary metric. None: it failed, or has no value."""

    number: int
    effect: float | None
    baseline_first: bool
    """Whether the baseline was started before the candidate."""
    failed: bool
    story: str | None
    disturbed_by: tuple[str, ...] = ()
    """What disturbed it, by `judge.disturbance.Source`."""


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
    statements: tuple[StatementReport, ...]
    """What clients and servers saw of each, described; verdicts on them are among the others."""
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
    diagnoses: tuple[Diagnosis, ...]
    """What `pgverdict doctor` said of it when the run began."""
    arms: tuple[ArmFacts, ...]
    differences: tuple[Difference, ...]
    chosen: tuple[Chosen, ...]
    """The settings that were chosen, and whose choice they were."""
    known_to_some: tuple[str, ...]
    """The settings that not all arms know."""
    notes: tuple[str, ...]
    command: str
    """What measures the whole run again."""
    cells: tuple[CellReport, ...]
    steps: tuple[StepsReport, ...]
    """Of the cells that are chains."""
    trends: tuple[TrendReport, ...]
    summaries: tuple[SummaryReport, ...]
    """Per candidate, where there are several cells."""
    promise: str
    """What the confidence is about, as a sentence without a full stop."""
    beside: BesideReport | None = None
    """The run beside published numbers, where that was asked for."""
    curves: tuple[CurvesReport, ...] = ()
    """Of cells that differ only in their clients."""
    partitions: tuple[PartitionsReport, ...] = ()
    """Of cells that differ only in their partitions."""

    @property
    def labels(self) -> tuple[str, ...]:
        """What the arms are called before people."""
        return tuple(words.arm_label(arm) for arm in self.arms)

    @property
    def sections(self) -> tuple[Section, ...]:
        """What stands beside the cells, the same in every format."""
        return (
            *(() if self.beside is None else (beside_section(self.beside),)),
            *map(partitions_section, self.partitions),
            *(section for section, _ in self.charted),
        )

    @property
    def charted(self) -> tuple[tuple[Section, CurvesReport], ...]:
        """The sections of curves, with what HTML draws of them."""
        return tuple((curves_section(one), one) for one in self.curves)

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
    beside: BesideReport | None = None,
) -> Report:
    """The report of a run; `verdicts` are `judge.cell.judge_run`'s, per cell and candidate, `trends`
    `judge.trend.judge_trends`'s, per cell, and `summaries` `judge.summary.summarize`'s, per candidate.
    `calibrated`: what is known of the host (`report.calibration`). `beside`: what `report.matching` makes of it
    and published numbers."""
    quiet = undisturbed(run)
    return Report(
        made_by=f"pgverdict {__version__}",
        id=run.id,
        state=run.state,
        started=run.started,
        # A run that was killed never said how long it took.
        seconds=run.seconds or sum(r.seconds for cell in run.cells for r in cell.rounds),
        campaign=run.campaign,
        host=run.host,
        diagnoses=run.diagnoses,
        arms=run.arms,
        differences=differences_of(run.arms, run.campaign.arms),
        chosen=chosen_settings(run.campaign),
        known_to_some=known_to_some(run.arms),
        notes=run_notes(run) + ((calibrated,) if calibrated else ()),
        command=compare_command(run),
        cells=tuple(
            _cell(run, ordinal, candidate, tuple(judged), quiet)
            for ordinal, by_candidate in zip(range(len(run.cells)), verdicts, strict=True)
            for candidate, judged in zip(run.campaign.candidates, by_candidate, strict=True)
        ),
        steps=tuple(
            told
            for cell, judged in zip(run.cells, verdicts, strict=True)
            if (told := steps_report(run, cell, judged)) is not None
        ),
        trends=tuple(
            _trend(run, cell, tuple(found))
            for cell, found in zip(run.cells, trends or ((),) * len(run.cells), strict=True)
            if found
        ),
        summaries=tuple(_summary(run, summary) for summary in summaries),
        promise=sentences.promise(
            run.campaign.confidence, members=len(run.campaign.cells) * len(run.campaign.candidates)
        ),
        beside=beside,
        curves=curves_of(run),
        partitions=partitions_of(run),
    )


def _summary(run: RunRecord, summary: Summary) -> SummaryReport:
    labels = {arm.name: words.arm_label(arm) for arm in run.arms}
    arms = (labels[summary.baseline], labels[summary.candidate])
    return SummaryReport(sentences.summary_sentence(summary, arms), summary)


def _trend(run: RunRecord, cell: CellRecord, trends: tuple[Trend, ...]) -> TrendReport:
    labels = tuple(words.arm_label(arm) for arm in run.arms)
    return TrendReport(
        spec=cell.spec,
        arms=tuple(arm.name for arm in run.arms),
        labels=labels,
        sentence=sentences.trend_sentence(
            trends[0], cell.spec, labels, work=work_name(cell.spec, run.campaign.cells)
        ),
        trends=trends,
    )


def _cell(
    run: RunRecord, ordinal: int, candidate: int, verdicts: tuple[Verdict, ...], quiet: Undisturbed
) -> CellReport:
    cell, disturbed = run.cells[ordinal], quiet.disturbed[ordinal]
    without = quiet.verdicts[ordinal][candidate - 1] if quiet.verdicts else None
    labels = (words.arm_label(run.arms[0]), words.arm_label(run.arms[candidate]))
    title = words.cell_title(cell.spec)
    alone = cell.regime in (Regime.STEADY.value, Regime.CHAIN.value)
    seconds = sum(r.seconds for r in cell.rounds)
    pace_s = seconds / len(cell.measured) if cell.measured else 0.0
    fixed = run.campaign.rounds
    short_of = fixed if fixed is not None and len(cell.measured) < fixed else None
    held_back = None if short_of is None else _held_back(short_of, run.state)
    if verdicts:
        work = work_name(cell.spec, run.campaign.cells)
        headline = sentences.headline(verdicts[0], cell.spec, labels, pace_s, held_back=held_back, work=work)
        headline = handicaps(run) + headline
    else:
        headline = f"Nothing is known yet about {work_name(cell.spec, run.campaign.cells)}"
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
            replace(
                _round_effect(number, r, cell, candidate),
                disturbed_by=tuple(one.source.value for one in disturbed.get(number, ())),
            )
            for number, r in enumerate(cell.rounds, start=1)
        ),
        conditions=conditions_of(cell, arms=(0, candidate)),
        statements=statements_of(cell, arms=(0, candidate)),
        placement=placement_of(cell.measured),
        spread=seen.spread,
        checks=seen.checks,
        notes=(
            *cell_notes(run, cell, candidate, verdicts),
            *disturbed_notes(cell, disturbed, verdicts[0] if verdicts else None, without),
            *remarks(seen),
        ),
        short_of=short_of,
    )


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
