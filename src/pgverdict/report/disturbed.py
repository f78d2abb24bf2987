"""What is said of a host that was not fit, and of rounds that were disturbed."""

from collections.abc import Sequence
from dataclasses import dataclass

from pgverdict.judge.decide import ROUNDS_MIN
from pgverdict.judge.disturbance import Disturbance, Source, disturbances, judge_undisturbed
from pgverdict.judge.verdict import Outcome, Verdict
from pgverdict.records.host import Diagnosis, Level
from pgverdict.records.run import CellRecord, RunRecord
from pgverdict.report import words

NUMBERS_MAX = 8
"""So many rounds are named one by one; a report is no log."""


@dataclass(frozen=True)
class Undisturbed:
    """Per cell of a run: by the number of the round, from 1, what disturbed it; and per candidate, its primary's
    verdict without these rounds."""

    disturbed: tuple[dict[int, tuple[Disturbance, ...]], ...]
    verdicts: tuple[tuple[Verdict, ...], ...]


def undisturbed(run: RunRecord) -> Undisturbed:
    """Judged anew only where there is something to leave out."""
    disturbed = tuple(_disturbed(cell) for cell in run.cells)
    return Undisturbed(disturbed, judge_undisturbed(run) if any(disturbed) else ())


def host_notes(diagnoses: Sequence[Diagnosis]) -> tuple[str, ...]:
    """The warnings that doctor had for this host; notes and what is not known are in the JSON."""
    warned = [f"{one.check}: {one.found}" for one in diagnoses if one.level is Level.WARNING]
    if not warned:
        return ()
    return (f"the host was not at its best for measuring, `pgverdict doctor` says why: {'; '.join(warned)}",)


def disturbed_notes(
    cell: CellRecord,
    disturbed: dict[int, tuple[Disturbance, ...]],
    verdict: Verdict | None,
    without: Verdict | None,
) -> tuple[str, ...]:
    """Which rounds were disturbed by what, and whether the verdict would be another without them."""
    if not disturbed:
        return ()
    parts = [part for source in Source if (part := _part(source, disturbed))]
    were = "was" if len(disturbed) == 1 else "were"
    counted = f"{words.count(len(disturbed), 'round')} of {len(cell.measured)} {were} disturbed"
    sentence = f"{counted}: {'; '.join(parts)}"
    return (f"{sentence}. They count like the others{_without(verdict, without)}",)


def _disturbed(cell: CellRecord) -> dict[int, tuple[Disturbance, ...]]:
    found = ((number, disturbances(r, cell.regime)) for number, r in enumerate(cell.rounds, start=1))
    return {number: by for number, by in found if by}


def _part(source: Source, disturbed: dict[int, tuple[Disturbance, ...]]) -> str:
    """'steal in 3 (round 2, 7 and 9; at most 12 % of the time)'."""
    amounts = {number: one.amount for number, by in disturbed.items() for one in by if one.source is source}
    if not amounts:
        return ""
    named = [str(number) for number in amounts][:NUMBERS_MAX]
    if len(amounts) > NUMBERS_MAX:
        named.append(f"{len(amounts) - NUMBERS_MAX} more")
    return f"{source.value} in {len(amounts)} (number {words.listed(named)}; {_most(source, max(amounts.values()))})"


def _most(source: Source, amount: float) -> str:
    if source is Source.HEAT:
        return f"slowed down at most {words.count(int(amount), 'time')}"
    of = "the cores' time" if source in (Source.STEAL, Source.OTHERS) else "the time"
    return f"at most {amount * 100:.0f} % of {of}"


def _without(verdict: Verdict | None, without: Verdict | None) -> str:
    """How the verdict stands to the one without the disturbed rounds."""
    if verdict is None or without is None:
        return ""
    if without.rounds < ROUNDS_MIN <= verdict.rounds:
        return f"; without them {words.count(without.rounds, 'round')} are left, too few for a verdict"
    if without.outcome is verdict.outcome:
        return f"; without them the verdict is the same: {verdict.outcome.value}"
    effect = words.percent(without.effect)
    said = (
        f"{effect}, between {words.interval(without, ' and ')} %" if words.has_interval(without) else effect
    )
    wider = " (fewer rounds alone make intervals wider)" if without.outcome is Outcome.UNDECIDED else ""
    return f"; without them the verdict would be {without.outcome.value}: {said}{wider}"
