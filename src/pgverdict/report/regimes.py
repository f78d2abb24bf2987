"""Which regime spoke, what it saw, and what it cannot see: as notes of a cell."""

from collections.abc import Mapping, Sequence

from pgverdict.conduct.stretch import CHECKPOINTS_MIN, VACUUMS_MIN
from pgverdict.records.round import ArmRecord, RoundRecord
from pgverdict.records.run import CellRecord
from pgverdict.report import words
from pgverdict.spec.regime import Regime

_FRESH = "every round worked on a fresh copy of the data: it saw mostly first changes of pages, and no vacuum"

_CHAIN = (
    "in every round each arm worked through all steps alone, on tables that it began empty: steps were of equal work,"
    " and every arm's tables of one size"
)


def regime_notes(cell: CellRecord, arms: Mapping[int, str]) -> tuple[str, ...]:
    """The notes of a cell's regime. `arms` are those it is about, and how they are called."""
    if cell.regime == Regime.FRESH.value:
        return (_FRESH,)
    if cell.regime == Regime.CHAIN.value:
        return (_CHAIN,)
    if cell.regime != Regime.STEADY.value or not cell.measured:
        return ()
    seen = {name: [a for r in cell.measured for a in r.arms if a.arm == arm] for arm, name in arms.items()}
    covered = [f"{name} {_covered(records)}" for name, records in seen.items()]
    said = (
        f"in every round each arm worked alone on aged data for {_stretches(cell.measured)};"
        f" {words.listed(covered)}; what comes less often was not seen"
    )
    return (
        said,
        *(note for name, records in seen.items() for note in _missing(name, records)),
    )


def _stretches(rounds: Sequence[RoundRecord]) -> str:
    seconds = {sum(s.arm == arm.arm for s in r.slices) for r in rounds for arm in r.arms}
    return " to ".join(words.duration(length) for length in sorted({min(seconds), max(seconds)}))


def _covered(records: Sequence[ArmRecord]) -> str:
    """'went through 2 to 3 checkpoints and 4 vacuums of pgbench_accounts'."""
    parts = [_range([arm.checkpoints or 0 for arm in records], "checkpoint")]
    parts += [f"{_range(_vacuums(records, name), 'vacuum')} of {name}" for name in _hot(records)]
    return f"went through {words.listed(parts)}"


def _range(numbers: Sequence[int], noun: str) -> str:
    low, high = min(numbers), max(numbers)
    return words.count(high, noun) if low == high else f"{low} to {words.count(high, noun)}"


def _hot(records: Sequence[ArmRecord]) -> list[str]:
    return sorted({table.name for arm in records for table in arm.tables if table.hot})


def _vacuums(records: Sequence[ArmRecord], name: str) -> list[int]:
    return [table.vacuums for arm in records for table in arm.tables if table.name == name]


def _missing(arm: str, records: Sequence[ArmRecord]) -> list[str]:
    """What an arm did not go through as often as a steady round should."""
    notes = []
    short = sum((record.checkpoints or 0) < CHECKPOINTS_MIN for record in records)
    if short:
        notes.append(
            f"{arm} finished fewer than {CHECKPOINTS_MIN} checkpoints in {words.count(short, 'round')}:"
            " its checkpoints weigh too little or too much in these"
        )
    for name in _hot(records):
        vacuums = _vacuums(records, name)
        few = sum(count < VACUUMS_MIN for count in vacuums)
        if not any(vacuums):
            notes.append(
                f"{arm} never vacuumed {name}, although its rows change: its updates prune the pages they touch, or"
                " autovacuum came too late"
            )
        elif few:
            notes.append(
                f"{arm} vacuumed {name} fewer than {VACUUMS_MIN} times in {words.count(few, 'round')}"
            )
    return notes
