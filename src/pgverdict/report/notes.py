"""What has to be said beside the numbers of a run, and of a candidate in a cell: the same notes in every format."""

from collections.abc import Sequence

from pgverdict.judge.decide import ROUNDS_MIN, missable_share
from pgverdict.judge.failures import count_failures
from pgverdict.judge.pulling import REACH
from pgverdict.judge.verdict import Outcome, Verdict
from pgverdict.records.run import CellRecord, RunRecord, RunState
from pgverdict.report import sentences, words
from pgverdict.report.deviations import deviation_notes
from pgverdict.report.disturbed import host_notes
from pgverdict.report.equality import equality_notes
from pgverdict.report.last_words import failure_stories
from pgverdict.report.memory import cache_notes, confinement_notes, huge_page_notes
from pgverdict.report.plans import plan_notes
from pgverdict.report.regimes import regime_notes
from pgverdict.spec.campaign import Pinning
from pgverdict.spec.spelling import whereabouts


def handicaps(run: RunRecord) -> str:
    """What stands before every headline of a run with an arm that was slowed down on purpose; mostly nothing."""
    said = [
        f"{words.arm_label(found)} SLOWED DOWN ON PURPOSE by {asked.handicap_ns:,} ns per message"
        for asked, found in zip(run.campaign.arms, run.arms, strict=True)
        if asked.handicap_ns
    ]
    return f"{words.listed(said)}: " if said else ""


def run_notes(run: RunRecord) -> tuple[str, ...]:
    """Of the run as a whole."""
    notes = []
    if slowed := handicaps(run):
        notes.append(
            f"{slowed.removesuffix(': ')}: this run tests pgverdict and says nothing about these servers"
        )
    if run.state is RunState.RUNNING:
        notes.append("this run has not ended, or its process was killed: these are the rounds it kept")
    if run.state is RunState.STOPPED:
        notes.append("this run was stopped before its end")
    notes += [f"{server} was to be measured too, and could not be had: {why}" for server, why in run.left_out]
    notes += confinement_notes(run.campaign)
    if run.campaign.rounds is not None and run.campaign.rounds < ROUNDS_MIN:
        notes.append(
            f"a run of {words.count(run.campaign.rounds, 'round')} always ends UNDECIDED:"
            f" a verdict takes at least {ROUNDS_MIN}"
        )
    notes += equality_notes(run)
    notes += host_notes(run.diagnoses)
    by_note: dict[str, list[str]] = {}
    for arm in run.arms:
        for note in arm.notes:
            by_note.setdefault(note, []).append(words.arm_label(arm))
    notes += [f"{words.listed(labels)}: {note}" for note, labels in by_note.items()]
    return tuple(notes)


def cell_notes(
    run: RunRecord, cell: CellRecord, candidate: int, verdicts: Sequence[Verdict]
) -> tuple[str, ...]:
    """Of a candidate in a cell; `report.remarks` has what the shape of the rounds says."""
    notes = []
    if cell.trouble is not None:
        notes.append(f"could not be prepared: {cell.trouble}")
    notes += deviation_notes(run, cell, candidate)
    if cell.measured:
        notes.append(
            sentences.replication(
                loads=min(len({r.plan.loads[arm] for r in cell.measured}) for arm in (0, candidate)),
                installs=min(_installs(run, cell, arm) for arm in (0, candidate)),
                same_loads=_shared(cell.load_pools, candidate),
                same_installs=_shared(cell.install_pools, candidate),
            )
        )
    if verdicts and verdicts[0].outcome is Outcome.SAME:
        missed = missable_share(verdicts[0].rounds, run.campaign.confidence)
        notes.append(
            f"SAME is about what happens in most rounds: {words.count(verdicts[0].rounds, 'round')} may miss what"
            f" happens in fewer than {missed:.0%} of them".replace("%", " %")
        )
    if any(("placement", Pinning.FREE.value) in r.placement for r in cell.measured):
        notes.append(
            "placement free: clients and server processes ran where the kernel put them, as users' do; results say"
            " nothing about pinned ones"
        )
    if verdicts and verdicts[0].pulled_in:
        notes.append(
            f"{words.count(verdicts[0].pulled_in, 'round')} of {verdicts[0].rounds} lay far out: for the typical value"
            f" so far out counts as {REACH:g} standard deviations"
        )
    notes += regime_notes(cell, {arm: words.arm_label(run.arms[arm]) for arm in (0, candidate)})
    notes += plan_notes(cell, {arm: words.arm_label(run.arms[arm]) for arm in (0, candidate)}, candidate)
    notes += failure_stories(run, cell)
    rolled_back = sum(arm.failed for r in cell.measured for arm in r.arms)
    if rolled_back:
        notes.append(
            f"{words.count(rolled_back, 'transaction')} ended in a serialization failure or a deadlock"
        )
    notes += cache_notes(cell, {arm: words.arm_label(run.arms[arm]) for arm in (0, candidate)})
    notes += huge_page_notes(cell, {arm: words.arm_label(run.arms[arm]) for arm in (0, candidate)})
    return (*notes, *_failure_notes(run, cell, candidate, verdicts))


def _installs(run: RunRecord, cell: CellRecord, arm: int) -> int:
    """How many installs the arm's servers were started from; one that somebody else runs has its own."""
    if whereabouts(run.arms[arm].server) is not None:
        return 1
    return len({r.plan.installs[arm] for r in cell.measured})


def _shared(pools: tuple[int, ...], candidate: int) -> bool:
    return bool(pools) and pools[0] == pools[candidate]


def _failure_notes(
    run: RunRecord, cell: CellRecord, number: int, verdicts: Sequence[Verdict]
) -> tuple[str, ...]:
    """What the failed rounds say of baseline and candidate, and what they keep from being said."""
    notes = []
    failures = count_failures(cell, number)
    if failures.baseline or failures.candidate:
        baseline, candidate = words.arm_label(run.arms[0]), words.arm_label(run.arms[number])
        blamed = (
            f"of {words.count(failures.failed, 'failed round')} out of {failures.rounds}, {failures.baseline} are"
            f" blamed on {baseline} and {failures.candidate} on {candidate}"
        )
        if failures.p_value <= 1 - run.campaign.confidence:
            worse = candidate if failures.candidate > failures.baseline else baseline
            notes.append(
                f"{blamed}: {worse} fails more often, and what it would have shown in those rounds is in no interval"
            )
        else:
            notes.append(f"{blamed}: no more uneven than chance makes them")
    notes += [
        f"SAME is withheld where the intervals say it: {reason}"
        for reason in dict.fromkeys(v.withheld for v in verdicts if v.withheld is not None)
    ]
    return tuple(notes)
