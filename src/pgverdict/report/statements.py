"""What clients and servers saw of every statement: described, and no part of a verdict."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median

from pgverdict.records.round import StatementRecord
from pgverdict.records.run import CellRecord
from pgverdict.report.conditions import Condition


@dataclass(frozen=True)
class StatementReport:
    """A statement of a cell; its figures are of baseline and candidate, each the median over the measured rounds."""

    text: str
    figures: tuple[Condition, ...]


def statements_of(cell: CellRecord, *, arms: tuple[int, int]) -> tuple[StatementReport, ...]:
    """In the order of the scripts; none before the first measured round."""
    seen: dict[str, dict[int, list[StatementRecord]]] = {}
    for record in cell.measured:
        for arm in record.arms:
            for statement in arm.statements:
                seen.setdefault(statement.text, {}).setdefault(arm.arm, []).append(statement)
    return tuple(
        StatementReport(text, _figures([by_arm.get(arm, []) for arm in arms]))
        for text, by_arm in seen.items()
    )


_FIGURES: tuple[tuple[str, str, Callable[[StatementRecord], float | None]], ...] = (
    ("mean time, seen by clients", "us", lambda s: s.mean_ns / 1e3 if s.count else None),
    ("its standard deviation", "us", lambda s: s.sd_ns / 1e3 if s.count else None),
    ("mean time in the server", "ms", lambda s: s.server_ms_mean),
    ("its standard deviation there", "ms", lambda s: s.server_ms_stddev),
    ("rows per call", "", lambda s: _per_call(s, s.server_rows)),
    ("blocks hit per call", "", lambda s: _per_call(s, s.server_buffers_hit)),
    ("blocks read per call", "", lambda s: _per_call(s, s.server_buffers_read)),
    ("WAL per call", "bytes", lambda s: _per_call(s, s.server_wal_bytes)),
)
"""What is from the server is of all its calls, warm-up of each slice included; WAL it counts from 13 on."""


def _per_call(statement: StatementRecord, total: int | None) -> float | None:
    return None if total is None or not statement.server_calls else total / statement.server_calls


def _figures(by_arm: Sequence[Sequence[StatementRecord]]) -> tuple[Condition, ...]:
    """Those that are known of one arm at least."""
    found = (
        Condition(name, unit, tuple(_typical(records, figure) for records in by_arm))
        for name, unit, figure in _FIGURES
    )
    return tuple(one for one in found if any(value is not None for value in one.values))


def _typical(
    records: Sequence[StatementRecord], figure: Callable[[StatementRecord], float | None]
) -> float | None:
    known = [value for record in records if (value := figure(record)) is not None]
    return float(median(known)) if known else None
