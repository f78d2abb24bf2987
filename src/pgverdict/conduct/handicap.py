"""What the handicaps of a round's arms did while its slices ran, read from the servers themselves."""

from collections.abc import Sequence

from pgverdict.conduct.cell import PreparedArm, PreparedCell
from pgverdict.conduct.live import LiveArm
from pgverdict.errors import RoundFailed
from pgverdict.records.round import SliceRecord
from pgverdict.servers.handicap import HandicapCounts, check_counts

Handicaps = Sequence[HandicapCounts | None]
"""One entry per arm; all are None where no arm has a handicap."""


def read_handicaps(live: Sequence[LiveArm]) -> Handicaps:
    """What the servers did since they started."""
    return [arm.server.handicap_counts() for arm in live]


def grown_handicaps(
    cell: PreparedCell, before: Handicaps, after: Handicaps, slices: Sequence[SliceRecord]
) -> Handicaps:
    """What they did in between, all of it in slices. WorldError if an arm was not slowed down as it was to be."""
    return [
        grown_handicap(arm, earlier, later, [s for s in slices if s.arm == number])
        for number, (arm, earlier, later) in enumerate(zip(cell.arms, before, after, strict=True))
    ]


def grown_handicap(
    arm: PreparedArm,
    before: HandicapCounts | None,
    after: HandicapCounts | None,
    slices: Sequence[SliceRecord],
) -> HandicapCounts | None:
    """The same of one arm; `slices` are its own."""
    if before is None or after is None:
        return None
    done = check_counts(after.since(before), arm.handicap_ns or 0, whom=f"arm {arm.name}")
    executed = sum(s.transactions + s.failed + s.discarded for s in slices)
    if done.messages < executed:
        raise RoundFailed(
            f"the handicap of arm {arm.name} met {done.messages} messages in {executed} transactions"
        )
    return done
