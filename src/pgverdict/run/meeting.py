"""What the arms turn out to be: each is started once as its rounds will start it."""

from pgverdict.conduct.cell import PreparedArm, PreparedCell
from pgverdict.datasets.copy import copy_data
from pgverdict.datasets.load import DATABASE
from pgverdict.datasets.page_cache import evict
from pgverdict.datasets.wal import bring_wal_home
from pgverdict.errors import UserError
from pgverdict.observe import views
from pgverdict.records.run import ArmFacts
from pgverdict.run.builds import SettledArm
from pgverdict.run.chains import connections_of
from pgverdict.run.confining import require_memory
from pgverdict.run.groundwork import Groundwork
from pgverdict.run.listener import Listener
from pgverdict.run.outside import meet_outside
from pgverdict.run.own import check_own_statements
from pgverdict.run.places import file_systems
from pgverdict.run.sharing import ObtainedArm
from pgverdict.run.site import Site
from pgverdict.servers.confine import Confiner
from pgverdict.servers.facts import ask_cluster
from pgverdict.servers.marked import remove_tree
from pgverdict.servers.stay import Stay
from pgverdict.spec.arms import Arm
from pgverdict.spec.cache import Cache
from pgverdict.spec.campaign import Campaign
from pgverdict.spec.spelling import Commit, Source, read_spelling
from pgverdict.workloads.own import workload_of

SESSIONS = 2
"""Connections of ours beside the clients': one that asks, one that may still be ending."""

CONNECTIONS_SPARE = 10
"""What a server keeps back for superusers and its own workers, generously."""


def meet_arms(ground: Groundwork, cell: PreparedCell, site: Site, listener: Listener) -> tuple[ArmFacts, ...]:
    """What the arms turn out to be, each started once on a copy of the cell's data."""
    return tuple(
        _meet(site, ground.campaign, cell, found, one, arm, ground.confiner, listener)
        for found, one, arm in zip(ground.arms, ground.settled, cell.arms, strict=True)
    )


def _require_connections(campaign: Campaign, arm: Arm, free: int) -> None:
    """The clients of the largest cell, and two sessions of ours beside them, must fit."""
    wanted = max(connections_of(cell, workload_of(cell)) for cell in campaign.cells) + SESSIONS
    if free < wanted:
        raise UserError(
            f"arm {arm.name} takes {free} connections, and its cells want {wanted}",
            hint=f"--set max_connections={wanted + CONNECTIONS_SPARE}",
        )


def _meet(
    site: Site,
    campaign: Campaign,
    met: PreparedCell,
    obtained: ObtainedArm,
    settled: SettledArm,
    prepared: PreparedArm,
    confiner: Confiner | None,
    listener: Listener,
) -> ArmFacts:
    """Start the arm once as its rounds of the cell `met` will: a refused setting is found here, and the server says
    what it is."""
    arm = obtained.arm
    listener.step(f"meeting {arm.name}")
    if obtained.stay is not None:
        return _meet_guest(campaign, obtained, obtained.stay, settled, prepared)
    number = [one.name for one in campaign.arms].index(arm.name)
    # Not by its name: that of an arm without one is its spelling, which may hold a path.
    data = site.directory("meeting") / f"arm{number}"
    copy_data(prepared.loads[0], data)
    bring_wal_home(data)
    if confiner is not None or any(cell.cache is Cache.COLD for cell in campaign.cells):
        evict(data)  # as before every round: where it cannot be done is found here too
    try:
        with (
            site.launch(obtained.install, data, dict(arm.settings), "meeting", confiner=confiner) as server,
            views.session(server, DATABASE) as connection,
        ):
            notes = tuple(
                f"{name}: not in this build, so {loss}"
                for name, loss in views.EXTENSIONS.items()
                if not views.has_extension(connection, name)
            )
            _require_connections(campaign, arm, views.free_connections(connection))
            require_memory(campaign, arm.name, views.setting_bytes(connection, "shared_buffers"))
            settings = views.changed_settings(connection)
            facts = ask_cluster(connection)
            if met.spec.own is not None:
                check_own_statements(met, server, arm.name)
    finally:
        remove_tree(data)
    build = (*settled.build.facts, *facts, *file_systems(campaign.arms, number, site.home))
    if isinstance(read_spelling(arm.server), Source | Commit):
        build = (*build, ("built_from", obtained.install.package))
    return ArmFacts(
        arm.name,
        arm.role,
        arm.server,
        obtained.install.version,
        build=build,
        settings=settings,
        notes=(*settled.notes, *notes),
        defaults=settled.defaults,
    )


def _meet_guest(
    campaign: Campaign, obtained: ObtainedArm, stay: Stay, settled: SettledArm, prepared: PreparedArm
) -> ArmFacts:
    """A server of somebody else's, which runs, is asked what it is."""
    arm = obtained.arm
    guest = meet_outside(arm, stay, prepared.databases[0])
    _require_connections(campaign, arm, guest.free_connections)
    return ArmFacts(
        arm.name,
        arm.role,
        arm.server,
        obtained.version,
        build=(*settled.build.facts, *guest.facts),
        settings=guest.settings,
        notes=(*settled.notes, *guest.notes),
        defaults=settled.defaults,
    )
