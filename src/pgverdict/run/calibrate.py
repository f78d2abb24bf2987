"""A run that calibrates its host: rounds of arms of one build, some of them slowed down by known amounts.

Every round has all arms, but every SHORT_EVERYth: that has the baseline and the equal arm only and so costs what a
round of a comparison costs. The run lasts as long as its budget, whatever it shows.
"""

from collections.abc import Mapping
from dataclasses import replace
from time import monotonic

from pgverdict.conduct.bounds import Bounds
from pgverdict.conduct.cell import PreparedCell
from pgverdict.conduct.collect import bounds_of
from pgverdict.conduct.round import run_round
from pgverdict.errors import WorldError
from pgverdict.plan.pools import Pools
from pgverdict.plan.rounds import RoundPlan, arrange
from pgverdict.records.round import RoundState
from pgverdict.records.run import Purpose, RunRecord, RunState
from pgverdict.run.chains import refuse_handicaps
from pgverdict.run.execute import FAILURES_IN_A_ROW, new_run
from pgverdict.run.handicap import carry_handicaps, settle_handicaps
from pgverdict.run.listener import Listener
from pgverdict.run.prepare import Preparation, diagnose
from pgverdict.run.site import Site
from pgverdict.spec.campaign import Campaign
from pgverdict.store.runs import Store

SHORT_EVERY = 8

SHARES = (0.01, 0.02, 0.05)
"""Of the typical latency: how much the arms after the first two are slowed down."""

ARMS = 2 + len(SHARES)


def calibrate_host(campaign: Campaign, site: Site, store: Store, listener: Listener) -> RunRecord:
    """Prepare and run; the rounds are in the store at every moment.

    `campaign` has ARMS arms that differ in nothing, and one cell. Raises WorldError when rounds keep failing. An
    interrupt leaves the run in the store as stopped.
    """
    shares: Mapping[int, float] = dict(enumerate(SHARES, start=2))
    refuse_handicaps(campaign, shares)
    preparation = Preparation(campaign, site, listener)
    # A build shares more of a layout's effect with itself than with another, which is what users compare: layouts that
    # nobody shares scatter at least as much as theirs.
    cell = replace(preparation.cell(0), shares_layouts=False)
    campaign = settle_handicaps(preparation.campaign, cell, shares, site, listener)
    run = new_run(
        campaign, preparation.meet([cell]), preparation.planned(), diagnose(site), purpose=Purpose.CALIBRATE
    )
    store.begin_run(run)
    begun = monotonic()
    state = RunState.STOPPED
    try:
        _measure(run, carry_handicaps(cell, campaign), site, store, listener, begun)
        state = RunState.DONE
    finally:
        store.finish_run(run.id, state, monotonic() - begun)
    return store.load_run(run.id)


def _measure(
    run: RunRecord, cell: PreparedCell, site: Site, store: Store, listener: Listener, begun: float
) -> None:
    campaign = run.campaign
    short = _first_two(cell)
    bounds: Bounds | None = None
    done = 0
    failures_in_a_row = 0
    longest_s = 0.0
    while (left_s := campaign.budget_s - (monotonic() - begun)) > longest_s:
        kind = short if done % SHORT_EVERY == 0 else cell
        # Short rounds are 0, 8, 16 ... of all; each kind has a plan of its own, and counts from 0.
        ordinal = done // SHORT_EVERY if kind is short else done - done // SHORT_EVERY - 1
        listener.round_begins(cell.spec, done + 1, left_s)
        record = run_round(kind, _arrange(kind, campaign.seed, ordinal), bounds, site.launch_arm)
        store.keep_round(run.id, 0, record)
        listener.round_done(cell.spec, record, ())
        longest_s = max(longest_s, record.seconds)
        if record.state is RoundState.FAILED:
            failures_in_a_row += 1
            if failures_in_a_row >= FAILURES_IN_A_ROW:
                raise WorldError(
                    f"gave up after {FAILURES_IN_A_ROW} failed rounds in a row; the last one: {record.story}",
                    hint="`pgverdict report` shows what was measured before",
                )
            continue
        failures_in_a_row = 0
        done += 1
        bounds = bounds or bounds_of(record)


def _first_two(cell: PreparedCell) -> PreparedCell:
    """The cell of a comparison of the baseline with the equal arm, on the same loads and installs."""
    return replace(
        cell,
        arms=cell.arms[:2],
        slots=cell.slots[:2],
        load_pools=_of_first_two(cell.load_pools),
        install_pools=_of_first_two(cell.install_pools),
    )


def _of_first_two(pools: Pools) -> Pools:
    assert pools.of[:2] == (0, 0), "arms that differ in nothing share their pools"
    return Pools((0, 0), pools.sizes[:1])


def _arrange(cell: PreparedCell, seed: int, ordinal: int) -> RoundPlan:
    return arrange(
        f"{cell.spec.key} arms={len(cell.arms)}",
        seed=seed,
        ordinal=ordinal,
        arms=len(cell.arms),
        loads=cell.load_pools,
        installs=cell.install_pools,
    )
