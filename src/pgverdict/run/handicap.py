"""Known slow-downs of a campaign's arms: shares become nanoseconds, and all arms carry the library.

A share is of the arm's typical latency in the first cell, found by one round in which every arm carries the
library and none spins. The campaign that is kept says nanoseconds, so the run can be done again.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from statistics import median

from pgverdict.conduct.cell import PreparedCell
from pgverdict.conduct.round import run_round
from pgverdict.errors import WorldError
from pgverdict.records.round import ArmRecord, RoundRecord, RoundState
from pgverdict.run.listener import Listener
from pgverdict.run.site import Site
from pgverdict.spec.campaign import Campaign


def settle_handicaps(
    campaign: Campaign, cell: PreparedCell, shares: Mapping[int, float], site: Site, listener: Listener
) -> Campaign:
    """The campaign with all handicaps in nanoseconds.

    `shares`: arm to share of its typical latency, which one round of `cell` tells.
    """
    if not shares:
        return campaign
    listener.step("measuring how large the handicaps have to be")
    campaign = _with_shares(campaign, _carrying(cell, [0] * len(cell.arms)), shares, site)
    for number in sorted(shares):
        arm = campaign.arms[number]
        listener.note(
            f"arm {arm.name} is slowed down by {arm.handicap_ns} ns per message: {shares[number]:.3%}"
        )
    return campaign


def _with_shares(campaign: Campaign, cell: PreparedCell, shares: Mapping[int, float], site: Site) -> Campaign:
    plan = cell.arrange(seed=campaign.seed, ordinal=0)
    record = run_round(cell, plan, None, site.launch_arm)
    if record.state is RoundState.FAILED:
        raise WorldError(f"cannot measure what share of the latency a handicap is: {record.story}")
    executed = [0] * len(campaign.arms)
    for one in record.slices:
        executed[one.arm] += one.transactions + one.failed + one.discarded
    found = {
        number: share_ns(share, _typical_ns(campaign, record, number), record.arms[number], executed[number])
        for number, share in shares.items()
    }
    arms = tuple(
        replace(arm, handicap_ns=found.get(number, arm.handicap_ns))
        for number, arm in enumerate(campaign.arms)
    )
    return replace(campaign, arms=arms)


def _typical_ns(campaign: Campaign, record: RoundRecord, arm: int) -> float:
    """The arm's typical latency: the median over all arms that are asked for alike, since one start is one start."""
    asked = campaign.arms[arm]
    return median(
        found.latency.p50_ns
        for found, other in zip(record.arms, campaign.arms, strict=True)
        if (other.server, other.settings) == (asked.server, asked.settings)
    )


def share_ns(share: float, typical_ns: float, arm: ArmRecord, executed: int) -> int:
    """Nanoseconds per message that make a share of a typical latency: at least one."""
    assert arm.handicap_messages is not None, "the arm carried the library"
    return max(1, round(share * typical_ns * executed / arm.handicap_messages))


def carry_handicaps(cell: PreparedCell, campaign: Campaign) -> PreparedCell:
    """Where an arm has a handicap, all arms with the library; those without one only count."""
    if not any(arm.handicap_ns for arm in campaign.arms):
        return cell
    return _carrying(cell, [arm.handicap_ns for arm in campaign.arms])


def _carrying(cell: PreparedCell, handicaps_ns: Sequence[int]) -> PreparedCell:
    return replace(
        cell,
        arms=tuple(replace(arm, handicap_ns=ns) for arm, ns in zip(cell.arms, handicaps_ns, strict=True)),
    )
