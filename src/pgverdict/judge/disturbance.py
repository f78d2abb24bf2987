"""Rounds that something outside of the arms disturbed, and what the verdicts would be without them.

A disturbed round counts like any other: to leave out rounds for what happened in them is a choice made after the fact,
and part of it may be an arm's own doing (METHODOLOGY.md#disturbed-rounds). So this says which they are, and whether it
matters.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum

from pgverdict.judge.answer import answer
from pgverdict.judge.cell import judge_answers, settle_run
from pgverdict.judge.values import Question
from pgverdict.judge.verdict import Verdict
from pgverdict.records.round import RoundRecord, RoundState, SliceRecord
from pgverdict.records.run import CellRecord, RunRecord
from pgverdict.spec.campaign import Campaign
from pgverdict.spec.regime import Regime


class Source(Enum):
    """Where a disturbance comes from."""

    STEAL = "steal"
    OTHERS = "other processes"
    MEMORY = "waits for memory"
    IO = "waits for disks"
    HEAT = "heat"


LIMITS = {
    Source.STEAL: 0.05,
    Source.OTHERS: 0.05,
    Source.MEMORY: 0.01,
    Source.IO: 0.10,
    Source.HEAT: 0,
}
"""Beyond which a round is disturbed; shares of time, and of HEAT a count.

- STEAL and OTHERS, of the time of the placement's cores. The kernel counts ticks of 10 ms, and a short round has 120
  of them on one core. In ten quiet read-only rounds OTHERS lay between -0.9 and +1.3 % before our own time was taken
  off (the machine and day of METHODOLOGY.md). Six ticks are more than that, and one slice in twenty is about what the
  median of twelve pairs can lose without noticing.
- MEMORY: of the time that was watched, somebody waited for memory. All data lies in memory, or one arm's share of it;
  nobody has to wait.
- IO: the same for a disk. A read-only round reads from memory, so these are the waits of others, or for pages of ours
  that were pushed out. Work that writes waits for its own commits: nothing tells whose waits are whose there.
- HEAT: a core that is slowed down once is as warm as it may be.
"""


@dataclass(frozen=True)
class Disturbance:
    """`amount` is beyond the limit of its source."""

    source: Source
    amount: float


def disturbances(record: RoundRecord, regime: str) -> tuple[Disturbance, ...]:
    """Of a measured round, in the order of Source; none where all was quiet, or nobody looked."""
    return tuple(
        Disturbance(source, amount)
        for source, amount in amounts(record, regime).items()
        if amount > LIMITS[source]
    )


def amounts(record: RoundRecord, regime: str) -> dict[Source, float]:
    """What came from each source that is told of. Of rounds that failed nothing is."""
    found: dict[Source, float] = {}
    if record.state is RoundState.FAILED:
        return found
    cores_ns = _cores(record) * sum(s.ended_at_ns - s.begun_at_ns for s in record.slices)
    around = record.surroundings
    steal_ns = _total([s.steal_ns for s in record.slices])
    if cores_ns and steal_ns is not None:
        found[Source.STEAL] = steal_ns / cores_ns
    if cores_ns and around and (others_ns := _others_ns(record.slices, around.own_cpu_ns)) is not None:
        found[Source.OTHERS] = others_ns / cores_ns
    if around and around.watched_ns:
        if around.memory_stalled_ns is not None:
            found[Source.MEMORY] = around.memory_stalled_ns / around.watched_ns
        if around.io_stalled_ns is not None and regime == Regime.READ_ONLY.value:
            found[Source.IO] = around.io_stalled_ns / around.watched_ns
        if around.throttles is not None:
            found[Source.HEAT] = around.throttles
    return found


def judge_undisturbed(run: RunRecord) -> tuple[tuple[Verdict, ...], ...]:
    """Per cell and candidate, the primary metric's verdict as it would be without the disturbed rounds.

    Where the number of rounds was fixed and reached, the number that is left is taken for the fixed one.
    """
    answers = []
    for cell in run.cells:
        left = replace(cell, rounds=tuple(r for r in cell.rounds if not disturbances(r, cell.regime)))
        campaign = _for(run.campaign, cell, left)
        question = Question(cell.primary)
        answers.append(
            tuple((answer(left, campaign, candidate, question),) for candidate in campaign.candidates)
        )
    family = settle_run(answers, run.campaign)
    return tuple(tuple(judged[0] for judged in judge_answers(cell, family)) for cell in answers)


def _for(campaign: Campaign, cell: CellRecord, left: CellRecord) -> Campaign:
    if campaign.rounds is None or len(cell.measured) != campaign.rounds or len(left.measured) < 2:
        return campaign
    return replace(campaign, rounds=len(left.measured))


def _others_ns(slices: Sequence[SliceRecord], own_ns: int) -> int | None:
    """What the placement's cores did for others: rather too little, since servers and we work on other cores, too."""
    busy_ns = _total([s.cores_busy_ns for s in slices])
    server_ns = _total([s.server_cpu_ns for s in slices])
    if busy_ns is None or server_ns is None:
        return None  # a server that is not ours may be another of this host's, or may not
    return max(0, busy_ns - server_ns - sum(s.engine_cpu_ns for s in slices) - own_ns)


def _total(counts: Sequence[int | None]) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if known and len(known) == len(counts) else None


def _cores(record: RoundRecord) -> int:
    """How many the placement has; 0 where the round does not say."""
    named = dict(record.placement).get("cpus", "")
    return len(named.split(",")) if named else 0
