"""The work behind `compare` and `calibrate`: a site, a store and a listener put together, a run made and shown."""

import shlex
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from pgverdict.cli.calibrated import with_calibrated_pairs
from pgverdict.cli.live import LiveView
from pgverdict.cli.outlook import warn_of_budget
from pgverdict.cli.outputs import check_outputs
from pgverdict.cli.show import show, show_calibration
from pgverdict.cli.stores import open_user_store
from pgverdict.errors import Incomplete, Interrupted, WorldError
from pgverdict.judge.verdict import Outcome
from pgverdict.observe.host import host_facts, host_name
from pgverdict.records.run import RunRecord
from pgverdict.run.calibrate import calibrate_host
from pgverdict.run.execute import execute, go_on
from pgverdict.run.outside import require_doable, require_started_here
from pgverdict.run.resume import find_run
from pgverdict.run.site import Site, measuring_alone
from pgverdict.servers.account import Account, server_account
from pgverdict.servers.handicap import find_library
from pgverdict.servers.home import Home
from pgverdict.servers.install import list_installed, list_releases
from pgverdict.servers.release import spell_major
from pgverdict.servers.settings import check_settings
from pgverdict.servers.workspace import Workspace, sweep
from pgverdict.spec.campaign import Campaign, Written
from pgverdict.store.runs import Store


@dataclass(frozen=True)
class Resuming:
    """Which run is to go on (None: the newest of the campaign), and the budget it gets (None: the one it had)."""

    wanted: str | None
    budget_s: float | None


def measure(
    campaign: Campaign,
    *,
    json: Path | None,
    html: Path | None,
    store: str | None,
    handicap_shares: Mapping[int, float] = MappingProxyType({}),
    resuming: Resuming | None = None,
) -> bool:
    """Execute the campaign, or go on with it, and show its report; True if a cell's primary metric is SLOWER.

    An HTML report is always written: into the data directory, unless `html` says where. Raises Incomplete after that
    if not everything could be measured.
    """
    for settings in (*(arm.settings for arm in campaign.arms), *(cell.settings for cell in campaign.cells)):
        check_settings(dict(settings))
    require_doable(campaign, handicap_shares)
    check_outputs(json, html)
    if handicap_shares or any(arm.handicap_ns for arm in campaign.arms):
        find_library()
    account, home = server_account(), Home.find()
    home.ensure(account)
    with open_user_store(store, home) as opened:
        incomplete = None
        with _at_work(opened, home, account, campaign.written) as (site, view):
            try:
                run = _run(campaign, site, opened, view, handicap_shares, resuming)
            except Incomplete as error:
                incomplete, run = error, opened.load_run(error.run_id)
        page = html or home.data / "reports" / f"{run.id}.html"
        report = show(run, opened, json=json, html=page, markdown=None)
    if incomplete is not None:
        raise incomplete
    return any(cell.verdicts[0].outcome is Outcome.SLOWER for cell in report.cells if cell.verdicts)


def _run(
    campaign: Campaign,
    site: Site,
    store: Store,
    view: LiveView,
    handicap_shares: Mapping[int, float],
    resuming: Resuming | None,
) -> RunRecord:
    """A new run, or an earlier one that goes on."""
    if resuming is not None:
        stopped = find_run(store, campaign, resuming.wanted, dict(host_facts()))
        if stopped is not None:
            view.note(f"going on with run {stopped.id}, begun {stopped.started[:10]}")
            return go_on(stopped, resuming.budget_s or stopped.campaign.budget_s, site, store, view)
        view.note("no run of this campaign is in the store; one begins")
    planned = with_calibrated_pairs(campaign, store)
    for note in planned.notes:
        view.note(note)
    if campaign.written is not None:  # of one cell or two everybody knows what to expect
        warn_of_budget(planned.campaign, store, view)
    return execute(planned.campaign, site, store, view, handicap_shares=handicap_shares)


def measure_host(
    server: str | None, campaign_of: Callable[[str], Campaign], *, json: Path | None, store: str | None
) -> None:
    """Calibrate this host and show what was found. Without a server, with the newest major release used here."""
    check_outputs(json)
    find_library()
    account, home = server_account(), Home.find()
    home.ensure(account)
    campaign = campaign_of(server or _newest_major(home))
    require_started_here(campaign)
    check_settings(dict(campaign.arms[0].settings))
    with open_user_store(store, home) as opened, _at_work(opened, home, account) as (site, view):
        run = calibrate_host(campaign, site, opened, view)
    show_calibration(run, json=json)


def _newest_major(home: Home) -> str:
    installed = [install.major for install in list_installed(home)]
    majors = installed or [release.major for release in list_releases(home)]
    if not majors:
        raise WorldError("no server is known to calibrate with", hint="name one: `pgverdict calibrate 17`")
    return spell_major(max(majors))


@contextmanager
def _at_work(
    opened: Store, home: Home, account: Account, written: Written | None = None
) -> Iterator[tuple[Site, LiveView]]:
    """A site of a run's own, with nobody else measuring, after cleaning up behind runs that were killed."""
    with measuring_alone(), LiveView() as view:
        for remains in sweep(home):
            view.note(remains)
        for orphan in opened.stop_orphans(host_name()):
            view.note(f"run {orphan} had been killed; its rounds are kept")
        with Workspace.create(home, account) as workspace:
            site = Site(home, account, workspace)
            try:
                with closing(site.stays):
                    yield site, view
            except KeyboardInterrupt:
                hint = "the rounds measured so far: `pgverdict report`"
                if written is not None:
                    again = shlex.join(["pgverdict", "run", written.path, *written.options, "--resume"])
                    hint = f"{hint}; to go on: `{again}`"
                raise Interrupted("interrupted", hint=hint) from None
