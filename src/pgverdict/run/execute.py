"""The loop of a run: the next round, kept, judged, until every cell is decided or the budget is spent.

A round that failed is kept as failed and repeated under the same plan; a cell that fails several times in a
row is given up, as is one that cannot be prepared, and the others go on. A run that was stopped or killed goes on
where it was: its next rounds are those that its plan has next, the interrupted one first.
"""

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from time import monotonic
from types import MappingProxyType

from pgverdict.conduct.cell import PreparedCell
from pgverdict.conduct.round import run_round
from pgverdict.conduct.stretch import Tell
from pgverdict.errors import Incomplete, Interrupted, PgverdictError, UserError
from pgverdict.judge.cell import answer_cell, judge_answers, settle_run
from pgverdict.judge.decide import ROUNDS_MIN
from pgverdict.judge.family import Family
from pgverdict.observe.host import host_facts
from pgverdict.plan.budget import next_cell, time_left_s
from pgverdict.records.host import Diagnosis
from pgverdict.records.run import ArmFacts, CellRecord, Purpose, RunRecord, RunState
from pgverdict.run.cells import FAILURES_IN_A_ROW, LiveCell
from pgverdict.run.chains import refuse_handicaps
from pgverdict.run.handicap import carry_handicaps, settle_handicaps
from pgverdict.run.listener import Listener
from pgverdict.run.prepare import Preparation, diagnose
from pgverdict.run.resume import campaign_to_prepare, require_same, require_same_host, seconds_so_far
from pgverdict.run.site import Site
from pgverdict.spec.campaign import Campaign
from pgverdict.store.runs import Store

__all__ = ["FAILURES_IN_A_ROW", "execute", "go_on", "new_run"]


def execute(
    campaign: Campaign,
    site: Site,
    store: Store,
    listener: Listener,
    *,
    handicap_shares: Mapping[int, float] = MappingProxyType({}),
) -> RunRecord:
    """Prepare and run a campaign; what was measured is in the store at every moment.

    `handicap_shares`: arms to be slowed down by a share of their typical latency (`run.handicap`).
    Raises Incomplete if a cell had to be given up, after the others have been measured. An interrupt leaves the
    run in the store as stopped.
    """
    refuse_handicaps(campaign, handicap_shares)
    preparation = Preparation(campaign, site, listener)
    cells = [LiveCell(number, planned) for number, planned in enumerate(preparation.planned())]
    stage = _Stage(preparation, preparation.campaign, cells, site, store, listener)
    first = stage.prepare_what_fits()
    stage.campaign = settle_handicaps(preparation.campaign, first, handicap_shares, site, listener)
    stage.carry_handicaps()
    run = new_run(
        stage.campaign,
        preparation.meet([cell.prepared for cell in cells if cell.prepared]),
        [replace(cell.record, trouble=cell.trouble) for cell in cells],
        diagnose(site),
        left_out=preparation.ground.left_out,
    )
    store.begin_run(run)
    return stage.measure(run, spent_s=0.0)


def go_on(stopped: RunRecord, budget_s: float, site: Site, store: Store, listener: Listener) -> RunRecord:
    """Go on with a run that was stopped or killed, or whose budget was too small; as `execute`.

    `budget_s`: for all of its rounds, those it has included. WorldError where it cannot go on here, on another host,
    say, or with another build.
    """
    require_same_host(stopped)
    run = replace(stopped, campaign=replace(stopped.campaign, budget_s=budget_s))
    cells = [LiveCell.going_on(number, record) for number, record in enumerate(run.cells)]
    spent_s = seconds_so_far(run)
    _judge_all(cells, run.campaign)
    progress = [cell.progress(run.campaign.rounds) for cell in cells]
    if next_cell(progress, spent_s=spent_s, budget_s=budget_s) is None:
        listener.note(f"run {run.id} has nothing left to do within its budget")
        return stopped
    preparation = Preparation(campaign_to_prepare(run), site, listener)
    stage = _Stage(preparation, run.campaign, cells, site, store, listener)
    first = stage.prepare_what_fits()
    met = preparation.meet([first])
    require_same(run, preparation, met)
    for cell in cells:
        if cell.record.trouble != cell.trouble:
            store.note_trouble(run.id, cell.number, cell.trouble)
    store.resume_run(run.id, budget_s)
    return stage.measure(run, spent_s=spent_s)


