"""Cells in the steady regime: their loads aged once, and whether the budget holds their rounds."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from pgverdict.conduct import stretch
from pgverdict.conduct.cell import PreparedCell
from pgverdict.conduct.placement import pin_backends
from pgverdict.datasets.aging import AgedSpec, AgedTemplate, Clients, find_aged, make_aged
from pgverdict.datasets.template import Template, TemplateSpec
from pgverdict.errors import UserError
from pgverdict.judge.decide import ROUNDS_MIN
from pgverdict.records.run import ArmFacts
from pgverdict.run.listener import Listener
from pgverdict.run.site import Site
from pgverdict.servers.home import Home
from pgverdict.spec.campaign import Campaign, CellSpec
from pgverdict.spec.regime import Regime
from pgverdict.workloads.workload import Workload

GROWS_BY = 2
"""An aged template takes up to so many times the space of the load it was made of, history and WAL included."""


def aged_bytes_missing(
    home: Home, base: TemplateSpec, cell: CellSpec, workload: Workload, load_bytes: int
) -> Mapping[str, int]:
    """The disk space that ageing a load will take, by the aged template's name; none where it was done before."""
    spec = AgedSpec(base, workload, cell.clients)
    return {} if find_aged(home, spec) else {spec.name: GROWS_BY * load_bytes}


def age_cell(
    cell: PreparedCell,
    templates: Sequence[Sequence[tuple[TemplateSpec, Template]]],
    site: Site,
    listener: Listener,
) -> PreparedCell:
    """The cell with every arm's loads aged. `templates` are the loads they are made of, per arm."""
    arms, cycles_s = [], []
    for arm, made in zip(cell.arms, templates, strict=True):
        aged = []
        for base, template in made:
            spec = AgedSpec(base, cell.workload, cell.spec.clients)
            found = find_aged(site.home, spec)
            aged.append(found or _age(cell, arm.name, spec, template, site, listener))
        notes = dict.fromkeys(f"{cell.spec.key}: {one.note}" for one in aged if one.note)
        arms.append(
            replace(
                arm,
                loads=tuple(one.data for one in aged),
                notes=tuple(notes),
                vacuumed=tuple(sorted({name for one in aged for name in one.vacuumed})),
            )
        )
        cycles_s += [one.cycle_s for one in aged]
    return replace(cell, arms=tuple(arms), stretch_slices=stretch.expected_slices(max(cycles_s)))


def _age(
    cell: PreparedCell, arm: str, spec: AgedSpec, template: Template, site: Site, listener: Listener
) -> AgedTemplate:
    what = f"ageing {spec.base.dataset.name} scale {spec.base.scale} with {spec.workload.name} in {arm}"
    step = f"{what} (load {spec.base.load})"
    listener.step(step)
    return make_aged(
        site.home,
        spec,
        template,
        site.account,
        workshop=site.directory("workshop"),
        launch=lambda data: site.launch(spec.base.install, data, dict(spec.base.settings), "workshop"),
        clients=Clients(
            threads=cell.placement.threads,
            cpus=cell.placement.cpus,
            variables={"scale": cell.spec.scale},
            connected=lambda connected: pin_backends(cell.placement, connected.backend_pids),
        ),
        progress=lambda standing: listener.step(f"{step}: {standing}"),
    )


def expected_round_s(cell: PreparedCell) -> float:
    """What a steady round of the cell will take; 0 in another regime, where the first round tells soon enough."""
    if cell.regime is not Regime.STEADY:
        return 0.0
    return stretch.expected_round_s(cell.stretch_slices, len(cell.arms))


def require_budget(cells: Sequence[PreparedCell], campaign: Campaign, listener: Listener) -> None:
    """Say how long steady rounds will take, and UserError if the budget does not hold a single one."""
    for cell in cells:
        round_s = expected_round_s(cell)
        if not round_s:
            continue
        rounds = campaign.rounds or ROUNDS_MIN
        listener.note(
            f"{cell.spec.key}: a round takes about {_minutes(round_s)} with these settings,"
            f" and {rounds} rounds {_minutes(rounds * round_s)}"
        )
        if round_s > campaign.budget_s:
            raise UserError(
                f"the budget is shorter than one round of {cell.spec.key}, about {_minutes(round_s)}:"
                f" {_minutes(campaign.budget_s)}",
                hint=f"--budget {rounds * round_s / 60:.0f}m for {rounds} rounds; or shorter cycles, as"
                " --set checkpoint_timeout=30s --set max_wal_size=64MB --set autovacuum_naptime=1s",
            )


def _minutes(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"


def with_notes(arms: Sequence[ArmFacts], cells: Sequence[PreparedCell]) -> tuple[ArmFacts, ...]:
    """The arms with what is to be said of their aged data."""
    return tuple(
        replace(arm, notes=(*arm.notes, *(note for cell in cells for note in cell.arms[number].notes)))
        for number, arm in enumerate(arms)
    )
