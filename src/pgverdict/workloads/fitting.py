"""What a cell of a workload cannot be asked for: clients, metrics, pairs and caches that do not fit it."""

from dataclasses import replace

from pgverdict.errors import UserError
from pgverdict.spec.cache import Cache
from pgverdict.spec.campaign import CellSpec
from pgverdict.spec.metrics import OF_STREAMS
from pgverdict.workloads.regimes import STEPS_PRIMARY, primary_of
from pgverdict.workloads.workload import Workload


def require_fit(cell: CellSpec, workload: Workload) -> None:
    """UserError for what the cell asks of its workload and cannot have, and for what only other workloads have."""
    _require_room(cell, workload)
    _require_streams(cell, workload)
    _require_primary(cell, workload)
    _require_chain(cell, workload)


def _require_room(cell: CellSpec, workload: Workload) -> None:
    room = workload.room
    if room is None or cell.clients <= room.at(cell.scale):
        return
    hint, where = room.otherwise, ""
    if room.clients_per_scale:
        scale = -(-(cell.clients - room.clients) // room.clients_per_scale)
        hint, where = f"--scale {scale} or more, or {hint}", f" at scale {cell.scale}"
    raise UserError(
        f"{cell.clients} clients are more than {workload.name} has {room.of}{where}: {room.at(cell.scale)}",
        hint=hint,
    )


def _require_streams(cell: CellSpec, workload: Workload) -> None:
    if workload.streams is None:
        if cell.primary == OF_STREAMS:
            raise UserError(
                f"the metric {OF_STREAMS} is of streams, which {workload.name} has none of",
                hint="leave out --primary, or choose latency_us_mean",
            )
        return
    if cell.pairs is not None:
        raise UserError(
            f"a round of {workload.name} has as many pairs as a stream has queries: --pairs {cell.pairs}",
            hint="leave out --pairs",
        )
    if cell.cache is Cache.COLD:
        raise UserError(
            f"after the first query of a stream nothing is cold any more: {workload.name} with --cache cold",
            hint="leave out --cache cold",
        )


def _require_primary(cell: CellSpec, workload: Workload) -> None:
    if cell.primary is None or (cell.primary == STEPS_PRIMARY) == (workload.chain is not None):
        return
    own = primary_of(replace(cell, primary=None), workload)
    raise UserError(
        f"the metric {cell.primary} cannot be told of the workload {workload.name}",
        hint=f"leave out --primary: {own} decides",
    )


def _require_chain(cell: CellSpec, workload: Workload) -> None:
    """The chain itself refuses sizes at which a step has nothing to do."""
    if workload.chain is None:
        return
    workload.chain(cell.scale, cell.clients)
    if cell.pairs is not None:
        raise UserError(
            f"the steps of a chain are worked through whole, and not in pairs: --pairs {cell.pairs}",
            hint="leave out --pairs",
        )
    if cell.cache is Cache.COLD:
        raise UserError(
            f"a chain begins with nothing that could be cold: {workload.name}", hint="leave out --cache cold"
        )
