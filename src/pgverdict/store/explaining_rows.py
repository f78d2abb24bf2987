"""What explains rounds, from records to rows and back."""

from collections.abc import Iterable
from dataclasses import asdict, fields
from typing import Any

from pgverdict.records.round import LogRecord, PreliminariesRecord, RoundRecord
from pgverdict.store.rows import Row


def log_rows(number: int, record: RoundRecord) -> list[dict[str, Any]]:
    return [{"round": number, **asdict(log)} for log in record.logs]


def preliminaries_rows(number: int, record: RoundRecord) -> list[dict[str, Any]]:
    return [
        {"round": number, "arm_place": arm_place, "place": place, **asdict(one)}
        for arm_place, arm in enumerate(record.arms)
        for place, one in enumerate(arm.preliminaries)
    ]


def log_records(rows: Iterable[Row]) -> tuple[LogRecord, ...]:
    return tuple(LogRecord(arm=row["arm"], text=row["text"]) for row in rows)


def preliminaries_records(rows: Iterable[Row]) -> tuple[PreliminariesRecord, ...]:
    names = [field.name for field in fields(PreliminariesRecord)]
    return tuple(PreliminariesRecord(**{name: row[name] for name in names}) for row in rows)
