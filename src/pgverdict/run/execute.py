"""The loop of a run: the next round, kept, judged, until every cell is decided or the budget is spent.

A round that failed is kept as failed and repeated under the same plan; a cell that fails several times in a
row is given up, and the others go on.
"""

import secrets
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from time import monotonic

from pgverdict.conduct.bounds import Bounds
from pgverdict.conduct.cell import PreparedCell
from pgverdict.conduct.collect import bounds_of
from pgverdict.conduct.round import run_round
from pgverdict.errors import WorldError
from pgverdict.judge.alpha import cell_alphas
from pgverdict.judge.cell import is_decided, judge_cell
from pgverdict.judge.verdict import Verdict
from pgverdict.observe.host import host_facts
from pgverdict.plan.budget import CellProgress, next_cell, time_left_s
from pgverdict.plan.rounds import arrange
from pgverdict.plan.stretches import whole
from pgverdict.records.round import RoundRecord, RoundState
from pgverdict.records.run import CellRecord, RunRecord, RunState
from pgverdict.run.aging import expected_round_s
from pgverdict.run.listener import Listener
from pgverdict.run.prepare import Prepared, prepare
from pgverdict.run.site import Site
from pgverdict.spec.campaign import Campaign
from pgverdict.spec.regime import Regime
from pgverdict.store.runs import Store

FAILURES_IN_A_ROW = 3
"""After so many a cell is given up: what fails three times on fresh servers will fail a fourth time."""


def execute(campaign: Campaign, site: Site, store: Store, listener: Listener) -> RunRecord:
    """Prepare and run a campaign; what was measured is in the store at every moment.

    Raises WorldError if a cell had to be given up, after the others have been measured. An interrupt leaves the
    run in the store as stopped.
    """
    prepared = prepare(campaign, site, listener)
    run = _begin(campaign, prepared)
    store.begin_run(run)
    cells = [_LiveCell(made, record) for made, record in zip(prepared.cells, run.cells, strict=True)]
    begun = monotonic()
    state = RunState.STOPPED
    try:
        _measure(run, cells, site, store, listener, begun)
        state = RunState.DONE
    finally:
        store.finish_run(run.id, state, monotonic() - begun)
    _complain_of_given_up(cells)
    return store.load_run(run.id)


@dataclass
class _LiveCell:
    """A cell while the run lasts: its rounds so far and what they say."""

    prepared: PreparedCell
    record: CellRecord
    verdicts: tuple[Verdict, ...] = ()
    failures_in_a_row: int = 0
    bounds: Bounds | None = None

    def progress(self, fixed: int | None) -> CellProgress:
        measured = len(self.record.measured)
        primary = self.verdicts[0] if self.verdicts else None
        more: int | None
        if fixed is not None:
            decided, more = measured >= fixed, fixed - measured
        else:
            decided = bool(self.verdicts) and is_decided(self.verdicts)
            more = primary.more_rounds if primary else None
        return CellProgress(
            rounds_s=tuple(r.seconds for r in self.record.rounds),
            decided=decided,
            given_up=self.failures_in_a_row >= FAILURES_IN_A_ROW,
            more_rounds=more,
            expected_s=expected_round_s(self.prepared),
        )


def _begin(campaign: Campaign, prepared: Prepared) -> RunRecord:
    now = datetime.now(UTC)
    return RunRecord(
        # Sorts by time; four digits tell runs of one day apart for people, the store insists that they differ.
        id=f"{now:%Y-%m-%d-%H%M}-{secrets.token_hex(2)}",
        state=RunState.RUNNING,
        started=now.isoformat(timespec="milliseconds"),
        seconds=0.0,
        campaign=campaign,
        host=host_facts(),
        arms=prepared.arms,
        cells=tuple(
            CellRecord(spec=cell.spec, primary=cell.workload.primary, regime=cell.regime.value)
            for cell in prepared.cells
        ),
    )


def _measure(
    run: RunRecord, cells: list[_LiveCell], site: Site, store: Store, listener: Listener, begun: float
) -> None:
    campaign = run.campaign
    baseline, candidate = (arm.name for arm in campaign.arms)
    while True:
        progress = [cell.progress(campaign.rounds) for cell in cells]
        spent_s = monotonic() - begun
        number = next_cell(progress, spent_s=spent_s, budget_s=campaign.budget_s)
        if number is None:
            return
        cell = cells[number]
        ordinal = len(cell.record.measured)
        left_s = time_left_s(progress, spent_s=spent_s, budget_s=campaign.budget_s)
        listener.round_begins(cell.record.spec, ordinal + 1, left_s)
        plan = arrange(cell.record.spec.key, seed=campaign.seed, ordinal=ordinal, loads=cell.prepared.loads)
        if cell.prepared.regime is Regime.STEADY:
            plan = whole(plan)
        record = run_round(cell.prepared, plan, cell.bounds, site.launch_arm)
        store.keep_round(run.id, number, record)
        _take(cell, record)
        cell.verdicts = judge_cell(
            cell.record, campaign, (baseline, candidate), cell_alphas(cell.record, campaign)
        )
        listener.round_done(cell.record.spec, record, cell.verdicts)


def _take(cell: _LiveCell, record: RoundRecord) -> None:
    cell.record = replace(cell.record, rounds=(*cell.record.rounds, record))
    if record.state is RoundState.FAILED:
        cell.failures_in_a_row += 1
        return
    cell.failures_in_a_row = 0
    cell.bounds = cell.bounds or bounds_of(record)


def _complain_of_given_up(cells: list[_LiveCell]) -> None:
    given_up = [cell for cell in cells if cell.failures_in_a_row >= FAILURES_IN_A_ROW]
    if given_up:
        last = given_up[0].record.rounds[-1]
        raise WorldError(
            f"gave up on {', '.join(cell.record.spec.key for cell in given_up)} after"
            f" {FAILURES_IN_A_ROW} failed rounds in a row; the last one: {last.story}",
            hint="`pgverdict report` shows what was measured before",
        )
