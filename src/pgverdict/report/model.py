"""The model of a report: everything that any format shows, worked out once from a run and its verdicts.

report = make_report(run, judge_run(run))
print(report.cells[0].headline)
"""

from collections.abc import Sequence
from dataclasses import dataclass

from pgverdict import __version__
from pgverdict.judge.summary import Summary
from pgverdict.judge.trend import Trend
from pgverdict.judge.verdict import Verdict
from pgverdict.records.host import Diagnosis
from pgverdict.records.run import ArmFacts, CellRecord, RunRecord, RunState
from pgverdict.report import sentences, words
from pgverdict.report.beside import BesideReport
from pgverdict.report.beside_section import beside_section
from pgverdict.report.cells import CellReport, cell_report
from pgverdict.report.chosen import Chosen, chosen_settings
from pgverdict.report.command import compare_command
from pgverdict.report.curves import CurvesReport, curves_of, curves_section
from pgverdict.report.differences import Difference, differences_of, known_to_some
from pgverdict.report.disturbed import undisturbed
from pgverdict.report.names import work_name
from pgverdict.report.notes import run_notes
from pgverdict.report.partitions import PartitionsReport, partitions_of, partitions_section
from pgverdict.report.section import Section
from pgverdict.report.statement_table import JudgedCell, statements_section
from pgverdict.report.steps import StepsReport, steps_report
from pgverdict.spec.campaign import Campaign, CellSpec


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
            *(() if (table := self._statement_table) is None else (table,)),
            *map(partitions_section, self.partitions),
            *(section for section, _ in self.charted),
        )

    @property
    def _statement_table(self) -> Section | None:
        """Of campaigns from files, which are laid out as studies are; and of what is held against one."""
        if self.campaign.written is None and self.beside is None:
            return None
        cells = [JudgedCell(cell.spec, cell.labels, cell.verdicts) for cell in self.cells]
        return statements_section(cells, self.beside)

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
            cell_report(run, ordinal, candidate, tuple(judged), quiet)
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