def new_run(
    campaign: Campaign,
    arms: tuple[ArmFacts, ...],
    cells: Sequence[CellRecord],
    diagnoses: tuple[Diagnosis, ...],
    *,
    left_out: tuple[tuple[str, str], ...] = (),
    purpose: Purpose = Purpose.COMPARE,
) -> RunRecord:
    """A run that begins now, without rounds."""
    now = datetime.now(UTC)
    return RunRecord(
        # Sorts by time; four digits tell runs of one day apart for people, the store insists that they differ.
        id=f"{now:%Y-%m-%d-%H%M}-{secrets.token_hex(2)}",
        state=RunState.RUNNING,
        started=now.isoformat(timespec="milliseconds"),
        seconds=0.0,
        campaign=campaign,
        host=host_facts(),
        arms=arms,
        cells=tuple(cells),
        purpose=purpose,
        diagnoses=diagnoses,
        left_out=left_out,
    )


@dataclass
class _Stage:
    """What the rounds of a run need, beside its record."""

    preparation: Preparation
    campaign: Campaign
    cells: list[LiveCell]
    site: Site
    store: Store
    listener: Listener
    notes: list[tuple[str, ...]] = field(default_factory=list)
    """What is to be said of each arm, once cells were prepared that were not when the run began."""

    def prepare_what_fits(self) -> PreparedCell:
        """All open cells whose data fits beside that of the others, and at least one; the first of them.

        Raises what went wrong with the first cell if it did with all.
        """
        errors: list[PgverdictError | OSError] = []
        open_cells = [cell for cell in self.cells if cell.progress(self.campaign.rounds).open]
        done: list[LiveCell] = []
        for cell in open_cells:
            if done and not self.preparation.fits(cell.number):
                continue
            error = self._prepare(cell)
            if error is None:
                done.append(cell)
            else:
                errors.append(error)
        if not done:
            raise errors[0]
        for cell in open_cells:
            self._tell_trouble(cell)
        assert done[0].prepared is not None
        return done[0].prepared

    def carry_handicaps(self) -> None:
        """Once it is known how large they are."""
        for cell in self.cells:
            if cell.prepared is not None:
                cell.prepared = carry_handicaps(cell.prepared, self.campaign)

    def measure(self, run: RunRecord, *, spent_s: float) -> RunRecord:
        """Rounds until nothing is left to do. `spent_s`: what earlier sessions took of the budget."""
        clock = _Clock(spent_s)
        state = RunState.STOPPED
        try:
            self._measure(run, clock)
            state = RunState.DONE
        finally:
            self.store.finish_run(run.id, state, clock.spent_s)
        _complain(self.cells, run)
        return self.store.load_run(run.id)

    def _measure(self, run: RunRecord, clock: "_Clock") -> None:
        campaign = run.campaign
        family = _judge_all(self.cells, campaign)
        while True:
            progress = [cell.progress(campaign.rounds) for cell in self.cells]
            spent_s = clock.spent_s
            number = next_cell(progress, spent_s=spent_s, budget_s=campaign.budget_s, minimum=ROUNDS_MIN)
            if number is None:
                return
            cell = self.cells[number]
            if not cell.at_hand:
                self._prepare_late(run, cell, clock)
                continue  # it may be given up, or its rounds turn out to be longer than what is left
            assert cell.prepared is not None
            ordinal = len(cell.record.measured)
            left_s = time_left_s(progress, spent_s=spent_s, budget_s=campaign.budget_s)
            self.listener.round_begins(cell.record.spec, ordinal + 1, left_s)
            plan = cell.prepared.arrange(seed=campaign.seed, ordinal=ordinal)
            tell = _teller(cell, campaign, self.listener)
            try:
                record = run_round(cell.prepared, plan, cell.bounds, self.site.launch_arm, tell)
            except UserError as error:  # its settings are refused, which no repetition mends
                cell.trouble = str(error)
                self._tell_trouble(cell)
                self.store.note_trouble(run.id, number, cell.trouble)
                continue
            self.store.keep_round(run.id, number, record)
            cell.take(record)
            cell.answers = answer_cell(cell.record, campaign)
            family = _judge(self.cells, cell, campaign, family)
            self.listener.round_done(cell.record.spec, record, cell.verdicts)

    def _prepare_late(self, run: RunRecord, cell: LiveCell, clock: "_Clock") -> None:
        """A cell for which there was no room before. Its first preparation is set-up, and not of the budget."""
        before, first_time = monotonic(), cell.prepared is None
        self._prepare(cell)
        self._tell_trouble(cell)
        if cell.trouble != cell.record.trouble:
            self.store.note_trouble(run.id, cell.number, cell.trouble)
        if cell.prepared is not None and any(arm.notes for arm in cell.prepared.arms):
            said = zip(self.notes or [facts.notes for facts in run.arms], cell.prepared.arms, strict=True)
            self.notes = [tuple(dict.fromkeys((*notes, *arm.notes))) for notes, arm in said]
            self.store.keep_notes(run.id, self.notes)
        if first_time:
            clock.apart_s += monotonic() - before

    def _prepare(self, cell: LiveCell) -> PgverdictError | OSError | None:
        """What went wrong, if something did: the cell is then in trouble, and the others go on."""
        begun = monotonic()
        cell.visited_s.clear()
        try:
            prepared = self.preparation.cell(cell.number)
        except Interrupted:
            raise
        except (PgverdictError, OSError) as error:
            cell.prepared, cell.trouble = None, str(error)
            return error
        cell.prepared, cell.trouble = carry_handicaps(prepared, self.campaign), None
        cell.prepared_in_s = monotonic() - begun
        return None

    def _tell_trouble(self, cell: LiveCell) -> None:
        if cell.trouble is not None:
            self.listener.note(f"{cell.record.spec.key}: cannot be prepared: {cell.trouble}")


