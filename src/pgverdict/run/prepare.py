"""From a campaign to cells that rounds can be run on: builds obtained, templates made, data copied, arms met."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from pgverdict.conduct.cell import PreparedArm, PreparedCell
from pgverdict.conduct.placement import choose_pinning, place
from pgverdict.conduct.turns import require_freezable
from pgverdict.datasets.copy import copy_data, settle
from pgverdict.datasets.load import DATABASE
from pgverdict.datasets.template import Template, TemplateSpec, find_template, make_template
from pgverdict.engine.process import Engine
from pgverdict.errors import UserError, WorldError
from pgverdict.observe import views
from pgverdict.plan.pools import LOADS_MAX, Pools
from pgverdict.plan.stretches import LOADS_AGED
from pgverdict.records.run import ArmFacts
from pgverdict.run.aging import age_cell, aged_bytes_missing, require_budget, with_notes
from pgverdict.run.listener import Listener
from pgverdict.run.sharing import ObtainedArm, load_pools, obtain_arms, share_out_making
from pgverdict.run.site import Site
from pgverdict.servers.freeze import choose_means
from pgverdict.servers.marked import remove_tree
from pgverdict.servers.space import require_space
from pgverdict.spec.campaign import Arm, Campaign, CellSpec, Pinning
from pgverdict.spec.regime import Regime
from pgverdict.workloads import catalogue
from pgverdict.workloads.regimes import regime_of
from pgverdict.workloads.workload import Workload

SESSIONS = 2
"""Connections of ours beside the clients': one that asks, one that may still be ending."""

CONNECTIONS_SPARE = 10
"""What a server keeps back for superusers and its own workers, generously."""

EMPTY_CLUSTER_BYTES = 80_000_000
"""An empty cluster with its WAL, about."""


@dataclass(frozen=True)
class Prepared:
    """Everything the rounds need, and what the arms turned out to be."""

    arms: tuple[ArmFacts, ...]
    cells: tuple[PreparedCell, ...]


@dataclass(frozen=True)
class _Sized:
    """A cell with its workload, the size of one load of it, and the pools its arms draw loads from."""

    spec: CellSpec
    workload: Workload
    load_bytes: int
    load_pools: Pools

    @property
    def regime(self) -> Regime:
        return regime_of(self.spec, self.workload)

    def makings(self, arms: Sequence[ObtainedArm]) -> list[list[tuple[Arm, TemplateSpec]]]:
        """Per pool, its loads and who makes each."""
        return share_out_making(self.load_pools, arms, self.workload.dataset, self.spec.scale)


def prepare(campaign: Campaign, site: Site, listener: Listener) -> Prepared:
    """Do everything that comes before the first round."""
    chosen = [(cell, catalogue.workload(cell.workload)) for cell in campaign.cells]
    freeze = choose_means(campaign.freeze)
    if freeze is not None:
        for spec, workload in chosen:
            require_freezable(regime_of(spec, workload), workload.name)
    arms, install_pools = obtain_arms(campaign, site.home, listener)
    cells = [_size(cell, workload, arms, campaign.rounds) for cell, workload in chosen]
    _require_space(cells, arms, site)
    prepared = tuple(
        replace(_prepare_cell(cell, arms, install_pools, campaign.placement, site, listener), freeze=freeze)
        for cell in cells
    )
    require_budget(prepared, campaign, listener)
    settle(site.home.cache)
    met = tuple(
        _meet(site, campaign, found, arm, listener) for found, arm in zip(arms, prepared[0].arms, strict=True)
    )
    return Prepared(with_notes(met, prepared), prepared)


def _size(cell: CellSpec, workload: Workload, arms: Sequence[ObtainedArm], rounds: int | None) -> _Sized:
    load_bytes = EMPTY_CLUSTER_BYTES + cell.scale * workload.dataset.bytes_per_scale
    most = LOADS_AGED if regime_of(cell, workload) is Regime.STEADY else LOADS_MAX
    return _Sized(cell, workload, load_bytes, load_pools(arms, load_bytes, rounds, most=most))


def _require_space(cells: Sequence[_Sized], arms: Sequence[ObtainedArm], site: Site) -> None:
    """Fail now rather than in the middle: templates still to be made, copies in place, copies of one round."""
    missing: dict[str, int] = {}
    in_place: dict[str, int] = {}
    fresh = 0
    for cell in cells:
        for making in cell.makings(arms):
            for _, spec in making:
                if find_template(site.home, spec) is None:
                    missing[spec.name] = cell.load_bytes
                if cell.regime is Regime.READ_ONLY:
                    in_place[spec.name] = cell.load_bytes
                if cell.regime is Regime.STEADY:
                    missing.update(
                        aged_bytes_missing(site.home, spec, cell.spec, cell.workload, cell.load_bytes)
                    )
        if cell.regime is not Regime.READ_ONLY:
            fresh = max(fresh, len(arms) * cell.load_bytes)
    needed = sum(missing.values()) + sum(in_place.values()) + fresh
    require_space(site.home.cache, needed, "the datasets and their copies")


