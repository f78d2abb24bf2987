"""What explains rounds, to rows. Back to records: `loading`."""

from dataclasses import asdict
from typing import Any

from pgverdict.records.round import RoundRecord


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
