"""The work behind `compare`: a site, a store and a listener put together, a campaign executed, its report shown."""

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from pgverdict.cli.live import LiveView
from pgverdict.cli.show import check_outputs, open_user_store, show
from pgverdict.errors import Interrupted
from pgverdict.judge.verdict import Outcome
from pgverdict.observe.host import host_name
from pgverdict.run.execute import execute
from pgverdict.run.site import Site, measuring_alone
from pgverdict.servers.account import server_account
from pgverdict.servers.handicap import find_library
from pgverdict.servers.home import Home
from pgverdict.servers.settings import check_settings
from pgverdict.servers.workspace import Workspace, sweep
from pgverdict.spec.campaign import Campaign


def measure(
    campaign: Campaign,
    *,
    json: Path | None,
    html: Path | None,
    store: str | None,
    handicap_shares: Mapping[int, float] = MappingProxyType({}),
) -> bool:
    """Execute the campaign and show its report; True if a cell's primary metric is SLOWER.

    An HTML report is always written: into the data directory, unless `html` says where.
    """
    for arm in campaign.arms:
        check_settings(dict(arm.settings))
    check_outputs(json, html)
    if handicap_shares or any(arm.handicap_ns for arm in campaign.arms):
        find_library()
    account, home = server_account(), Home.find()
    home.ensure(account)
    with open_user_store(store, home) as opened, measuring_alone(), LiveView() as view:
        for remains in sweep(home):
            view.note(remains)
        for orphan in opened.stop_orphans(host_name()):
            view.note(f"run {orphan} had been killed; its rounds are kept")
        with Workspace.create(home, account) as workspace:
            site = Site(home, account, workspace)
            try:
                run = execute(campaign, site, opened, view, handicap_shares=handicap_shares)
            except KeyboardInterrupt:
                raise Interrupted(
                    "interrupted", hint="the rounds measured so far: `pgverdict report`"
                ) from None
    page = html or home.data / "reports" / f"{run.id}.html"
    report = show(run, json=json, html=page, markdown=None)
    return any(cell.verdicts[0].outcome is Outcome.SLOWER for cell in report.cells if cell.verdicts)
