"""The loop of a run: the next round, kept, judged, until every cell is decided or the budget is spent.

A round that failed is kept as failed and repeated under the same plan; a cell that fails several times in a
row is given up, and the others go on.
"""

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from time import monotonic
from types import MappingProxyType

from pgverdict.conduct.bounds import Bounds
from pgverdict.conduct.cell import PreparedCell
from pgverdict.conduct.collect import bounds_of
from pgverdict.conduct.round import run_round
from pgverdict.errors import WorldError
from pgverdict.judge.cell import (
    CellAnswers,
    CellVerdicts,
    answer_cell,
    is_decided,
    judge_answers,
    rounds_to_decide,
    settle_run,
)
from pgverdict.judge.family import Family
from pgverdict.observe.host import host_facts
from pgverdict.plan.budget import CellProgress, next_cell, time_left_s
from pgverdict.records.round import RoundRecord, RoundState
from pgverdict.records.run import CellRecord, Purpose, RunRecord, RunState
from pgverdict.run.aging import expected_round_s
from pgverdict.run.handicap import settle_handicaps
from pgverdict.run.listener import Listener
from pgverdict.run.prepare import Prepared, prepare
from pgverdict.run.site import Site
from pgverdict.spec.campaign import Campaign
from pgverdict.store.runs import Store
from pgverdict.workloads.regimes import primary_of

FAILURES_IN_A_ROW = 3
"""After so many a cell is given up: what fails three times on fresh servers will fail a fourth time."""


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
    Raises WorldError if a cell had to be given up, after the others have been measured. An interrupt leaves the
    run in the store as stopped.
    """
    prepared = prepare(campaign, site, listener)
    campaign, prepared = settle_handicaps(campaign, prepared, handicap_shares, site, listener)
    run = new_run(campaign, prepared)
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
    """A cell while the run lasts: its rounds so far and what they say, per candidate."""

    prepared: PreparedCell
    record: CellRecord
    answers: CellAnswers = ()
    verdicts: CellVerdicts = ()
    failures_in_a_row: int = 0
    bounds: Bounds | None = None

    def progress(self, fixed: int | None) -> CellProgress:
        measured = len(self.record.measured)
        more: int | None
        if fixed is not None:
            decided, more = measured >= fixed, fixed - measured
        else:
            decided = bool(self.verdicts) and is_decided(self.verdicts)
            more = rounds_to_decide(self.verdicts)
        return CellProgress(
            rounds_s=tuple(r.seconds for r in self.record.rounds),
            decided=decided,
            given_up=self.failures_in_a_row >= FAILURES_IN_A_ROW,
            more_rounds=more,
            expected_s=expected_round_s(self.prepared),
        )


def new_run(campaign: Campaign, prepared: Prepared, purpose: Purpose = Purpose.COMPARE) -> RunRecord:
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
        arms=prepared.arms,
        cells=tuple(
            CellRecord(
                spec=cell.spec,
                primary=primary_of(cell.spec, cell.workload),
                regime=cell.regime.value,
                load_pools=cell.load_pools.of,
                install_pools=cell.install_pools.of,
            )
            for cell in prepared.cells
        ),
        purpose=purpose,
    )


def _measure(
    run: RunRecord, cells: list[_LiveCell], site: Site, store: Store, listener: Listener, begun: float
) -> None:
    campaign = run.campaign
    family = None
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
        plan = cell.prepared.arrange(seed=campaign.seed, ordinal=ordinal)
        record = run_round(cell.prepared, plan, cell.bounds, site.launch_arm)
        store.keep_round(run.id, number, record)
        _take(cell, record)
        cell.answers = answer_cell(cell.record, campaign)
        family = _judge(cells, cell, campaign, family)
        listener.round_done(cell.record.spec, record, cell.verdicts)


def _judge(cells: list[_LiveCell], changed: _LiveCell, campaign: Campaign, before: Family | None) -> Family:
    """A cell's new answers may decide others, too: all are judged anew where the levels moved."""
    family = settle_run([cell.answers for cell in cells], campaign)
    for cell in cells if family != before else [changed]:
        cell.verdicts = judge_answers(cell.answers, family)
    return family


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
