"""What a dry run has to know of this host and of earlier runs in the store. Makes and starts nothing."""

import os
from collections import defaultdict
from pathlib import Path

from pgverdict.observe.host import host_facts, memory_total_bytes
from pgverdict.plan.matrix import HostSize
from pgverdict.records.run import Purpose
from pgverdict.run.outlook import Outlook, look_ahead
from pgverdict.servers.home import Home
from pgverdict.servers.settings import check_settings
from pgverdict.servers.space import free_bytes
from pgverdict.spec.campaign import Campaign
from pgverdict.store.opening import open_store

RUNS_READ_MAX = 10
"""The newest of them: a store may hold thousands."""


def outlook_of(campaign: Campaign, store: str | None) -> Outlook:
    """The campaign's outlook on this host."""
    for arm in campaign.arms:
        check_settings(dict(arm.settings))
    for cell in campaign.cells:
        check_settings(dict(cell.settings))
    home = Home.find()
    host = HostSize(memory_total_bytes(), len(os.sched_getaffinity(0)))
    return look_ahead(
        campaign,
        host,
        free_bytes=free_bytes(home.cache),
        known_s=_known_s(campaign, store or str(home.data / "runs.sqlite")),
    )


def _known_s(campaign: Campaign, place: str) -> dict[str, list[float]]:
    if "://" not in place and not Path(place).expanduser().exists():
        return {}
    keys, arms, here = {cell.key for cell in campaign.cells}, len(campaign.arms), dict(host_facts())["name"]
    found: dict[str, list[float]] = defaultdict(list)
    with open_store(place) as store:
        alike = [
            summary.id
            for summary in store.list_runs()
            if summary.purpose is Purpose.COMPARE
            and len(summary.arms) == arms
            and keys & {cell.spec.key for cell in summary.cells if cell.measured}
        ]
        for run_id in alike[:RUNS_READ_MAX]:
            run = store.load_run(run_id)
            if dict(run.host).get("name") == here:
                for cell in run.cells:
                    found[cell.spec.key] += [record.seconds for record in cell.measured]
    return found
