"""Whether this host and these arms can do with what the campaign confines them to: asked before any round."""

from pgverdict.conduct.placement import require_cores
from pgverdict.errors import UserError
from pgverdict.observe.host import memory_bytes
from pgverdict.servers.confine import Confiner, find_confiner
from pgverdict.spec.campaign import Campaign
from pgverdict.spec.confinement import spell_size

PROCESSES_BYTES = 16 << 20
"""What the processes of a server that hardly works take beside shared buffers, about."""


def confiner_for(campaign: Campaign) -> Confiner | None:
    """What confines the campaign's servers, tried out; None where nothing does.

    UserError for cores or memory that the host does not have, WorldError where it cannot confine.
    """
    require_cores(campaign.cores, "--cores")
    require_cores(campaign.engine_cores, "--engine-cores")
    host_bytes = memory_bytes("MemTotal")
    if campaign.memory_bytes is not None and campaign.memory_bytes > host_bytes:
        raise UserError(
            f"this host has {host_bytes >> 20}MB of memory in all: --memory {spell_size(campaign.memory_bytes)}",
            hint="leave out --memory for as much as there is",
        )
    return find_confiner(campaign.limits)


def require_memory(campaign: Campaign, arm_name: str, shared_buffers_bytes: int) -> None:
    """UserError for an arm whose shared buffers alone are more than it may have.

    They are taken as they are filled, so it would start, and be killed in the middle of a round.
    """
    limit = campaign.memory_bytes
    if limit is not None and shared_buffers_bytes + PROCESSES_BYTES > limit:
        raise UserError(
            f"arm {arm_name} has shared buffers of {shared_buffers_bytes >> 20}MB, which with its processes do not fit"
            f" into --memory {spell_size(limit)}",
            hint=f"more memory, or --set shared_buffers={limit >> 22}MB, a quarter of it",
        )