def _prepare_cell(
    cell: _Sized,
    arms: Sequence[ObtainedArm],
    install_pools: Pools,
    wish: Pinning,
    site: Site,
    listener: Listener,
) -> PreparedCell:
    """Templates for every pool, holding the same rows; copies of them where rounds work in place, aged where steady."""
    pools = [
        [
            (maker, spec, find_template(site.home, spec) or _make(site, maker, spec, listener))
            for maker, spec in making
        ]
        for making in cell.makings(arms)
    ]
    _check_same_rows([template for made in pools for _, _, template in made])
    loads = [
        tuple(
            _in_place(site, spec, template, listener) if cell.regime is Regime.READ_ONLY else template.data
            for _, spec, template in made
        )
        for made in pools
    ]
    prepared = PreparedCell(
        spec=cell.spec,
        workload=cell.workload,
        arms=tuple(
            PreparedArm(arm.arm.name, arm.installs, arm.arm.settings, loads[pool])
            for arm, pool in zip(arms, cell.load_pools.of, strict=True)
        ),
        placement=place(cell.spec.clients, choose_pinning(wish, cell.workload)),
        slots=tuple(site.directory("slots", str(number)) for number in range(len(arms))),
        load_pools=cell.load_pools,
        install_pools=install_pools,
    )
    return age_cell(prepared, pools, site, listener) if cell.regime is Regime.STEADY else prepared


def _make(site: Site, arm: Arm, spec: TemplateSpec, listener: Listener) -> Template:
    listener.step(f"loading {spec.dataset.name} scale {spec.scale} into {arm.name} (load {spec.load})")
    with Engine.start() as engine:
        return make_template(
            site.home,
            spec,
            engine,
            site.account,
            workshop=site.directory("workshop"),
            launch=lambda install, data, settings: site.launch(install, data, dict(settings), "workshop"),
            progress=listener.amount,
        )


def _check_same_rows(templates: Sequence[Template]) -> None:
    """All arms must hold the same rows, byte for byte."""
    if len({template.rows_sha256 for template in templates}) > 1:
        places = ", ".join(str(template.data.parent) for template in templates)
        raise WorldError(
            f"the arms were loaded with different rows: {places}", hint="remove these directories"
        )


def _in_place(site: Site, spec: TemplateSpec, template: Template, listener: Listener) -> Path:
    """The run's own copy of a template, on which rounds may work without a new copy each."""
    place = site.directory("in-place") / spec.name
    if not place.exists():
        listener.step(f"copying {spec.dataset.name} scale {spec.scale} (load {spec.load})")
        copy_data(template.data, place)
    return place


def _require_connections(campaign: Campaign, arm: Arm, free: int) -> None:
    """The clients of the largest cell, and two sessions of ours beside them, must fit."""
    wanted = max(cell.clients for cell in campaign.cells) + SESSIONS
    if free < wanted:
        raise UserError(
            f"arm {arm.name} takes {free} connections, and its cells want {wanted}",
            hint=f"--set max_connections={wanted + CONNECTIONS_SPARE}",
        )


def _meet(
    site: Site, campaign: Campaign, obtained: ObtainedArm, prepared: PreparedArm, listener: Listener
) -> ArmFacts:
    """Start the arm once as its rounds will: a refused setting is found here, and the server says what it is."""
    arm = obtained.arm
    listener.step(f"meeting {arm.name}")
    data = site.directory("meeting") / arm.name
    copy_data(prepared.loads[0], data)
    try:
        with (
            site.launch(obtained.install, data, dict(arm.settings), "meeting") as server,
            views.session(server, DATABASE) as connection,
        ):
            notes = tuple(
                f"{name}: not in this build, so {loss}"
                for name, loss in views.EXTENSIONS.items()
                if not views.has_extension(connection, name)
            )
            _require_connections(campaign, arm, views.free_connections(connection))
            settings = views.changed_settings(connection)
            facts = views.build_facts(connection)
    finally:
        remove_tree(data)
    build = (*asdict(obtained.install.build).items(), *facts)
    return ArmFacts(arm.name, arm.role, arm.server, obtained.install.version, build, settings, notes)
