"""Cells in the steady regime: their loads aged once, and whether the budget holds their rounds."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from pgverdict.conduct import stretch
from pgverdict.conduct.cell import PreparedArm, PreparedCell
from pgverdict.conduct.placement import pin_backends
from pgverdict.datasets.ageing import AgedSpec, AgedTemplate, Clients, find_aged, make_aged
from pgverdict.datasets.template import Template, TemplateSpec
from pgverdict.errors import UserError
from pgverdict.judge.decide import ROUNDS_MIN
from pgverdict.records.run import ArmFacts
from pgverdict.run.listener import Listener
from pgverdict.run.site import Site
from pgverdict.servers.home import Home
from pgverdict.spec.arms import Arm
from pgverdict.spec.campaign import Campaign, CellSpec
from pgverdict.spec.regime import Regime
from pgverdict.workloads.workload import Workload

GROWS_BY = 2
"""An aged template takes up to so many times the space of the load it was made of, history and WAL included."""


def aged_bytes_missing(
    home: Home, base: TemplateSpec, cell: CellSpec, workload: Workload, load_bytes: int
) -> Mapping[str, int]:
    """The disk space that ageing a load will take, by the aged template's name; none where it was done before."""
    spec = AgedSpec(base, workload, cell.clients, cell.settings)
    return {} if find_aged(home, spec) else {spec.name: GROWS_BY * load_bytes}


def age_cell(
    cell: PreparedCell,
    pools: Sequence[Sequence[tuple[Arm, TemplateSpec, Template]]],
    site: Site,
    listener: Listener,
) -> PreparedCell:
    """The cell with all loads aged, each once, by the arm that made it. `pools` are the loads of every pool."""
    aged = [
        [
            find_aged(site.home, spec) or _age(cell, maker.name, spec, template, site, listener)
            for maker, base, template in made
            for spec in [AgedSpec(base, cell.workload, cell.spec.clients, cell.spec.settings)]
        ]
        for made in pools
    ]
    arms = tuple(
        with_aged(arm, cell.spec, aged[pool]) for arm, pool in zip(cell.arms, cell.load_pools.of, strict=True)
    )
    cycle_s = max(one.cycle_s for pool in aged for one in pool)
    return replace(cell, arms=arms, stretch_slices=stretch.expected_slices(cycle_s))


def with_aged(arm: PreparedArm, cell: CellSpec, aged: Sequence[AgedTemplate]) -> PreparedArm:
    """The arm on the aged loads of its pool."""
    return replace(
        arm,
        loads=tuple(one.data for one in aged),
        notes=tuple(dict.fromkeys(f"{cell.key}: {one.note}" for one in aged if one.note)),
        vacuumed=tuple(sorted({name for one in aged for name in one.vacuumed})),
    )


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
        launch=lambda data: site.launch(
            spec.base.install, data, {**dict(spec.base.settings), **dict(spec.settings)}, "workshop"
        ),
        clients=Clients(
            threads=cell.placement.threads,
            cpus=cell.placement.engine_cpus,
            variables={"scale": cell.spec.scale},
            connected=lambda connected: pin_backends(cell.placement, connected.backend_pids),
        ),
        progress=lambda standing: listener.step(f"{step}: {standing}"),
    )


def expected_round_s(cell: PreparedCell) -> float:
    """What a steady round of the cell will take, or a chain at least; 0 in another regime, where the first round tells
    soon enough."""
    if cell.workload.chain is not None:
        return len(cell.arms) * cell.workload.chain(cell.spec.scale, cell.spec.clients).least_s
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
        is_chain = cell.workload.chain is not None
        about = "more than" if is_chain else "about"
        listener.note(
            f"{cell.spec.key}: a round takes {about} {_minutes(round_s)} with these settings,"
            f" and {rounds} rounds {_minutes(rounds * round_s)}"
        )
        if round_s > campaign.budget_s:
            shorter = (
                "shorter steps, as -p seconds=10 -p wait_seconds=10"
                if is_chain
                else "shorter cycles, as --set checkpoint_timeout=30s --set max_wal_size=64MB"
                " --set autovacuum_naptime=1s"
            )
            raise UserError(
                f"the budget is shorter than one round of {cell.spec.key}, {about} {_minutes(round_s)}:"
                f" {_minutes(campaign.budget_s)}",
                hint=f"--budget {rounds * round_s / 60:.0f}m for {rounds} rounds; or {shorter}",
            )


def _minutes(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"


def with_notes(arms: Sequence[ArmFacts], cells: Sequence[PreparedCell]) -> tuple[ArmFacts, ...]:
    """The arms with what is to be said of their aged data."""
    return tuple(
        replace(arm, notes=(*arm.notes, *(note for cell in cells for note in cell.arms[number].notes)))
        for number, arm in enumerate(arms)
    )
