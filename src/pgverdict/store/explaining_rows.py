"""What explains rounds, from records to rows and back."""

from collections.abc import Iterable
from dataclasses import asdict, fields, replace
from typing import Any

from pgverdict.records.round import LogRecord, PreliminariesRecord, RoundRecord, SecondsRecord
from pgverdict.store.rows import Row


def log_rows(number: int, record: RoundRecord) -> list[dict[str, Any]]:
    return [{"round": number, **asdict(log)} for log in record.logs]


def preliminaries_rows(number: int, record: RoundRecord) -> list[dict[str, Any]]:
    return [
        {"round": number, "arm_place": arm_place, "place": place, **asdict(one)}
        for arm_place, arm in enumerate(record.arms)
        for place, one in enumerate(arm.preliminaries)
    ]


def seconds_rows(number: int, record: RoundRecord) -> list[dict[str, Any]]:
    return [
        {"round": number, "slice_place": slice_place, "place": place, **asdict(one)}
        for slice_place, measured in enumerate(record.slices)
        for place, one in enumerate(measured.seconds)
    ]


def with_seconds(record: RoundRecord, rows: Iterable[Row]) -> RoundRecord:
    """The round with the seconds of its slices, most of which have none."""
    by_slice: dict[int, list[SecondsRecord]] = {}
    for row in rows:
        seconds = SecondsRecord(row["kind"], tuple(row["transactions"]), tuple(row["mean_ns"]))
        by_slice.setdefault(row["slice_place"], []).append(seconds)
    slices = (
        replace(measured, seconds=tuple(by_slice[place])) if place in by_slice else measured
        for place, measured in enumerate(record.slices)
    )
    return replace(record, slices=tuple(slices)) if by_slice else record


def log_records(rows: Iterable[Row]) -> tuple[LogRecord, ...]:
    return tuple(LogRecord(arm=row["arm"], text=row["text"]) for row in rows)


def preliminaries_records(rows: Iterable[Row]) -> tuple[PreliminariesRecord, ...]:
    names = [field.name for field in fields(PreliminariesRecord)]
    return tuple(PreliminariesRecord(**{name: row[name] for name in names}) for row in rows)
