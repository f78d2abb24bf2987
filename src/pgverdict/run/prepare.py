"""From what was laid for all cells to one that rounds can be run on: templates made, data copied."""

from collections.abc import Sequence
from pathlib import Path

from pgverdict.conduct.cell import PreparedArm, PreparedCell
from pgverdict.conduct.placement import choose_event_loop, choose_pinning, place
from pgverdict.datasets.copy import copy_data, settle
from pgverdict.datasets.outside import OutsideLoad, make_outside
from pgverdict.datasets.template import Template, TemplateSpec, find_template, make_template, note_use
from pgverdict.engine.process import Engine
from pgverdict.errors import WorldError
from pgverdict.host.doctor import examine, read_facts
from pgverdict.host.tree import Tree
from pgverdict.records.host import Diagnosis
from pgverdict.records.run import ArmFacts, CellRecord
from pgverdict.run.ageing import age_cell, require_budget, with_notes
from pgverdict.run.builds import require_what_is_needed
from pgverdict.run.confining import require_memory
from pgverdict.run.copies import Copies, has_room
from pgverdict.run.groundwork import Groundwork, lay_groundwork
from pgverdict.run.listener import Listener
from pgverdict.run.meeting import meet_arms
from pgverdict.run.places import Place, put_wal
from pgverdict.run.room import Sized, ours
from pgverdict.run.sharing import ObtainedArm, Spec
from pgverdict.run.site import Site
from pgverdict.servers.layout import obstacle_here
from pgverdict.servers.marked import remove_tree
from pgverdict.spec.arms import Arm
from pgverdict.spec.campaign import Campaign, CellSpec, Pinning, settings_in
from pgverdict.spec.partitions import is_about_partitions
from pgverdict.spec.quantities import is_size, size_bytes
from pgverdict.spec.regime import Regime
from pgverdict.workloads.fitting import require_fit
from pgverdict.workloads.regimes import primary_of

Made = tuple[Arm, Spec, Template | OutsideLoad]
"""A load, of what it is made and by whom."""


class Preparation:
    """The cells of a campaign, prepared one after the other, and again if their copies have gone meanwhile."""

    def __init__(self, campaign: Campaign, site: Site, listener: Listener) -> None:
        # Who wrote a file wants what of it can be had; who types two servers wants these.
        self.ground = lay_groundwork(campaign, site, listener, leave_out=campaign.written is not None)
        self._copies = Copies.beside(site.home)
        self._site, self._listener = site, listener

    @property
    def campaign(self) -> Campaign:
        """As it is kept: with all settings that its arms get."""
        return self.ground.campaign

    def planned(self) -> tuple[CellRecord, ...]:
        """The cells without any rounds."""
        return tuple(
            CellRecord(
                spec=cell.spec,
                primary=primary_of(cell.spec, cell.workload),
                regime=cell.regime.value,
                load_pools=cell.load_pools.of,
                install_pools=self.ground.install_pools.of,
            )
            for cell in self.ground.cells
        )

    def fits(self, number: int) -> bool:
        """Whether a cell can be prepared without removing what was prepared for others."""
        needed = copies_of(self.ground, number, self._site)
        return self._copies.fit(needed) and has_room(
            self.ground.cells[number], needed, self.ground.wal_bytes, self._site.home
        )

    def cell(self, number: int) -> PreparedCell:
        """As `prepare_cell`."""
        return prepare_cell(self.ground, number, self._site, self._copies, self._listener)

    def meet(self, cells: Sequence[PreparedCell]) -> tuple[ArmFacts, ...]:
        """What the arms turn out to be, with what is to be said of their data in these cells."""
        return with_notes(meet_arms(self.ground, cells[0], self._site, self._listener), cells)


def diagnose(site: Site) -> tuple[Diagnosis, ...]:
    """What doctor says of the host."""
    return tuple(one.diagnosis for one in examine(read_facts(Tree(), site.home.cache), obstacle_here()))


def copies_of(ground: Groundwork, number: int, site: Site) -> dict[Path, int]:
    """The copies in place that rounds of a cell work on: where each goes, and how large it is."""
    cell = ground.cells[number]
    if cell.regime is not Regime.READ_ONLY:
        return {}
    return {
        _place_of(site, own, spec): cell.load_bytes
        for own, pool in zip(ground.places, cell.load_pools.of, strict=True)
        for spec in ours(cell.makings[pool])
    }


