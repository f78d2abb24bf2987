"""A candidate in a cell, as every format shows it: its verdicts, its rounds, and what stands beside them."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from pgverdict.judge.series import series
from pgverdict.judge.shape import Check, checks
from pgverdict.judge.spread import Spread, spread
from pgverdict.judge.values import Question, values
from pgverdict.judge.verdict import Verdict
from pgverdict.records.round import RoundRecord, RoundState
from pgverdict.records.run import CellRecord, RunRecord, RunState
from pgverdict.report import sentences, words
from pgverdict.report.conditions import Condition, conditions_of, placement_of
from pgverdict.report.disturbed import Undisturbed, disturbed_notes
from pgverdict.report.names import work_name
from pgverdict.report.notes import cell_notes, handicaps
from pgverdict.report.remarks import Remarked, remarks
from pgverdict.report.statements import StatementReport, statements_of
from pgverdict.spec.campaign import CellSpec
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


def cell_report(
    run: RunRecord, ordinal: int, candidate: int, verdicts: tuple[Verdict, ...], quiet: Undisturbed
) -> CellReport:
    """The report of a run's cell and candidate, both by their number. `quiet`: what disturbed the run's rounds."""
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
    effects = tuple(
        replace(
            _round_effect(number, r, cell, candidate),
            disturbed_by=tuple(one.source.value for one in disturbed.get(number, ())),
        )
        for number, r in enumerate(cell.rounds, start=1)
    )
    seen = _seen(run, cell, candidate, effects)
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
        round_effects=effects,
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


def _seen(run: RunRecord, cell: CellRecord, candidate: int, effects: Sequence[RoundEffect]) -> Remarked:
    """What stands beside the intervals of a cell and candidate."""
    found = series(cell, candidate=candidate)
    return Remarked(
        primary=cell.primary,
        arms=(words.arm_label(run.arms[0]), words.arm_label(run.arms[candidate])),
        numbers=tuple(one.number for one in effects if one.effect is not None),
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
