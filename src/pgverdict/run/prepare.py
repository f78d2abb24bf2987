"""From a campaign to cells that rounds can be run on: builds obtained, templates made, data copied, arms met."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from pgverdict.conduct.cell import PreparedArm, PreparedCell
from pgverdict.conduct.placement import place
from pgverdict.datasets.copy import copy_data, settle
from pgverdict.datasets.load import DATABASE
from pgverdict.datasets.template import Template, TemplateSpec, find_template, make_template
from pgverdict.engine.process import Engine
from pgverdict.errors import UserError, WorldError
from pgverdict.observe import views
from pgverdict.plan.rounds import LOADS_MAX, how_many_loads
from pgverdict.plan.stretches import LOADS_AGED
from pgverdict.records.run import ArmFacts
from pgverdict.run.aging import age_cell, aged_bytes_missing, require_budget, with_notes
from pgverdict.run.listener import Listener
from pgverdict.run.site import Site
from pgverdict.servers.install import Install, obtain
from pgverdict.servers.marked import remove_tree
from pgverdict.servers.space import require_space
from pgverdict.spec.campaign import Arm, Campaign, CellSpec
from pgverdict.spec.regime import Regime
from pgverdict.workloads import catalogue
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
    """A cell with its workload, the size of one load of it, and how many loads each arm has."""

    spec: CellSpec
    workload: Workload
    load_bytes: int
    loads: int

    @property
    def regime(self) -> Regime:
        return self.spec.regime or self.workload.regime


@dataclass(frozen=True)
class _Obtained:
    """An arm with its install; `copy` numbers the installs of one build, from 1."""

    arm: Arm
    install: Install
    copy: int

    def templates(self, cell: _Sized) -> list[TemplateSpec]:
        """The arm's loads. Arms of one build share none: each load is independent."""
        first = (self.copy - 1) * LOADS_MAX + 1
        return [
            TemplateSpec(self.install, cell.workload.dataset, cell.spec.scale, self.arm.settings, load)
            for load in range(first, first + cell.loads)
        ]


def prepare(campaign: Campaign, site: Site, listener: Listener) -> Prepared:
    """Do everything that comes before the first round."""
    arms = _obtain(campaign.arms, site, listener)
    cells = [_size(cell, campaign.rounds) for cell in campaign.cells]
    _require_space(cells, arms, site)
    prepared = tuple(_prepare_cell(cell, arms, site, listener) for cell in cells)
    require_budget(prepared, campaign, listener)
    settle(site.home.cache)
    met = tuple(
        _meet(site, campaign, found, arm, listener) for found, arm in zip(arms, prepared[0].arms, strict=True)
    )
    return Prepared(with_notes(met, prepared), prepared)


def _size(cell: CellSpec, rounds: int | None) -> _Sized:
    workload = catalogue.workload(cell.workload)
    load_bytes = EMPTY_CLUSTER_BYTES + cell.scale * workload.dataset.bytes_per_scale
    sized = _Sized(cell, workload, load_bytes, how_many_loads(load_bytes, rounds))
    return replace(sized, loads=min(sized.loads, LOADS_AGED)) if sized.regime is Regime.STEADY else sized


def _obtain(arms: Sequence[Arm], site: Site, listener: Listener) -> list[_Obtained]:
    """An install per arm; arms of the same build get separate installs of it."""
    found: list[_Obtained] = []
    for arm in arms:
        listener.step(f"obtaining PostgreSQL {arm.server}")
        install = obtain(arm.server, site.home, progress=listener.amount)
        copy = 1 + sum(1 for earlier in found if earlier.install.identity == install.identity)
        if copy > 1:
            install = obtain(arm.server, site.home, copy=copy, progress=listener.amount)
        found.append(_Obtained(arm, install, copy))
    return found


def _require_space(cells: Sequence[_Sized], arms: Sequence[_Obtained], site: Site) -> None:
    """Fail now rather than in the middle: templates still to be made, copies in place, copies of one round."""
    missing: dict[str, int] = {}
    in_place: dict[str, int] = {}
    fresh = 0
    for cell in cells:
        for arm in arms:
            for spec in arm.templates(cell):
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


def _prepare_cell(cell: _Sized, arms: Sequence[_Obtained], site: Site, listener: Listener) -> PreparedCell:
    """Templates for every arm, holding the same rows; copies of them where rounds work in place."""
    templates = [
        [
            (spec, find_template(site.home, spec) or _make(site, arm.arm, spec, listener))
            for spec in arm.templates(cell)
        ]
        for arm in arms
    ]
    _check_same_rows([template for made in templates for _, template in made])
    prepared = []
    for arm, made in zip(arms, templates, strict=True):
        loads = [template.data for _, template in made]
        if cell.regime is Regime.READ_ONLY:
            loads = [_in_place(site, arm.arm, spec, template, listener) for spec, template in made]
        prepared.append(PreparedArm(arm.arm.name, arm.install, arm.arm.settings, tuple(loads)))
    made_up = PreparedCell(
        spec=cell.spec,
        workload=cell.workload,
        arms=tuple(prepared),
        placement=place(cell.spec.clients),
        slots=tuple(site.directory("slots", str(number)) for number in range(len(arms))),
    )
    return age_cell(made_up, templates, site, listener) if cell.regime is Regime.STEADY else made_up


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


def _in_place(site: Site, arm: Arm, spec: TemplateSpec, template: Template, listener: Listener) -> Path:
    """The run's own copy of a template, on which rounds may work without a new copy each."""
    place = site.directory("in-place", arm.name) / spec.name
    if not place.exists():
        listener.step(f"copying {spec.dataset.name} scale {spec.scale} for {arm.name}")
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
    site: Site, campaign: Campaign, obtained: _Obtained, prepared: PreparedArm, listener: Listener
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
