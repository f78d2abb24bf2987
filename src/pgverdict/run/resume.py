"""Going on with a run that was stopped or killed: which one, and whether it is still the same here."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from pgverdict.errors import UserError, WorldError
from pgverdict.observe.host import host_facts
from pgverdict.records.run import ArmFacts, Purpose, RunRecord
from pgverdict.run.prepare import Preparation
from pgverdict.spec.arms import Arm
from pgverdict.spec.campaign import Campaign
from pgverdict.store.runs import Store

HOST_FACTS = ("name", "machine", "processor", "cores")
"""Rounds of one run are of one host: these must be what they were."""


def find_run(
    store: Store, campaign: Campaign, wanted: str | None, host: Mapping[str, str]
) -> RunRecord | None:
    """The run of that id, or the newest of this campaign on this `host`; None if there is none.

    UserError if the wanted run, or the newest one that was read from the same file, is of another campaign.
    """
    if wanted is not None:
        run = store.load_run(wanted)
        if difference := what_differs(run, campaign):
            raise UserError(f"run {run.id} is of another campaign: {difference}", hint="name its own file")
        return run
    keys = {cell.key for cell in campaign.cells}
    for summary in store.list_runs():
        same_cells = {cell.spec.key for cell in summary.cells} == keys
        if summary.purpose is not Purpose.COMPARE or not (same_cells or summary.path == _path(campaign)):
            continue
        run = store.load_run(summary.id)
        if _elsewhere(run, host) is not None:
            continue
        difference = what_differs(run, campaign)
        if difference is None:
            return run
        if summary.path == _path(campaign):
            raise UserError(
                f"the file has changed since run {run.id}: {difference}",
                hint="without --resume a new run begins; with the old text of the file that one goes on",
            )
    return None


def _path(campaign: Campaign) -> str | None:
    return campaign.written.path if campaign.written else None


def what_differs(run: RunRecord, campaign: Campaign) -> str | None:
    """What a run was asked for otherwise than this campaign asks, in words; None where it can go on with it.

    The budget may be another, and the seed is the run's. Settings that a release does not know are not in the run, nor
    are arms that could not be had.
    """
    stored, missing = run.campaign, {server for server, _ in run.left_out}
    wanted = [
        arm
        for arm in campaign.arms
        if arm.server not in missing or arm.name in {one.name for one in stored.arms}
    ]
    if [arm.name for arm in wanted] != [arm.name for arm in stored.arms]:
        return f"its arms are {', '.join(arm.name for arm in stored.arms)}"
    for asked, kept in zip(wanted, stored.arms, strict=True):
        if difference := _arm_differs(asked, kept):
            return f"{difference} of arm {kept.name}"
    here, there = ([cell.key for cell in cells] for cells in (campaign.cells, stored.cells))
    if here != there:
        only = [key for key in there if key not in here] or [key for key in here if key not in there]
        return f"the cell {only[0]}" if only else "the order of its cells"
    for name in (
        "margin", "confidence", "rounds", "freeze", "placement", "event_loop", "defaults", "tuning", "memory_bytes",
        "cores", "engine_cores",
    ):  # fmt: skip
        if getattr(stored, name) != getattr(campaign, name):
            return f"its {name.removesuffix('_bytes').replace('_', ' ')}"
    primaries = zip(campaign.cells, stored.cells, strict=True)
    return next(
        (f"the primary metric of {c.key}" for c, kept in primaries if c.primary != kept.primary), None
    )


def _arm_differs(asked: Arm, kept: Arm) -> str | None:
    if asked.server != kept.server:
        return "the server"
    places = (asked.data_directory, asked.wal_directory)
    if places != (kept.data_directory, kept.wal_directory):
        return "the directories"
    unknown = set(asked.settings) - set(kept.given)
    if set(kept.given) - set(asked.settings) or {name for name, _ in unknown} - set(asked.optional):
        return "the settings"
    return None


def seconds_so_far(run: RunRecord) -> float:
    """What its sessions took of the budget; one that was killed did not say, and its rounds count."""
    return max(run.seconds, sum(record.seconds for cell in run.cells for record in cell.rounds))


def require_same_host(run: RunRecord) -> None:
    """WorldError on another host: one run is of one."""
    there, here = dict(run.host), dict(host_facts())
    if (name := _elsewhere(run, here)) is not None:
        raise WorldError(
            f"run {run.id} was begun on another host: its {name} was {there.get(name)}, here it is"
            f" {here.get(name)}",
            hint="begin a run of this host, without --resume",
        )


def _elsewhere(run: RunRecord, here: Mapping[str, str]) -> str | None:
    """The fact that says it was begun on another host; None if all are as here."""
    there = dict(run.host)
    return next((name for name in HOST_FACTS if there.get(name) != here.get(name)), None)


def campaign_to_prepare(run: RunRecord) -> Campaign:
    """The run's campaign as it was asked for, with the very builds that were found for it."""
    arms = tuple(
        replace(arm, server=found.exact, settings=arm.given, origins=())
        for arm, found in zip(run.campaign.arms, run.arms, strict=True)
    )
    return replace(run.campaign, arms=arms, written=None)


def require_same(run: RunRecord, preparation: Preparation, met: Sequence[ArmFacts]) -> None:
    """WorldError where builds, settings or pools are not what they were: its rounds would not be of one kind."""
    for kept, arm, before, now in zip(
        run.campaign.arms, preparation.campaign.arms, run.arms, met, strict=True
    ):
        what = None
        if before.version != now.version:
            what = f"version {before.version}, and is {now.version} now"
        elif _lasting(before) != _lasting(now):
            changed = sorted({name for name, _ in _lasting(before) ^ _lasting(now)})
            what = f"another build: {', '.join(changed)}"
        elif kept.settings != arm.settings:
            changed = sorted({name for name, _ in set(kept.settings) ^ set(arm.settings)})
            what = f"other settings: {', '.join(changed)}"
        if what is not None:
            raise WorldError(
                f"run {run.id} cannot go on: its arm {kept.name} had {what}",
                hint="begin a new run, without --resume",
            )
    for record, planned in zip(run.cells, preparation.planned(), strict=True):
        pools = (record.load_pools, record.install_pools)
        assert pools == (planned.load_pools, planned.install_pools), (record.spec.key, pools, planned)


def _lasting(facts: ArmFacts) -> set[tuple[str, str]]:
    """What a build said of itself, but for how it was come by."""
    return {(name, value) for name, value in facts.build if name != "built_from"}
