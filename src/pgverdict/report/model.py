"""The model of a report: everything that any format shows, worked out once from a run and its verdicts.

report = make_report(run, judge_run(run))
print(report.cells[0].headline)
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from pgverdict import __version__
from pgverdict.judge.decide import ROUNDS_MIN, missable_share
from pgverdict.judge.values import Question, values
from pgverdict.judge.verdict import Outcome, Verdict
from pgverdict.records.round import ArmRecord, RoundRecord, RoundState
from pgverdict.records.run import ArmFacts, CellRecord, RunRecord, RunState
from pgverdict.report import words
from pgverdict.report.command import compare_command
from pgverdict.report.regimes import regime_notes
from pgverdict.spec.campaign import Campaign, CellSpec
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
    """Whether the baseline was the first to start."""
    failed: bool
    story: str | None


@dataclass(frozen=True)
class Condition:
    """In which state the arms were: the median over the measured rounds, one value per arm."""

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
    """A cell as it is shown. The verdicts stand in order, the primary metric's first."""

    spec: CellSpec
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
class Report:
    """A run as it is shown."""

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

    @property
    def labels(self) -> tuple[str, ...]:
        """What the arms are called before people."""
        return tuple(words.arm_label(arm) for arm in self.arms)


def make_report(run: RunRecord, verdicts: Sequence[Sequence[Verdict]]) -> Report:
    """The report of a run; `verdicts` are `judge.cell.judge_run`'s, per cell."""
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
        notes=_run_notes(run, differences),
        command=compare_command(run),
        cells=tuple(
            _cell(run, cell, tuple(judged)) for cell, judged in zip(run.cells, verdicts, strict=True)
        ),
    )


def _cell(run: RunRecord, cell: CellRecord, verdicts: tuple[Verdict, ...]) -> CellReport:
    alone = cell.regime == Regime.STEADY.value
    seconds = sum(r.seconds for r in cell.rounds)
    pace_s = seconds / len(cell.measured) if cell.measured else 0.0
    fixed = run.campaign.rounds
    short_of = fixed if fixed is not None and len(cell.measured) < fixed else None
    held_back = None if short_of is None else _held_back(short_of, run.state)
    if verdicts:
        baseline, candidate = (words.arm_label(arm) for arm in run.arms)
        arms = (baseline, candidate)
        headline = words.headline(verdicts[0], cell.spec, arms, pace_s, held_back=held_back)
    else:
        headline = f"Nothing is known yet about {cell.spec.workload}"
    return CellReport(
        spec=cell.spec,
        primary=cell.primary,
        regime=cell.regime,
        rounds=len(cell.measured),
        failed_rounds=len(cell.rounds) - len(cell.measured),
        pairs=0 if alone else sum(len(r.plan.pairs) for r in cell.measured),
        seconds=seconds,
        headline=headline,
        verdicts=verdicts,
        round_effects=tuple(_round_effect(number, r, cell) for number, r in enumerate(cell.rounds, start=1)),
        conditions=_conditions(cell.measured, arms=len(run.arms)),
        placement=_placement(cell.measured),
        notes=_cell_notes(cell, run, verdicts),
        short_of=short_of,
    )


def _held_back(rounds: int, state: RunState) -> str:
    """Why there is no verdict where the number of rounds was fixed and is not reached."""
    if state is RunState.RUNNING:
        return f"its {words.count(rounds, 'round')} are not complete yet"
    return f"stopped before its {words.count(rounds, 'round')}"


def _round_effect(number: int, record: RoundRecord, cell: CellRecord) -> RoundEffect:
    failed = record.state is RoundState.FAILED
    primary = Question(cell.primary)
    value = None if failed else values(record, primary, clients=cell.spec.clients, regime=cell.regime)
    effect = None if value is None else math.exp(value.log_ratio)
    return RoundEffect(number, effect, record.plan.start_order[0] == 0, failed, record.story)


def _conditions(rounds: Sequence[RoundRecord], *, arms: int) -> tuple[Condition, ...]:
    if not rounds:
        return ()
    by_arm = [[found for r in rounds for found in r.arms if found.arm == arm] for arm in range(arms)]

    def typical(name: str) -> tuple[float | None, ...]:
        return tuple(_median(records, name) for records in by_arm)

    return (
        Condition("start of the server", "ms", typical("start_ms")),
        Condition("size of the database", "bytes", typical("data_bytes")),
        Condition("blocks read from outside shared buffers, per round", "", typical("buffers_read")),
        Condition("read from storage, per round", "bytes", typical("storage_read_bytes")),
        Condition("transactions counted, per round", "", typical("transactions")),
        *_covered(by_arm),
    )


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
    """The same in all rounds, as a rule; what was not is listed."""
    found: dict[str, dict[str, None]] = {}
    for record in rounds:
        for name, value in record.placement:
            found.setdefault(name, {})[value] = None
    return tuple((name, ", then ".join(distinct)) for name, distinct in found.items())


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


def _cell_notes(cell: CellRecord, run: RunRecord, verdicts: Sequence[Verdict]) -> tuple[str, ...]:
    notes = []
    if cell.measured:
        loads = min(len({r.plan.loads[arm] for r in cell.measured}) for arm in (0, 1))
        notes.append(
            f"each arm's data came from {words.count(loads, 'independent load')} and one install: how much others"
            " would differ is in no interval"
        )
    if verdicts and verdicts[0].outcome is Outcome.SAME:
        missed = missable_share(verdicts[0].rounds, run.campaign.confidence)
        notes.append(
            f"SAME is about what happens in most rounds: {words.count(verdicts[0].rounds, 'round')} may miss what"
            f" happens in fewer than {missed:.0%} of them".replace("%", " %")
        )
    notes += regime_notes(cell, [words.arm_label(arm) for arm in run.arms])
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
