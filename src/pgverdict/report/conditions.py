"""In which state the arms of a cell were while they were measured, and how its rounds were placed."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from pgverdict.judge.series import stall_ns, stalled_slices
from pgverdict.records.round import ArmRecord, RoundRecord
from pgverdict.records.run import CellRecord
from pgverdict.spec.regime import Regime


@dataclass(frozen=True)
class Condition:
    """In which state baseline and candidate were, one value for each: the median over the measured rounds, or how
    many of them."""

    name: str
    unit: str
    values: tuple[float | None, ...]


def conditions_of(cell: CellRecord, *, arms: tuple[int, int]) -> tuple[Condition, ...]:
    """Of a baseline and a candidate; none before the first measured round."""
    rounds = cell.measured
    if not rounds:
        return ()
    by_arm = [[found for r in rounds for found in r.arms if found.arm == arm] for arm in arms]

    def typical(name: str) -> tuple[float | None, ...]:
        return tuple(_median(records, name) for records in by_arm)

    return (
        Condition("start of the server", "ms", typical("start_ms")),
        Condition("size of the database", "bytes", typical("data_bytes")),
        Condition("blocks read from outside shared buffers, per round", "", typical("buffers_read")),
        Condition("read from storage, per round", "bytes", typical("storage_read_bytes")),
        Condition("transactions counted, per round", "", typical("transactions")),
        *_in_memory(by_arm),
        *_hit_by_stalls(cell, arms),
        *_covered(by_arm),
    )


def _in_memory(by_arm: Sequence[Sequence[ArmRecord]]) -> list[Condition]:
    """What confined servers used, and how long it took to fill; only what is known of one."""
    wanted = (
        ("most memory used, page cache included", "bytes", "memory_bytes_max"),
        ("warm-up until turnover", "s", "turnover_s"),
    )
    found = [
        Condition(title, unit, tuple(_median(records, name) for records in by_arm))
        for title, unit, name in wanted
    ]
    return [condition for condition in found if any(value is not None for value in condition.values)]


def _hit_by_stalls(cell: CellRecord, arms: tuple[int, int]) -> list[Condition]:
    """How many rounds were; not told where arms work alone, through checkpoints on purpose."""
    if cell.regime in (Regime.STEADY.value, Regime.CHAIN.value):
        return []
    stall = stall_ns(cell)
    hit = tuple(float(sum(stalled_slices(r, arm, stall) > 0 for r in cell.measured)) for arm in arms)
    return [Condition("hit by a stall, in all", "rounds", hit)]


def _covered(by_arm: Sequence[Sequence[ArmRecord]]) -> list[Condition]:
    """What the arms of steady rounds went through; nothing in other regimes."""
    if all(arm.checkpoints is None for records in by_arm for arm in records):
        return []
    hot = sorted({t.name for records in by_arm for arm in records for t in arm.tables if t.hot})

    def vacuums(name: str) -> tuple[float | None, ...]:
        seen = [[t.vacuums for arm in records for t in arm.tables if t.name == name] for records in by_arm]
        return tuple(float(median(counts)) if counts else None for counts in seen)

    return [
        Condition(
            "checkpoints finished, per round",
            "",
            tuple(_median(records, "checkpoints") for records in by_arm),
        ),
        Condition(
            "WAL written, per round", "bytes", tuple(_median(records, "wal_bytes") for records in by_arm)
        ),
        *(Condition(f"vacuums of {name}, per round", "", vacuums(name)) for name in hot),
    ]


def _median(records: Sequence[ArmRecord], name: str) -> float | None:
    known = [value for record in records if (value := getattr(record, name)) is not None]
    return float(median(known)) if known else None


def placement_of(rounds: Sequence[RoundRecord]) -> tuple[tuple[str, str], ...]:
    """The same in all rounds, as a rule; what was not is listed, and what was timed is summed up."""
    found: dict[str, list[str]] = {}
    for record in rounds:
        for name, value in record.placement:
            found.setdefault(name, []).append(value)
    return tuple(
        (name, str(round(_TIMED[ending](map(float, seen)))))
        if (ending := name.rpartition("_ns_")[2]) in _TIMED and "_ns_" in name
        else (name, ", then ".join(dict.fromkeys(seen)))
        for name, seen in found.items()
    )


_TIMED: Mapping[str, Callable[[Iterable[float]], float]] = {"median": median, "max": max}
"""How the rounds of a placement's entry ending so, in ns, become one: the typical round's, the worst."""