def prepare_cell(
    ground: Groundwork, number: int, site: Site, copies: Copies, listener: Listener
) -> PreparedCell:
    """Templates for every pool, holding the same rows; copies of them where rounds work in place, aged where steady.

    UserError or WorldError if this cell cannot be had; others may. May be done again when its copies have gone.
    """
    cell, campaign = ground.cells[number], ground.campaign
    require_fit(cell.spec, cell.workload)
    require_what_is_needed([(cell.spec, cell.workload)], cell.arms)
    for arm in campaign.arms:
        _require_memory(campaign, arm, cell.spec)
    needed = copies_of(ground, number, site)
    copies.make_room(needed, listener)
    copies.require_room(cell, needed, ground.wal_bytes, site.home, listener)
    pools = [
        [(maker, spec, _load(site, maker, spec, listener)) for maker, spec in making]
        for making in cell.makings
    ]
    _check_same_rows([load for made in pools for _, _, load in made])
    for spec in (spec for making in cell.makings for spec in ours(making)):
        note_use(site.home, spec.name)
    theirs = any(arm.stay is not None for arm in ground.arms)
    prepared = PreparedCell(
        spec=cell.spec,
        workload=cell.workload,
        arms=tuple(
            _prepare_arm(site, cell, arm, own, pools[pool], copies, listener)
            for arm, own, pool in zip(ground.arms, ground.places, cell.load_pools.of, strict=True)
        ),
        placement=place(
            cell.spec.clients,
            # What cannot be pinned of one arm is pinned of none.
            Pinning.FREE if theirs else choose_pinning(campaign.placement, cell.workload),
            cores=campaign.cores,
            engine_cores=campaign.engine_cores,
            event_loop=choose_event_loop(campaign.event_loop, outside=theirs),
        ),
        slots=tuple(site.directory("slots", str(number)) for number in range(len(ground.arms))),
        load_pools=cell.load_pools,
        install_pools=ground.install_pools,
        freeze=ground.freeze,
        confiner=ground.confiner,
        asks_preliminaries=is_about_partitions(cell.spec, campaign.cells),
    )
    if cell.regime is Regime.STEADY:
        prepared = age_cell(prepared, [_templates(made) for made in pools], site, listener)
    require_budget([prepared], campaign, listener)
    settle(site.home.cache)
    return prepared


def _templates(made: Sequence[Made]) -> list[tuple[Arm, TemplateSpec, Template]]:
    return [
        (maker, spec, load)
        for maker, spec, load in made
        if isinstance(spec, TemplateSpec) and isinstance(load, Template)
    ]


def _prepare_arm(
    site: Site,
    cell: Sized,
    arm: ObtainedArm,
    own: Place,
    made: Sequence[Made],
    copies: Copies,
    listener: Listener,
) -> PreparedArm:
    """With the loads of its pool, where its rounds find them."""
    settings, slots = settings_in(arm.arm, cell.spec), len(cell.arms)
    if arm.stay is not None:
        databases = tuple(load.database for _, _, load in made if isinstance(load, OutsideLoad))
        return PreparedArm(arm.arm.name, (), settings, (), stay=arm.stay, databases=databases)
    return PreparedArm(
        arm.arm.name,
        arm.installs,
        settings,
        tuple(
            _in_place(site, own, spec, template, copies, listener)
            if cell.regime is Regime.READ_ONLY
            else template.data
            for _, spec, template in _templates(made)
        ),
        slots=own.slots(slots),
        wal_slots=own.wal_slots(slots),
    )


def _load(site: Site, maker: Arm, spec: Spec, listener: Listener) -> Template | OutsideLoad:
    if isinstance(spec, TemplateSpec):
        return find_template(site.home, spec) or _make(site, maker, spec, listener)
    if spec not in site.stays.loads:
        listener.step(f"loading {spec.dataset.name} scale {spec.scale} into {maker.name} (load {spec.load})")
        with Engine.start() as engine:
            site.stays.loads[spec] = make_outside(spec, engine, listener.amount)
    return site.stays.loads[spec]


def _require_memory(campaign: Campaign, arm: Arm, cell: CellSpec) -> None:
    """For what the cell says; what the arm has by itself is asked of the arm when it is met."""
    said = dict(cell.settings).get("shared_buffers", "")
    if is_size(said):
        require_memory(campaign, arm.name, size_bytes(said))


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


def _check_same_rows(loads: Sequence[Template | OutsideLoad]) -> None:
    """All arms must hold the same rows, byte for byte."""
    if len({load.rows_sha256 for load in loads}) > 1:
        places = ", ".join(
            str(load.data.parent) if isinstance(load, Template) else load.database for load in loads
        )
        raise WorldError(
            f"the arms were loaded with different rows: {places}", hint="remove these directories"
        )


def _place_of(site: Site, own: Place, spec: TemplateSpec) -> Path:
    """Arms share a copy, but for those that have a place of their own."""
    shared = own.data is None and own.wal is None
    return (own.data or site.directory("in-place", *([] if shared else [own.name]))) / spec.name


def _in_place(
    site: Site, own: Place, spec: TemplateSpec, template: Template, copies: Copies, listener: Listener
) -> Path:
    """The run's own copy of a template, on which rounds may work without a new copy each."""
    data = _place_of(site, own, spec)
    if not data.exists():
        listener.step(f"copying {spec.dataset.name} scale {spec.scale} (load {spec.load})")
        # Under another name until it is whole: other cells go on if this is cut short.
        partial = data.with_name(f"{data.name}.partial")
        remove_tree(partial)
        copy_data(template.data, partial)
        put_wal(partial, own, spec.name)
        partial.rename(data)
    copies.hold(data, template.bytes)
    return data
