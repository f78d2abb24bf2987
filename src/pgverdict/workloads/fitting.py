"""Whether a cell's clients fit its workload at its scale."""

from pgverdict.errors import UserError
from pgverdict.spec.campaign import CellSpec
from pgverdict.workloads.workload import Workload


def require_fit(cell: CellSpec, workload: Workload) -> None:
    """UserError for more clients than the workload has room for."""
    room = workload.room
    if room is None or cell.clients <= room.clients_per_scale * cell.scale:
        return
    scale = -(-cell.clients // room.clients_per_scale)
    raise UserError(
        f"{cell.clients} clients are more than {workload.name} has {room.of} at scale {cell.scale}:"
        f" {room.clients_per_scale * cell.scale}",
        hint=f"--scale {scale} or more, or {room.otherwise}",
    )
