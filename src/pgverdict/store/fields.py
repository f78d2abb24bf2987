"""What records and rows have in common: a field that is a plain value has a column of its name."""

from collections.abc import Iterable, Mapping
from dataclasses import fields
from typing import Any

Pairs = tuple[tuple[str, str], ...]


def plain(record: Any, *apart: str) -> dict[str, Any]:
    """The fields of a record as columns, without those that are taken `apart`."""
    return {field.name: getattr(record, field.name) for field in fields(record) if field.name not in apart}


def take(kind: Any, row: Mapping[Any, Any], *apart: str) -> dict[str, Any]:
    """The fields of a record of that kind from a row, without those that are put together elsewhere."""
    return {field.name: row[field.name] for field in fields(kind) if field.name not in apart}


def pairs(array: Iterable[tuple[str, str]]) -> Pairs:
    """Names and values, which JSON gives back as lists."""
    return tuple((name, value) for name, value in array)
