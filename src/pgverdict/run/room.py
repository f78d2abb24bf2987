"""How much the data of a campaign takes, and whether there is room for it: asked before anything is loaded."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pgverdict.datasets.template import TemplateSpec, find_template
from pgverdict.plan.pools import LOADS_MAX, Pools, settings_of_loads
from pgverdict.plan.stretches import LOADS_AGED
from pgverdict.run.ageing import aged_bytes_missing
from pgverdict.run.sharing import ObtainedArm, Spec, load_pools, share_out_making
from pgverdict.servers.home import Home
from pgverdict.servers.space import require_space
from pgverdict.spec.arms import Arm
from pgverdict.spec.campaign import CellSpec
from pgverdict.spec.regime import Regime
from pgverdict.workloads.regimes import regime_of
from pgverdict.workloads.workload import Workload

EMPTY_CLUSTER_BYTES = 80_000_000
"""An empty cluster with its WAL, about."""


@dataclass(frozen=True)
class Sized:
    """A cell with its workload, the size of one load of it, and the pools its arms draw loads from.

    `arms` have the settings that its data is loaded with.
    """

    spec: CellSpec
    workload: Workload
    load_bytes: int
    load_pools: Pools
    arms: tuple[ObtainedArm, ...]

    @property
    def regime(self) -> Regime:
        return regime_of(self.spec, self.workload)

    @property
    def template_bytes(self) -> int:
        """Of one load before a round; a chain begins with nothing."""
        return self.load_bytes if self.workload.chain is None else EMPTY_CLUSTER_BYTES

    @property
    def makings(self) -> list[list[tuple[Arm, Spec]]]:
        """Per pool, its loads and who makes each."""
        return share_out_making(self.load_pools, self.arms, self.workload.dataset, self.spec.scale)


def size_cell(cell: CellSpec, workload: Workload, arms: Sequence[ObtainedArm], rounds: int | None) -> Sized:
    """What a cell takes, and how many loads it can therefore have."""
    load_bytes = EMPTY_CLUSTER_BYTES + data_bytes(cell, workload)
    loading = tuple(
        replace(one, arm=replace(one.arm, settings=settings_of_loads(one.arm.settings, cell.settings)))
        for one in arms
    )
    most = LOADS_AGED if regime_of(cell, workload) is Regime.STEADY else LOADS_MAX
    return Sized(cell, workload, load_bytes, load_pools(loading, load_bytes, rounds, most=most), loading)


def data_bytes(cell: CellSpec, workload: Workload) -> int:
    """The dataset of a cell on disk, about."""
    return cell.scale * workload.dataset.bytes_per_scale


def require_room(cell: Sized, copies: Mapping[Path, int], wal_bytes: Sequence[int], home: Home) -> None:
    """WorldError where the disk does not hold what a cell still needs: templates, copies in place, a round's copies.

    `copies`: those in place that are still to be made. `wal_bytes`: per arm, what its WAL may grow to; asked for where
    it has a directory of its own.
    """
    needed = Counter({home.cache: sum(missing_templates(cell, home).values())})
    for path, size in copies.items():
        needed[path.parent] += size
    if cell.regime is not Regime.READ_ONLY:
        for arm in (one for one in cell.arms if one.stay is None):
            needed[Path(arm.arm.data_directory or home.cache)] += cell.load_bytes
    for arm, size in zip(cell.arms, wal_bytes, strict=True):
        if arm.arm.wal_directory is not None:
            needed[Path(arm.arm.wal_directory)] += size
    for place, size in _by_file_system(needed).items():
        require_space(place, size, f"the data of {cell.spec.key} and its copies")


def missing_templates(cell: Sized, home: Home) -> Mapping[str, int]:
    """The templates of a cell that are still to be made, and what each will take."""
    missing: dict[str, int] = {}
    for spec in (spec for making in cell.makings for spec in ours(making)):
        if find_template(home, spec) is None:
            missing[spec.name] = cell.template_bytes
        if cell.regime is Regime.STEADY:
            missing.update(aged_bytes_missing(home, spec, cell.spec, cell.workload, cell.load_bytes))
    return missing


def ours(making: Sequence[tuple[Arm, Spec]]) -> list[TemplateSpec]:
    """Those of our own servers: what room there is elsewhere nobody tells."""
    return [spec for _, spec in making if isinstance(spec, TemplateSpec)]


def _by_file_system(needed: Mapping[Path, int]) -> dict[Path, int]:
    """One directory for each file system, with what all directories on it need."""
    first: dict[int, Path] = {}
    total: Counter[Path] = Counter()
    for place, size in needed.items():
        total[first.setdefault(place.stat().st_dev, place)] += size
    return dict(total)
