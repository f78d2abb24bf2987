"""What a run of chains of steps needs, and what cannot be had in one."""

from collections.abc import Mapping

from pgverdict.errors import UserError
from pgverdict.spec.campaign import Campaign, CellSpec
from pgverdict.workloads.own import workload_of
from pgverdict.workloads.workload import Workload


def refuse_handicaps(campaign: Campaign, shares: Mapping[int, float]) -> None:
    """UserError where an arm of a chain is to be slowed down; `shares` as in `run.execute`."""
    handicapped = [
        arm.name for number, arm in enumerate(campaign.arms) if arm.handicap_ns or number in shares
    ]
    chains = [cell for cell in campaign.cells if workload_of(cell).chain is not None]
    if handicapped and chains:
        raise UserError(
            f"no handicap is put on a chain, whose work is more than messages: {', '.join(handicapped)}",
            hint="leave out --handicap",
        )


def connections_of(cell: CellSpec, workload: Workload) -> int:
    """How many connections a cell has open at once, ours apart."""
    if workload.streams is not None:
        return workload.streams.connections(cell.clients)
    if workload.chain is None:
        return cell.clients
    steps = workload.chain(cell.scale, cell.clients).steps
    return max(max(step.clients, len(step.lanes), len(step.vacuumed)) for step in steps)