@dataclass
class _Clock:
    """How much of the budget is spent: the time since it was made but for what is set `apart_s`, and before."""

    before_s: float
    apart_s: float = 0.0

    def __post_init__(self) -> None:
        self._begun = monotonic()

    @property
    def spent_s(self) -> float:
        return self.before_s + monotonic() - self._begun - self.apart_s


def _teller(cell: LiveCell, campaign: Campaign, listener: Listener) -> Tell:
    def tell(arm: int, done: int, total: int | None) -> None:
        listener.stretch(cell.record.spec, campaign.arms[arm].name, done, total)

    return tell


def _judge_all(cells: Sequence[LiveCell], campaign: Campaign) -> Family | None:
    """What rounds of earlier sessions say; None where there are none."""
    begun = [cell for cell in cells if cell.record.rounds]
    if not begun:
        return None
    for cell in begun:
        cell.answers = answer_cell(cell.record, campaign)
    return _judge(cells, begun[0], campaign, None)


def _judge(cells: Sequence[LiveCell], changed: LiveCell, campaign: Campaign, before: Family | None) -> Family:
    """A cell's new answers may decide others, too: all are judged anew where the levels moved."""
    family = settle_run([cell.answers for cell in cells], campaign)
    for cell in cells if family != before else [changed]:
        cell.verdicts = judge_answers(cell.answers, family)
    return family


def _complain(cells: Sequence[LiveCell], run: RunRecord) -> None:
    """Incomplete if not everything that was asked for was measured, once all the rest is."""
    failed = [cell for cell in cells if cell.failures_in_a_row >= FAILURES_IN_A_ROW]
    missing = [cell for cell in cells if cell.trouble is not None]
    said = []
    if failed:
        said.append(
            f"gave up on {', '.join(cell.record.spec.key for cell in failed)} after {FAILURES_IN_A_ROW} failed"
            f" rounds in a row; the last one: {failed[0].record.rounds[-1].story}"
        )
    if missing:
        said.append(
            f"could not prepare {', '.join(cell.record.spec.key for cell in missing)}: {missing[0].trouble}"
        )
    if run.left_out:
        said.append(
            f"had to leave out {', '.join(server for server, _ in run.left_out)}: {run.left_out[0][1]}"
        )
    if said:
        raise Incomplete(
            "; ".join(said), run_id=run.id, hint="the others were measured: `pgverdict report` shows them"
        )
