"""What a campaign will take on this host, by what earlier runs in the store took. Makes and starts nothing."""

import os
from collections.abc import Mapping, Sequence

from pgverdict.cli.places import default_place
from pgverdict.errors import UserError
from pgverdict.observe.host import host_name, memory_total_bytes
from pgverdict.plan.matrix import HostSize
from pgverdict.report.outlook import budget_for_all, budget_words
from pgverdict.run.listener import Listener
from pgverdict.run.outlook import Outlook, look_ahead
from pgverdict.servers.home import Home
from pgverdict.servers.settings import check_settings
from pgverdict.servers.space import free_bytes
from pgverdict.spec.campaign import Campaign
from pgverdict.store.durations import seconds_of_rounds
from pgverdict.store.opening import open_store
from pgverdict.store.place import file_of
from pgverdict.store.runs import Store


def outlook_of(campaign: Campaign, store: str | None) -> Outlook:
    """The campaign's outlook on this host, of a dry run: a store that is not there is not made."""
    for arm in campaign.arms:
        check_settings(dict(arm.settings))
    for cell in campaign.cells:
        check_settings(dict(cell.settings))
    place = store or str(default_place(Home.find()))
    file = file_of(place)
    if file is not None and not file.exists():
        return _look(campaign, {})
    with open_store(place) as opened:
        return outlook_by(campaign, opened)


def outlook_by(campaign: Campaign, store: Store) -> Outlook:
    """The same by the rounds of a store that is open."""
    known = seconds_of_rounds(store, campaign.cells, host_name=host_name(), arms=len(campaign.arms))
    return _look(campaign, known)


def _look(campaign: Campaign, known_s: Mapping[str, Sequence[float]]) -> Outlook:
    host = HostSize(memory_total_bytes(), len(os.sched_getaffinity(0)))
    return look_ahead(campaign, host, free_bytes=free_bytes(Home.find().cache), known_s=known_s)


def warn_of_budget(campaign: Campaign, store: Store, listener: Listener) -> None:
    """Say before a run begins what its budget leaves undone.

    UserError if it is enough for no cell, and that is known: where lengths of rounds are guessed, it may do after all.
    """
    outlook = outlook_by(campaign, store)
    said = budget_words(campaign, outlook)
    if said is None:
        return
    if outlook.enough_for == 0 and outlook.is_known:
        raise UserError(said.partition(";")[0], hint=f"--budget {budget_for_all(outlook)} is enough for all")
    listener.note(said)
